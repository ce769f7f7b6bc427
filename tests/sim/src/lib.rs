//! Deterministic simulation: the real informers, work queues and controllers on the API server model, in virtual time on one thread, with
//! every parameter from a seed.
//!
//! # What it is
//! A [`Plan`] is a world's parameters and a list of operations, drawn from a seed. [`run`] lives through it: first chaos, with the
//! invariants asked after every step, then the faults end and everything must come right, then everything stops and nothing may be left.
//! [`run_twice`] also compares the two traces. [`shrink`] makes a failing plan small.
//!
//! # What is real in it
//! Everything of ours between the bytes of a response and the handlers: client, decoders, reflector, queues, store, shared informer, work
//! queue, controller, election. Only the server is a model, the clock is a hand and the network is a future. The runtime is tokio's, on one thread,
//! without timers or sockets: it polls tasks in the order in which they were woken, so that the same plan gives the same trace. Left out
//! are handlers on threads of their own: when a thread takes its next change is up to the system. What is behind them, listener and
//! mailbox, is behind the others too.
//!
//! # A failure
//! prints its seed, what did not hold with the sentence of the contract, and the smallest plan that still fails. That text goes into
//! `traces/`, where it is run by the tests from then on.

mod config;
mod fact;
mod history;
mod idle;
mod invariants;
mod many;
mod mishap;
mod net;
mod op;
mod outcome;
mod plan;
mod run;
mod shrink;
mod skew;
mod stutter;
mod thing;
mod trace;
mod world;

pub use many::{Report, run_many};
pub use outcome::{Outcome, Violation};
pub use plan::{Plan, PlanError};
pub use run::{run, run_twice};
pub use shrink::shrink;
