//! Indexed store with an exclusive writer and snapshot readers.

mod commit;
mod index;
mod indexers;
mod reader;
mod shared;
mod tree;
mod view;
mod writer;

pub use indexers::{DuplicateIndex, Indexers};
pub use reader::{AddIndexError, Reader};
pub use view::View;
pub use writer::{Writer, indexed};
