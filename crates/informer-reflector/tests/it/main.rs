//! Tests of the reflector: the machine by text traces, the driver by a scripted source and a manual clock.

#![allow(
    clippy::unwrap_used,
    reason = "what cannot be unwrapped in a test has failed it"
)]

mod cases;
mod closures;
mod flow;
mod helpers;
mod ingest;
mod log;
mod machine;
mod metrics;
mod naming;
mod panics;
mod relist;
mod resync;
mod rig;
mod script;
mod status;
mod stop;
mod store_sink;
mod traces;
mod upstream;
mod wait;
