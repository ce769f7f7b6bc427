//! What this workspace has to run, as runnables and candidates.

mod controller;
mod elector;
mod informer;
