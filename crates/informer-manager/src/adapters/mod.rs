//! What this workspace has to run, as runnables and candidates.

mod broadcaster;
mod controller;
mod elector;
mod informer;
