//! Tests of the backoff.

mod backoff;
mod properties;
mod random;
