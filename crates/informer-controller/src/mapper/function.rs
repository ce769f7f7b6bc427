//! By a function of the object.

use std::fmt;

use informer_core::{Change, Entry};

use crate::{BoxError, Mapper, Request};

/// A function as a [`Mapper`]: see [`map_fn`].
#[derive(Clone)]
pub struct MapFn<F>(F);

/// The requests that this function names for an object (controller-runtime `EnqueueRequestsFromMapFunc`). For an update it is asked about
/// the old and the new state, so that whoever the object points away from hears of it, too; each request once. One that can fail:
/// [`try_map_fn`](crate::try_map_fn).
pub fn map_fn<Q, K, I, F>(function: F) -> MapFn<F>
where
    F: FnMut(&Entry<Q, K>) -> I + Send,
    I: IntoIterator,
{
    MapFn(function)
}

impl<Q, K, R, I, F> Mapper<Q, K, R> for MapFn<F>
where
    F: FnMut(&Entry<Q, K>) -> I + Send,
    I: IntoIterator<Item = R>,
    R: Request,
{
    fn map(&mut self, change: &Change<Q, K>, emit: &mut dyn FnMut(R)) -> Result<(), BoxError> {
        let Change::Updated { old, new } = change else {
            (self.0)(change.entry()).into_iter().for_each(emit);
            return Ok(());
        };
        let old: Vec<R> = (self.0)(old).into_iter().collect();
        for request in (self.0)(new) {
            if !old.contains(&request) {
                emit(request);
            }
        }
        old.into_iter().for_each(emit);
        Ok(())
    }
}

impl<F> fmt::Debug for MapFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MapFn").finish_non_exhaustive()
    }
}
