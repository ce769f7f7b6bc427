//! Reconcilers: what a controller is for.

use std::{fmt, future::Future, marker::PhantomData, sync::Arc};

use informer_core::BoxFuture;

use crate::{Action, Attempt, BoxError, ReconcileError};

/// Makes the world look as it should, for one request (controller-runtime `reconcile.Reconciler`).
///
/// It is level based: it is told that something about the request changed, not what. It reads the newest state itself, and may be called
/// though nothing is to do. The controller never calls it twice at the same time with equal requests, but may with different ones.
pub trait Reconciler<R>: Send + Sync {
    /// How it fails: any error, or something that becomes one, such as `anyhow::Error`, [`BoxError`] and `String`.
    type Error: Into<BoxError>;

    /// Reconciles `request`.
    ///
    /// # Errors
    /// The request comes back after a delay, unless the error says that this is of no use: see [`terminal`](crate::terminal).
    ///
    /// # Cancel safety
    /// The future is dropped where it awaits when the controller's timeout or grace time is over.
    fn reconcile(
        &self,
        request: R,
        attempt: Attempt,
    ) -> impl Future<Output = Result<Action, Self::Error>> + Send;
}

impl<R, T: Reconciler<R> + ?Sized> Reconciler<R> for Arc<T> {
    type Error = T::Error;

    fn reconcile(
        &self,
        request: R,
        attempt: Attempt,
    ) -> impl Future<Output = Result<Action, Self::Error>> + Send {
        (**self).reconcile(request, attempt)
    }
}

/// A closure as a [`Reconciler`]: see [`reconcile_fn`].
pub struct FnReconciler<F, R> {
    call: F,
    _request: PhantomData<fn(R)>,
}

/// The reconciler that calls this closure.
pub fn reconcile_fn<R, E, F, A>(call: F) -> FnReconciler<F, R>
where
    F: Fn(R, Attempt) -> A + Send + Sync,
    A: Future<Output = Result<Action, E>> + Send,
    E: Into<BoxError>,
{
    FnReconciler {
        call,
        _request: PhantomData,
    }
}

impl<R, E, F, A> Reconciler<R> for FnReconciler<F, R>
where
    F: Fn(R, Attempt) -> A + Send + Sync,
    A: Future<Output = Result<Action, E>> + Send,
    E: Into<BoxError>,
{
    type Error = E;

    fn reconcile(&self, request: R, attempt: Attempt) -> impl Future<Output = Result<Action, E>> + Send {
        (self.call)(request, attempt)
    }
}

impl<F, R> fmt::Debug for FnReconciler<F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnReconciler").finish_non_exhaustive()
    }
}

/// Any reconciler of `R` behind one type. Clones are the same reconciler.
pub struct BoxReconciler<R>(Arc<dyn DynReconciler<R>>);

trait DynReconciler<R>: Send + Sync {
    fn reconcile(&self, request: R, attempt: Attempt) -> BoxFuture<'_, Result<Action, ReconcileError>>;
}

struct Erased<T>(T);

impl<R: Send + 'static, T: Reconciler<R>> DynReconciler<R> for Erased<T> {
    fn reconcile(&self, request: R, attempt: Attempt) -> BoxFuture<'_, Result<Action, ReconcileError>> {
        // The call itself is inside the future, so that a panic of it is one of the future's.
        Box::pin(async move {
            let result = self.0.reconcile(request, attempt).await;
            result.map_err(ReconcileError::new)
        })
    }
}

impl<R: Send + 'static> BoxReconciler<R> {
    /// Boxes a reconciler.
    pub fn new(reconciler: impl Reconciler<R> + 'static) -> Self {
        Self(Arc::new(Erased(reconciler)))
    }
}

impl<R> Reconciler<R> for BoxReconciler<R> {
    type Error = ReconcileError;

    fn reconcile(
        &self,
        request: R,
        attempt: Attempt,
    ) -> impl Future<Output = Result<Action, ReconcileError>> + Send {
        self.0.reconcile(request, attempt)
    }
}

impl<R> Clone for BoxReconciler<R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<R> fmt::Debug for BoxReconciler<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxReconciler").finish_non_exhaustive()
    }
}
