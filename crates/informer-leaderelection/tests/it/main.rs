//! Tests of the election.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be unwrapped in a test has failed it"
)]

mod candidacy;
mod cases;
mod elector;
mod embedded;
mod fence;
mod lease;
mod rig;
mod safety;
mod script;
mod traces;
mod upstream;
