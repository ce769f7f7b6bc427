//! Sources that bring no requests of their own: what must be in sync, and what need not be.

use std::{fmt, sync::Arc};

use informer_core::Key;

use super::{Source, SourceContext, Started};
use crate::{BoxError, Kind, kind::Origin};

/// A cache that must be in sync before a reconcile begins: see [`gate`].
pub struct Gate<Q: Key, K>(Kind<Q, K>);

/// No reconcile begins before this is in sync, though no request comes from it: for caches that the reconciler only reads.
pub fn gate<Q: Key, K: Send + Sync + 'static>(kind: impl Into<Kind<Q, K>>) -> Gate<Q, K> {
    Gate(kind.into())
}

impl<Q: Key, K: Send + Sync + 'static, R> Source<R> for Gate<Q, K> {
    fn name(&self) -> Arc<str> {
        self.0.name()
    }

    fn start(self: Box<Self>, context: SourceContext<R>) -> Result<Started, BoxError> {
        let optional = self.0.optional;
        let started = match self.0.origin {
            Origin::Here(watchable) => {
                let asked = watchable.clone();
                // What must be in sync is kept as long as the controller reads it.
                Started::new(watchable.synced())
                    .trouble(move || asked.trouble())
                    .on_stop(move || drop(watchable))
            }
            Origin::From(provider) => super::follow::wait_for(provider, context.clock, context.report),
        };
        Ok(if optional { started.optional() } else { started })
    }
}

impl<Q: Key, K> fmt::Debug for Gate<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gate").field(&self.0).finish()
    }
}

/// A source that nothing waits for: see [`optional`].
#[derive(Debug)]
pub struct Optional<S>(S);

/// The same source, but no reconcile waits for it and its failure ends nothing. The status says how it is.
pub fn optional<S>(source: S) -> Optional<S> {
    Optional(source)
}

impl<R, S: Source<R>> Source<R> for Optional<S> {
    fn name(&self) -> Arc<str> {
        self.0.name()
    }

    fn start(self: Box<Self>, context: SourceContext<R>) -> Result<Started, BoxError> {
        let started = Box::new(self.0).start(context);
        Ok(match started {
            Ok(started) => started.optional(),
            Err(error) => Started::new(std::future::ready(Err(error))).optional(),
        })
    }
}
