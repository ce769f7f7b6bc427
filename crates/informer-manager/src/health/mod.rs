//! Checks of health and readiness.

mod text;

use std::{
    collections::BTreeMap,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, PoisonError, RwLock},
};

use crate::{BoxError, Endpoint, Reply, Request};

/// Says whether something is well. For every closure `Fn() -> Result<(), BoxError>`; quick, since a probe waits for it.
pub trait Check: Send + Sync {
    /// Whether it is well; if not, why.
    ///
    /// # Errors
    /// When it is not.
    fn check(&self) -> Result<(), BoxError>;
}

impl<F: Fn() -> Result<(), BoxError> + Send + Sync> Check for F {
    fn check(&self) -> Result<(), BoxError> {
        self()
    }
}

/// How one of several checks went: its name, and why it is not well.
pub type Verdict = (String, Result<(), BoxError>);

type Many = Arc<dyn Fn() -> Vec<Verdict> + Send + Sync>;

/// Checks by name: what `/healthz` or `/readyz` asks. Clones are the same.
///
/// The texts are controller-runtime's: `ok`, and with `?verbose`, or when something is not well, a line for each check, without the
/// reason, which the path of a single check tells.
#[derive(Clone, Default)]
pub struct Checks(Arc<RwLock<Registry>>);

#[derive(Default)]
struct Registry {
    named: BTreeMap<Arc<str>, Arc<dyn Check>>,
    /// Checks that come and go, each set under a name of its own.
    many: BTreeMap<Arc<str>, Many>,
}

impl Checks {
    /// No checks yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a check, or puts it in the place of the one of that name.
    pub fn add(&self, name: impl Into<Arc<str>>, check: impl Check + 'static) {
        self.add_shared(name.into(), Arc::new(check));
    }

    pub(crate) fn add_shared(&self, name: Arc<str>, check: Arc<dyn Check>) {
        self.write(|registry| registry.named.insert(name, check));
    }

    /// Adds checks that come and go: the closure names those that there are. `name` is only for [`remove`](Self::remove).
    pub fn add_many(
        &self,
        name: impl Into<Arc<str>>,
        checks: impl Fn() -> Vec<Verdict> + Send + Sync + 'static,
    ) {
        self.write(|registry| registry.many.insert(name.into(), Arc::new(checks)));
    }

    /// Removes what was added under this name.
    pub fn remove(&self, name: &str) {
        self.write(|registry| {
            registry.named.remove(name);
            registry.many.remove(name);
        });
    }

    /// How all are, by name, except those that `skip` is true of, which are not asked and count as well.
    fn verdicts(&self, skip: impl Fn(&str) -> bool) -> BTreeMap<String, Result<(), String>> {
        let (named, many) = {
            let registry = self.0.read().unwrap_or_else(PoisonError::into_inner);
            (registry.named.clone(), registry.many.clone())
        };
        let mut verdicts = BTreeMap::new();
        for (name, check) in &named {
            let verdict = if skip(name) {
                Ok(())
            } else {
                contained(|| check.check())
            };
            verdicts.insert(name.to_string(), verdict);
        }
        for (name, many) in &many {
            match catch_unwind(AssertUnwindSafe(|| many())) {
                Ok(several) => {
                    let told = several.into_iter().map(|(name, verdict)| (name, told(verdict)));
                    verdicts.extend(told);
                }
                Err(_) => {
                    verdicts.insert(name.to_string(), Err(PANICKED.to_owned()));
                }
            }
        }
        verdicts
    }

    /// Answers for all checks, for a request whose query is this.
    #[must_use]
    pub fn answer(&self, query: &str) -> Reply {
        let asked = text::Query::parse(query);
        text::aggregate(&self.verdicts(|name| asked.excludes(name)), &asked)
    }

    /// Answers for the check of this name.
    #[must_use]
    pub fn answer_one(&self, name: &str) -> Reply {
        let verdicts = self.verdicts(|other| other != name);
        match verdicts.get(name) {
            Some(verdict) => text::single(verdict),
            None if verdicts.is_empty() && name == "ping" => text::single(&Ok(())),
            None => Reply::not_found(),
        }
    }

    fn write<T>(&self, body: impl FnOnce(&mut Registry) -> T) {
        body(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }
}

const PANICKED: &str = "the check panicked";

fn contained(check: impl FnOnce() -> Result<(), BoxError>) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(check)).map_or_else(|_| Err(PANICKED.to_owned()), told)
}

fn told(verdict: Result<(), BoxError>) -> Result<(), String> {
    verdict.map_err(|error| crate::report::chain_of(&error))
}

/// The path of the request below the endpoint's own is the name of a check, or nothing.
impl Endpoint for Checks {
    fn answer(&self, request: &Request<'_>) -> Reply {
        let name = request.rest.trim_matches('/');
        if name.is_empty() {
            Self::answer(self, request.query)
        } else {
            self.answer_one(name)
        }
    }
}

impl fmt::Debug for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let registry = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let names = registry.named.keys().chain(registry.many.keys());
        f.debug_set().entries(names).finish()
    }
}
