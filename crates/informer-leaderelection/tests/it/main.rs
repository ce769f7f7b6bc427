//! Tests of the election.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be unwrapped in a test has failed it"
)]

mod safety;
mod script;
mod traces;
