//! By a function of the object that can fail.

use std::fmt;

use informer_core::{Change, Entry};

use crate::{BoxError, Mapper, Request};

/// A function that can fail as a [`Mapper`]: see [`try_map_fn`].
#[derive(Clone)]
pub struct TryMapFn<F>(F);

/// The requests that this function names for an object. Where it fails the change is kept and mapped again later, so that nothing is lost
/// when, say, an index that it reads is not there yet (controller-runtime's `MapFunc` has no error, and loses the event).
pub fn try_map_fn<Q, K, I, E, F>(function: F) -> TryMapFn<F>
where
    F: FnMut(&Entry<Q, K>) -> Result<I, E> + Send,
    I: IntoIterator,
    E: Into<BoxError>,
{
    TryMapFn(function)
}

impl<Q, K, R, I, E, F> Mapper<Q, K, R> for TryMapFn<F>
where
    F: FnMut(&Entry<Q, K>) -> Result<I, E> + Send,
    I: IntoIterator<Item = R>,
    E: Into<BoxError>,
    R: Request,
{
    fn map(&mut self, change: &Change<Q, K>, emit: &mut dyn FnMut(R)) -> Result<(), BoxError> {
        let new: Vec<R> = (self.0)(change.entry())
            .map_err(Into::into)?
            .into_iter()
            .collect();
        if let Change::Updated { old, .. } = change {
            let old = (self.0)(old).map_err(Into::into)?;
            old.into_iter()
                .filter(|it| !new.contains(it))
                .for_each(&mut *emit);
        }
        new.into_iter().for_each(emit);
        Ok(())
    }
}

impl<F> fmt::Debug for TryMapFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryMapFn").finish_non_exhaustive()
    }
}
