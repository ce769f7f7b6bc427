//! From changes to requests.

mod fallible;
mod function;
mod later;
mod owner;

use informer_core::{Change, Key};

pub use fallible::{TryMapFn, try_map_fn};
pub use function::{MapFn, map_fn};
pub use later::{AsyncMapFn, async_map_fn};
pub use owner::ForOwner;

use crate::{BoxError, Request};

/// Says which requests a change is about (controller-runtime's event handlers).
///
/// Of an update it names those of the old and of the new state, of a removal and a resync those of the state. The same change leads to
/// the same requests. It should be quick: it runs in the informer's handler; one that must wait, for an answer of the API for example, is an
/// [`async_map_fn`]. `MapperSuite`, behind the feature `conformance`, checks one.
pub trait Mapper<Q, K, R>: Send {
    /// Emits the requests. Emitting one twice is no harm.
    ///
    /// # Errors
    /// When the requests cannot be told now: the change is kept, and mapped again later. What was emitted stays.
    fn map(&mut self, change: &Change<Q, K>, emit: &mut dyn FnMut(R)) -> Result<(), BoxError>;
}

impl<Q, K, R, M: Mapper<Q, K, R> + ?Sized> Mapper<Q, K, R> for Box<M> {
    fn map(&mut self, change: &Change<Q, K>, emit: &mut dyn FnMut(R)) -> Result<(), BoxError> {
        (**self).map(change, emit)
    }
}

/// The request is the key of the object (controller-runtime `EnqueueRequestForObject`).
#[derive(Debug, Clone, Copy, Default)]
pub struct ForObject;

impl<Q: Key + Request, K> Mapper<Q, K, Q> for ForObject {
    fn map(&mut self, change: &Change<Q, K>, emit: &mut dyn FnMut(Q)) -> Result<(), BoxError> {
        emit(change.key().clone());
        Ok(())
    }
}
