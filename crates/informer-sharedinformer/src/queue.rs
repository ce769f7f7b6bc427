//! Which queue joins source and store.

use std::{fmt, sync::Arc};

use informer_core::{DeltaQueue, Key, Store};
use informer_deltafifo::{Coalescing, InOrder, Options};

/// Which queue joins source and store.
#[derive(Default)]
#[non_exhaustive]
pub enum QueueKind<Q, K> {
    /// Everything in the order of the source, a relist as one step (client-go `RealFIFO`).
    #[default]
    InOrder,
    /// All that happened to one key together, keys in the order of their first waiting event (client-go `DeltaFIFO`). A relist may be seen
    /// key by key, and nothing is said of the order across keys.
    Coalescing,
    /// A queue of your own.
    Custom(Box<dyn DeltaQueue<Q, K>>),
}

impl<Q: Key, K: Send + Sync + 'static> QueueKind<Q, K> {
    /// A queue of your own.
    pub fn custom(queue: impl DeltaQueue<Q, K> + 'static) -> Self {
        Self::Custom(Box::new(queue))
    }

    pub(crate) fn into_queue(self, store: &Arc<dyn Store<Q, K>>) -> Box<dyn DeltaQueue<Q, K>> {
        match self {
            Self::InOrder => Box::new(InOrder::new(Options::default())),
            Self::Coalescing => Box::new(Coalescing::new(store.clone(), Options::default())),
            Self::Custom(queue) => queue,
        }
    }
}

impl<Q, K> fmt::Debug for QueueKind<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InOrder => "InOrder",
            Self::Coalescing => "Coalescing",
            Self::Custom(_) => "Custom",
        })
    }
}
