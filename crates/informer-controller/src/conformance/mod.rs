//! Conformance suites: does a source, a mapper, a predicate or a queue of your own keep the contract that a controller relies on?
//!
//! | trait | suite |
//! |---|---|
//! | [`Mapper`](crate::Mapper) | [`MapperSuite`] |
//! | [`Predicate`](crate::Predicate) | [`PredicateSuite`] |
//! | [`Source`](crate::Source) | [`SourceSuite`] |
//! | [`WorkQueue`](informer_workqueue::WorkQueue) | [`QueueSuite`] |
//!
//! Each makes the implementation under test anew for each check, and answers with a [`Report`] of what it found. A suite that is passed
//! says that the sentences of the contract hold for what it tried, no more.
//!
//! ```
//! use informer_controller::{ForObject, conformance::MapperSuite};
//! use informer_core::{Entry, ObjectKey, Stamp};
//!
//! let entry = |version: &str| Entry::new(ObjectKey::namespaced("ns", "a"), Stamp::new(version, "u"), ().into());
//! MapperSuite::new("ForObject", || ForObject)
//!     .objects([entry("1"), entry("2")])
//!     .run()
//!     .assert_conforms();
//! ```

mod mapper;
mod predicate;
mod queue;
mod report;
mod source;

pub use mapper::MapperSuite;
pub use predicate::PredicateSuite;
pub use queue::QueueSuite;
pub use report::{Finding, Report};
pub use source::{SourceSuite, Trigger};

use informer_core::{Change, Entry};

/// Every kind of change that two states of an object can make.
fn changes<Q: Clone, K>(old: &Entry<Q, K>, new: &Entry<Q, K>) -> [Change<Q, K>; 6] {
    [
        Change::Added {
            new: new.clone(),
            initial: true,
        },
        Change::Added {
            new: new.clone(),
            initial: false,
        },
        Change::Updated {
            old: old.clone(),
            new: new.clone(),
        },
        Change::Removed {
            last: new.clone(),
            observed: true,
        },
        Change::Removed {
            last: new.clone(),
            observed: false,
        },
        Change::Resynced { current: new.clone() },
    ]
}
