//! Sources of one function.

use std::{fmt, future::Future, sync::Arc};

use super::{Source, SourceContext, Started};
use crate::{BoxError, Request};

/// A function as a [`Source`]: see [`source_fn`].
pub struct FnSource<F> {
    name: Arc<str>,
    start: F,
}

/// The source that this function starts (controller-runtime `source.Func`).
pub fn source_fn<R, F>(name: impl Into<Arc<str>>, start: F) -> FnSource<F>
where
    F: FnOnce(SourceContext<R>) -> Result<Started, BoxError> + Send,
{
    FnSource {
        name: name.into(),
        start,
    }
}

impl<R, F> Source<R> for FnSource<F>
where
    F: FnOnce(SourceContext<R>) -> Result<Started, BoxError> + Send,
{
    fn name(&self) -> Arc<str> {
        self.name.clone()
    }

    fn start(self: Box<Self>, context: SourceContext<R>) -> Result<Started, BoxError> {
        (self.start)(context)
    }
}

impl<F> fmt::Debug for FnSource<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnSource")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// An asynchronous function as a [`Source`]: see [`task_source`].
pub struct TaskSource<F> {
    name: Arc<str>,
    task: F,
}

/// The source that runs this function as long as the controller runs, and is in sync from the start: a timer, a subscription elsewhere.
/// The future is dropped where it awaits when the controller stops. When it panics the source is over; see [`retried_source`].
pub fn task_source<R, F, A>(name: impl Into<Arc<str>>, task: F) -> TaskSource<F>
where
    F: FnOnce(SourceContext<R>) -> A + Send,
    A: Future<Output = ()> + Send + 'static,
{
    TaskSource {
        name: name.into(),
        task,
    }
}

/// As [`task_source`], but the function is called [again](Started::run_again) when it or its future panics.
pub fn retried_source<R, F, A>(
    name: impl Into<Arc<str>>,
    mut task: F,
) -> FnSource<impl FnOnce(SourceContext<R>) -> Result<Started, BoxError> + Send>
where
    R: Request,
    F: FnMut(SourceContext<R>) -> A + Send + 'static,
    A: Future<Output = ()> + Send + 'static,
{
    source_fn(name, move |context: SourceContext<R>| {
        Ok(Started::in_sync().run_again(move || task(context.clone())))
    })
}

impl<R, F, A> Source<R> for TaskSource<F>
where
    F: FnOnce(SourceContext<R>) -> A + Send,
    A: Future<Output = ()> + Send + 'static,
{
    fn name(&self) -> Arc<str> {
        self.name.clone()
    }

    fn start(self: Box<Self>, context: SourceContext<R>) -> Result<Started, BoxError> {
        Ok(Started::in_sync().run((self.task)(context)))
    }
}

impl<F> fmt::Debug for TaskSource<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskSource")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
