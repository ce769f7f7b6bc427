//! What a manager runs.

use std::{error::Error, fmt, future, sync::Arc};

use informer_core::BoxFuture;

use crate::{Controllers, Group, Life};

/// An error of whoever runs.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Something that runs for as long as its manager does: a controller, a cache, a server, a loop of yours.
///
/// Dyn-compatible. For a closure, see [`runnable`].
pub trait Runnable: Send + 'static {
    /// What it is called. Names are unique among what a manager runs.
    fn name(&self) -> Arc<str>;

    /// When it starts and stops. As in controller-runtime, what says nothing runs on the leader.
    fn group(&self) -> Group {
        Group::LeaderElection
    }

    /// When it is ready, for the groups that start after its own; at once by default. Asked for before it runs, awaited beside it.
    fn ready(&self) -> BoxFuture<'static, ()> {
        Box::pin(future::ready(()))
    }

    /// The controllers in it: `/readyz` asks for them and the debug endpoint shows them, as long as it has not ended. None by default.
    fn controllers(&self) -> Option<Arc<dyn Controllers>> {
        None
    }

    /// Runs until it is done, or until [`Life::stopping`] returns. To be done early is no failure; an error stops the manager.
    ///
    /// # Cancel safety
    /// When the grace time is over, or leadership was lost, the future is dropped where it awaits.
    fn run(self: Box<Self>, life: Life) -> BoxFuture<'static, Result<(), BoxError>>;
}

impl Runnable for Box<dyn Runnable> {
    fn name(&self) -> Arc<str> {
        (**self).name()
    }

    fn group(&self) -> Group {
        (**self).group()
    }

    fn ready(&self) -> BoxFuture<'static, ()> {
        (**self).ready()
    }

    fn controllers(&self) -> Option<Arc<dyn Controllers>> {
        (**self).controllers()
    }

    fn run(self: Box<Self>, life: Life) -> BoxFuture<'static, Result<(), BoxError>> {
        (*self).run(life)
    }
}

/// A closure as a [`Runnable`] (controller-runtime's `RunnableFunc`): runs on the leader unless it is told another [`group`](RunFn::group).
pub fn runnable<F, A>(name: impl Into<Arc<str>>, run: F) -> RunFn<F>
where
    F: FnOnce(Life) -> A + Send + 'static,
    A: Future<Output = Result<(), BoxError>> + Send + 'static,
{
    RunFn {
        name: name.into(),
        group: Group::LeaderElection,
        run,
    }
}

/// What [`runnable`] makes.
pub struct RunFn<F> {
    name: Arc<str>,
    group: Group,
    run: F,
}

impl<F> RunFn<F> {
    /// The same, in another group.
    #[must_use]
    pub fn group(mut self, group: Group) -> Self {
        self.group = group;
        self
    }
}

impl<F, A> Runnable for RunFn<F>
where
    F: FnOnce(Life) -> A + Send + 'static,
    A: Future<Output = Result<(), BoxError>> + Send + 'static,
{
    fn name(&self) -> Arc<str> {
        self.name.clone()
    }

    fn group(&self) -> Group {
        self.group
    }

    fn run(self: Box<Self>, life: Life) -> BoxFuture<'static, Result<(), BoxError>> {
        Box::pin((self.run)(life))
    }
}

impl<F> fmt::Debug for RunFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunFn")
            .field("name", &self.name)
            .field("group", &self.group)
            .finish_non_exhaustive()
    }
}
