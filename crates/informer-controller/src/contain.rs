//! Panics of the user's code, as values.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use informer_core::BoxFuture;

/// A future of the user's whose panic is a value: what it says. It is not polled again after a panic, so a broken state in it is never
/// seen; what it shares with others is its own affair, as it would be on a thread of its own.
pub(crate) struct Contained<'a, T>(pub(crate) BoxFuture<'a, T>);

impl<T> Future for Contained<'_, T> {
    type Output = Result<T, String>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let future = self.0.as_mut();
        match catch_unwind(AssertUnwindSafe(|| future.poll(cx))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(message(&*panic).to_owned())),
        }
    }
}

/// What foreign code answers that does not wait; a panic is a value.
pub(crate) fn contained<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| message(&*panic).to_owned())
}

/// What a panic says.
pub(crate) fn message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message")
}
