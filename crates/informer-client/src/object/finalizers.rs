//! `Finalizers`: what an object waits for before it goes, by name.

use std::{collections::BTreeMap, error::Error as StdError, fmt, sync::Arc};

use informer_core::BoxFuture;
use informer_transport::BoxError;

use super::{contains_finalizer, insert_finalizer, take_finalizer};
use crate::{
    Error, Form,
    access::{metadata, to_value},
};

/// Cleans up before an object goes (controller-runtime `finalizer.Finalizer`).
pub trait Finalizer<K>: Send + Sync {
    /// Cleans up. It may change the object, its status for instance, and says what it changed; also when it fails, by the failure's part. It is
    /// run again until it succeeds, so it must be content with what is done already.
    fn finalize<'a>(&'a self, object: &'a mut K) -> BoxFuture<'a, Result<Finalized, FinalizerFailure>>;
}

/// What has to be written: by the caller, who has the client and knows what else was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use = "what was changed has to be written"]
#[non_exhaustive]
pub struct Finalized {
    /// The object was changed: replace or patch it.
    pub updated: bool,
    /// Its status was changed: replace or patch that.
    pub status_updated: bool,
}

impl Finalized {
    /// Nothing was changed.
    pub const NOTHING: Self = Self {
        updated: false,
        status_updated: false,
    };

    /// The object was changed.
    pub fn updated() -> Self {
        Self {
            updated: true,
            ..Self::NOTHING
        }
    }

    /// The same, and the status.
    pub fn with_status(mut self) -> Self {
        self.status_updated = true;
        self
    }

    fn and(&mut self, other: Self) {
        self.updated |= other.updated;
        self.status_updated |= other.status_updated;
    }
}

/// A finalizer failed.
#[derive(Debug)]
#[non_exhaustive]
pub struct FinalizerFailure {
    /// What it changed nevertheless.
    pub finalized: Finalized,
    /// Why.
    pub cause: BoxError,
}

impl FinalizerFailure {
    /// A failure that changed nothing.
    pub fn new(cause: impl Into<BoxError>) -> Self {
        Self {
            finalized: Finalized::NOTHING,
            cause: cause.into(),
        }
    }

    /// The same, that changed something: the status, to say what is wrong.
    #[must_use]
    pub fn after(mut self, finalized: Finalized) -> Self {
        self.finalized = finalized;
        self
    }
}

impl<E: Into<BoxError>> From<E> for FinalizerFailure {
    fn from(cause: E) -> Self {
        Self::new(cause)
    }
}

/// Finalizers by name (controller-runtime `finalizer.Finalizers`). An object that lives is given those that it lacks; one that is being deleted
/// has each run that it has, and taken off when that succeeded. They run in the order of their names, and the failure of one stops no other.
///
/// It writes nothing: [`Finalized`] says what the caller has to.
///
/// ```
/// use informer_client::{DynamicObject, Finalized, Finalizer, FinalizerFailure, Finalizers};
/// use informer_core::BoxFuture;
///
/// struct Bucket;
///
/// impl Finalizer<DynamicObject> for Bucket {
///     fn finalize<'a>(&'a self, _: &'a mut DynamicObject) -> BoxFuture<'a, Result<Finalized, FinalizerFailure>> {
///         Box::pin(async { Ok(Finalized::NOTHING) })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut finalizers = Finalizers::new();
/// finalizers.register("example.org/bucket", Bucket)?;
/// let mut object = DynamicObject::new("v1", "ConfigMap", "a");
/// let finalized = finalizers.finalize(&mut object).await?;
/// assert!(finalized.updated && object.get("/metadata/finalizers/0").is_some());
/// # Ok(()) }
/// ```
pub struct Finalizers<K> {
    by_name: BTreeMap<String, Arc<dyn Finalizer<K>>>,
}

impl<K: Form> Finalizers<K> {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self {
            by_name: BTreeMap::new(),
        }
    }

    /// Adds one under a name, which is what stands in the object: `example.org/bucket`.
    ///
    /// # Errors
    /// When there is one of that name, or the server would not take it as a name: it needs a domain, a slash and a word.
    pub fn register(
        &mut self,
        name: &str,
        finalizer: impl Finalizer<K> + 'static,
    ) -> Result<&mut Self, Error> {
        let is_name = name
            .split_once('/')
            .is_some_and(|(domain, word)| !domain.is_empty() && !word.is_empty() && !word.contains('/'));
        if !is_name {
            return Err(Error::refused(format!(
                "{name:?} is no finalizer: it needs a domain and a word"
            )));
        }
        if self.by_name.contains_key(name) {
            return Err(Error::refused(format!("there is a finalizer {name:?} already")));
        }
        self.by_name.insert(name.to_owned(), Arc::new(finalizer));
        Ok(self)
    }

    /// Gives an object that lives the finalizers that it lacks; of one that is being deleted runs those that it has, and takes off those that
    /// succeed. Those of others it leaves alone.
    ///
    /// # Errors
    /// When some failed. What the others did stands: write what [`FinalizeError::finalized`] says before you go on with the error.
    ///
    /// # Cancel safety
    /// Dropping the future drops the finalizer that runs; the object may be changed and not written.
    pub async fn finalize(&self, object: &mut K) -> Result<Finalized, FinalizeError> {
        let mut finalized = Finalized::NOTHING;
        let mut failed = Vec::new();
        for (name, finalizer) in &self.by_name {
            if let Err(cause) = one(object, name, &**finalizer, &mut finalized).await {
                failed.push((name.clone(), cause));
            }
        }
        if failed.is_empty() {
            Ok(finalized)
        } else {
            Err(FinalizeError { finalized, failed })
        }
    }
}

async fn one<K: Form>(
    object: &mut K,
    name: &str,
    finalizer: &dyn Finalizer<K>,
    finalized: &mut Finalized,
) -> Result<(), BoxError> {
    let is_deleted = metadata(&to_value(object)?, "deletionTimestamp").is_some();
    if !is_deleted {
        finalized.updated |= insert_finalizer(object, name)?;
        return Ok(());
    }
    if !contains_finalizer(object, name)? {
        return Ok(());
    }
    match finalizer.finalize(object).await {
        Ok(changed) => finalized.and(changed),
        Err(failure) => {
            finalized.and(failure.finalized);
            return Err(failure.cause);
        }
    }
    finalized.updated |= take_finalizer(object, name)?;
    Ok(())
}

impl<K: Form> Default for Finalizers<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Clone for Finalizers<K> {
    fn clone(&self) -> Self {
        Self {
            by_name: self.by_name.clone(),
        }
    }
}

impl<K> fmt::Debug for Finalizers<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_name.keys()).finish()
    }
}

/// Some finalizers failed.
#[derive(Debug)]
pub struct FinalizeError {
    finalized: Finalized,
    failed: Vec<(String, BoxError)>,
}

impl FinalizeError {
    /// What was changed, by those that succeeded and by those that failed.
    pub fn finalized(&self) -> Finalized {
        self.finalized
    }

    /// The names of those that failed, and why, in order.
    pub fn failed(&self) -> impl Iterator<Item = (&str, &(dyn StdError + Send + Sync + 'static))> {
        self.failed.iter().map(|(name, cause)| (&**name, &**cause))
    }
}

impl fmt::Display for FinalizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, cause)) in self.failed.iter().enumerate() {
            let and = if at > 0 { "; " } else { "" };
            write!(f, "{and}finalizer {name:?} failed: {cause}")?;
        }
        Ok(())
    }
}

impl StdError for FinalizeError {}
