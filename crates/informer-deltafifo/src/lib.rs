//! Delta queues: in order, and coalescing per key.

mod coalescing;
mod delta_fifo;
mod deltas;
mod in_order;
mod options;

pub use coalescing::Coalescing;
pub use delta_fifo::{DeltaFifo, Popped};
pub use deltas::{DeltaKind, Deltas, IntoIter};
pub use in_order::InOrder;
pub use options::Options;
