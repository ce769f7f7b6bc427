//! `AnyTransform`: a transform for whatever form of object it is given.

use std::{any::Any, fmt, sync::Arc};

use informer_client::Form;
use informer_core::Identity;
use informer_sharedinformer::{Transform, TransformError};

type Apply = dyn Fn(&Identity, &mut dyn Any) -> Result<(), TransformError> + Send + Sync;

/// Changes objects of any form before they are kept: what a default, or a namespace, can say (controller-runtime `TransformFunc`). Clones are the
/// same, and equal to it.
#[derive(Clone)]
pub struct AnyTransform(Arc<Apply>);

impl AnyTransform {
    /// Changes objects by this function, which finds out their form by `downcast_mut`.
    #[must_use]
    pub fn new(
        apply: impl Fn(&Identity, &mut dyn Any) -> Result<(), TransformError> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(apply))
    }

    /// Changes objects that are held in this form, and leaves all others as they are.
    #[must_use]
    pub fn of<K: Form>(transform: impl Transform<K> + 'static) -> Self {
        Self::new(move |identity, object| match object.downcast_mut::<K>() {
            Some(object) => transform.transform(identity, object),
            None => Ok(()),
        })
    }

    /// Changes nothing: for who does not want what would be inherited.
    #[must_use]
    pub fn none() -> Self {
        Self::new(|_, _| Ok(()))
    }

    pub(crate) fn apply(&self, identity: &Identity, object: &mut dyn Any) -> Result<(), TransformError> {
        (self.0)(identity, object)
    }
}

impl PartialEq for AnyTransform {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for AnyTransform {}

impl fmt::Debug for AnyTransform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyTransform").finish_non_exhaustive()
    }
}
