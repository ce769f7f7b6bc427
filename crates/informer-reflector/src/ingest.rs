//! From what the source decoded to what is kept: key, reuse, transform, each once, and no panic of theirs goes further.

use std::{
    any::Any,
    error::Error,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use informer_core::{Cause, DecodeError, Decoded, Delta, Entry, KeyFunc, Stamp};

use crate::{Problem, Transform};

/// An object at hand, ready for the buffer or the sink.
#[derive(Debug)]
pub(crate) enum Held<Q, K> {
    Upsert(Entry<Q, K>, Cause),
    Delete {
        key: Q,
        stamp: Stamp,
        last: Option<Arc<K>>,
    },
    Unreadable {
        key: Q,
        stamp: Stamp,
    },
}

impl<Q, K> From<Held<Q, K>> for Delta<Q, K> {
    fn from(held: Held<Q, K>) -> Self {
        match held {
            Held::Upsert(entry, cause) => Self::Upsert(entry, cause),
            Held::Delete { key, stamp, last } => Self::Delete {
                key,
                stamp,
                last,
                observed: true,
            },
            Held::Unreadable { key, stamp } => Self::Unreadable { key, stamp },
        }
    }
}

/// Why an object could not be used.
#[derive(Debug)]
pub(crate) struct Unusable {
    pub(crate) problem: Problem,
    pub(crate) cause: Arc<dyn Error + Send + Sync>,
}

impl Unusable {
    fn new(problem: Problem, cause: impl Error + Send + Sync + 'static) -> Self {
        Self {
            problem,
            cause: Arc::new(cause),
        }
    }
}

/// What could be made of an object: something to go on with, something to report, or both.
pub(crate) type Ingested<Q, K> = (Option<Held<Q, K>>, Option<Unusable>);

pub(crate) struct Ingest<K, F> {
    key: F,
    transform: Option<Arc<dyn Transform<K>>>,
}

impl<K, F> fmt::Debug for Ingest<K, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ingest").finish_non_exhaustive()
    }
}

/// How far an object came.
enum Made<Q, K> {
    Whole(Q, Stamp, Arc<K>),
    Keyed(Q, Stamp, Unusable),
    Nothing(Unusable),
}

impl<K, F: KeyFunc<K>> Ingest<K, F> {
    pub(crate) fn new(key: F, transform: Option<Arc<dyn Transform<K>>>) -> Self {
        Self { key, transform }
    }

    /// An object that exists. `known` may have the same state already: then that one is used, and this copy is dropped untransformed.
    pub(crate) fn upsert(
        &self,
        item: Result<Decoded<K>, DecodeError>,
        cause: Cause,
        known: impl FnOnce(&F::Key, &Stamp) -> Option<Arc<K>>,
    ) -> Ingested<F::Key, K> {
        match self.make(item, known) {
            Made::Whole(key, stamp, object) => {
                (Some(Held::Upsert(Entry::new(key, stamp, object), cause)), None)
            }
            Made::Keyed(key, stamp, unusable) => (Some(Held::Unreadable { key, stamp }), Some(unusable)),
            Made::Nothing(unusable) => (None, Some(unusable)),
        }
    }

    /// An object that is gone: what cannot be used of its last state is left out, its end is told all the same.
    pub(crate) fn delete(&self, item: Result<Decoded<K>, DecodeError>) -> Ingested<F::Key, K> {
        let (key, stamp, last, unusable) = match self.make(item, |_, _| None) {
            Made::Whole(key, stamp, object) => (key, stamp, Some(object), None),
            Made::Keyed(key, stamp, unusable) => (key, stamp, None, Some(unusable)),
            Made::Nothing(unusable) => return (None, Some(unusable)),
        };
        (Some(Held::Delete { key, stamp, last }), unusable)
    }

    fn make(
        &self,
        item: Result<Decoded<K>, DecodeError>,
        known: impl FnOnce(&F::Key, &Stamp) -> Option<Arc<K>>,
    ) -> Made<F::Key, K> {
        let Decoded { identity, mut object } = match item {
            Ok(decoded) => decoded,
            Err(error) => return self.unreadable(error),
        };
        let key = match guarded(|| self.key.key(&identity, &object)) {
            Ok(Ok(key)) => key,
            Ok(Err(error)) => return Made::Nothing(Unusable::new(Problem::Key, error)),
            Err(panic) => {
                let panic = panic.of("key function", &identity);
                return Made::Nothing(Unusable::new(Problem::Panic, panic));
            }
        };
        if let Some(object) = known(&key, &identity.stamp) {
            return Made::Whole(key, identity.stamp, object);
        }
        if let Some(transform) = &self.transform {
            let outcome = guarded(|| {
                transform.transform(&identity, &mut object)?;
                Ok(self.key.key(&identity, &object).is_ok_and(|again| again == key))
            });
            let unusable = match outcome {
                Ok(Ok(true)) => return Made::Whole(key, identity.stamp, Arc::new(object)),
                Ok(Ok(false)) => Unusable::new(Problem::Transform, KeyChanged(identity.to_string())),
                Ok(Err(error)) => Unusable::new(
                    Problem::Transform,
                    Refused {
                        object: identity.to_string(),
                        error,
                    },
                ),
                Err(panic) => Unusable::new(Problem::Panic, panic.of("transform", &identity)),
            };
            return Made::Keyed(key, identity.stamp, unusable);
        }
        Made::Whole(key, identity.stamp, Arc::new(object))
    }

    fn unreadable(&self, error: DecodeError) -> Made<F::Key, K> {
        let named = error.identity().and_then(|identity| {
            let key = guarded(|| self.key.key_of_identity(identity)).ok().flatten()?;
            Some((key, identity.stamp.clone()))
        });
        let unusable = Unusable::new(Problem::Undecodable, error);
        match named {
            Some((key, stamp)) => Made::Keyed(key, stamp, unusable),
            None => Made::Nothing(unusable),
        }
    }
}

/// Runs code of the user's. After a panic what it worked on is dropped, so nothing half done is seen.
pub(crate) fn guarded<R>(run: impl FnOnce() -> R) -> Result<R, Panicked> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| Panicked::new(&*payload))
}

/// A panic that was caught.
#[derive(Debug)]
pub(crate) struct Panicked {
    what: String,
    message: String,
}

impl Panicked {
    fn new(payload: &(dyn Any + Send)) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a payload that is no text".to_owned());
        Self {
            what: "hook".to_owned(),
            message,
        }
    }

    fn of(self, what: &str, object: &impl fmt::Display) -> Self {
        self.named(format!("{what} for {object}"))
    }

    /// The same, with a name for what panicked.
    pub(crate) fn named(mut self, what: impl Into<String>) -> Self {
        self.what = what.into();
        self
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} panicked: {}", self.what, self.message)
    }
}

impl Error for Panicked {}

#[derive(Debug)]
struct KeyChanged(String);

impl fmt::Display for KeyChanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the transform changed the key of {}", self.0)
    }
}

impl Error for KeyChanged {}

#[derive(Debug)]
struct Refused {
    object: String,
    error: crate::TransformError,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.object, self.error)
    }
}

impl Error for Refused {}
