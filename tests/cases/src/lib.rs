//! The bench on which the cases run: a scripted server below, a shared informer above, a handler that writes down what it is told.
//!
//! Time is tokio's and paused: an hour of back-off costs nothing, and every run is the same.

mod fake;
mod script;
mod world;

pub use fake::{Fake, Reflected, takes_all};
pub use script::{
    Mode, PATH, Script, Stream, bookmark, config_map, end_of_initial, event, failure, list, status_error,
};
pub use world::{Options, World};
