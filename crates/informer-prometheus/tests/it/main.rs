//! Tests of informer-prometheus.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod bounds;
mod connections;
mod plugins;
mod run;
mod scrape;
mod table;
mod values;
