//! Panics of the user's code, as values.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use informer_core::BoxFuture;

use crate::{Action, ReconcileError};

/// A reconcile whose panic is its error. The future is not polled again after a panic, so a broken state in it is never seen; what it
/// shares with others is the reconciler's affair, as it would be on a thread of its own.
pub(crate) struct Contained<'a>(pub(crate) BoxFuture<'a, Result<Action, ReconcileError>>);

impl Future for Contained<'_> {
    type Output = Result<Action, ReconcileError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let future = self.0.as_mut();
        match catch_unwind(AssertUnwindSafe(|| future.poll(cx))) {
            Ok(polled) => polled,
            Err(panic) => Poll::Ready(Err(ReconcileError::panicked(message(&*panic)))),
        }
    }
}

/// What a panic says.
pub(crate) fn message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message")
}
