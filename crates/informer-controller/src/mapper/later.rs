//! By a function of the object that must wait.

use std::{fmt, future::Future, num::NonZeroUsize, sync::Arc};

use informer_core::{BoxFuture, Entry};

use crate::{BoxError, Request};

/// How many objects are asked about at the same time, unless somebody says otherwise.
const AT_ONCE: NonZeroUsize = NonZeroUsize::new(8).expect("it is more than zero");

type Call<Q, K, R> = dyn Fn(Entry<Q, K>) -> BoxFuture<'static, Result<Vec<R>, BoxError>> + Send + Sync;

/// A function that returns a future, in the place of a [`Mapper`](crate::Mapper): see [`async_map_fn`].
pub struct AsyncMapFn<Q, K, R> {
    call: Arc<Call<Q, K, R>>,
    pub(crate) at_once: NonZeroUsize,
}

/// The requests that this function names for an object, once its future is done: for a mapping that asks the API, or another system. For
/// [`Builder::watches_async`](crate::Builder::watches_async) and [`KindSource::new_async`](crate::KindSource::new_async).
///
/// * Nothing is lost: where it fails or panics the change is kept and mapped again, after 5 ms, doubling up to a minute.
/// * One object is asked about once at a time, in the order of its changes. What changes meanwhile is merged: the function is asked about the
///   state that was there before, so that whoever the object points away from hears of it, and the newest. So it holds no more than one entry
///   for each object, however slow it is.
/// * Different objects are asked about at the same time, eight unless [`at_once`](AsyncMapFn::at_once) says otherwise.
/// * No reconcile begins before every initial object was asked about once.
/// * When the watch or the controller ends, futures are dropped where they await, and nothing that they would have named comes any more. One
///   that never ends holds its object and its place back, and no other watch: give it a time limit.
pub fn async_map_fn<Q, K, R, I, E, F, A>(function: F) -> AsyncMapFn<Q, K, R>
where
    F: Fn(Entry<Q, K>) -> A + Send + Sync + 'static,
    A: Future<Output = Result<I, E>> + Send + 'static,
    I: IntoIterator<Item = R>,
    E: Into<BoxError>,
    R: Request,
{
    AsyncMapFn {
        call: Arc::new(move |entry| {
            let future = function(entry);
            Box::pin(async move {
                future
                    .await
                    .map(|it| it.into_iter().collect())
                    .map_err(Into::into)
            })
        }),
        at_once: AT_ONCE,
    }
}

impl<Q, K, R> AsyncMapFn<Q, K, R> {
    /// Asks about so many objects at the same time: zero counts as one.
    #[must_use]
    pub fn at_once(mut self, n: usize) -> Self {
        self.at_once = NonZeroUsize::new(n).unwrap_or(NonZeroUsize::MIN);
        self
    }

    pub(crate) fn call(&self, entry: Entry<Q, K>) -> BoxFuture<'static, Result<Vec<R>, BoxError>> {
        (self.call)(entry)
    }
}

impl<Q, K, R> Clone for AsyncMapFn<Q, K, R> {
    fn clone(&self) -> Self {
        Self {
            call: self.call.clone(),
            at_once: self.at_once,
        }
    }
}

impl<Q, K, R> fmt::Debug for AsyncMapFn<Q, K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncMapFn")
            .field("at_once", &self.at_once)
            .finish_non_exhaustive()
    }
}
