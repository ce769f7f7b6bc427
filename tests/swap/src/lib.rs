//! The rig in which one part of the pipeline is foreign and all others are ours: a small world of lamps, a program that follows it, and a
//! story that must end the same whatever is swapped.

#![expect(clippy::unwrap_used, reason = "everything here serves tests")]

mod cluster;
mod memory;
mod program;
mod story;

pub use cluster::{Cluster, source_over};
pub use memory::{Memory, News};
pub use program::{Made, Program, Running, reconcile};
pub use story::{World, play};

use serde::Deserialize;

/// What is cached.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Lamp {
    /// Its name, as the object itself says it.
    pub metadata: Metadata,
    /// The rest.
    pub data: Data,
}

/// What a lamp says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Metadata {
    /// Its name.
    pub name: String,
}

/// How a lamp is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Data {
    /// `on` or `off`.
    pub state: String,
}

impl Lamp {
    /// A lamp.
    #[must_use]
    pub fn new(name: &str, state: &str) -> Self {
        Self {
            metadata: Metadata {
                name: name.to_owned(),
            },
            data: Data {
                state: state.to_owned(),
            },
        }
    }
}
