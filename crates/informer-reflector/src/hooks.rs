//! What users hang into a reflector.

use std::error::Error;

use crate::{
    ReflectorError,
    ingest::guarded,
    log::{self, Labels},
    metrics::Meter,
};

type ErrorHook = Box<dyn Fn(&ReflectorError) + Send + Sync>;
type ResyncHook = Box<dyn Fn() -> bool + Send + Sync>;

/// Closures of the user's. No panic of theirs goes further.
#[derive(Default)]
pub(crate) struct Hooks {
    errors: Vec<ErrorHook>,
    should_resync: Option<ResyncHook>,
    pub(crate) meter: Option<Meter>,
}

impl Hooks {
    pub(crate) fn on_error(&mut self, hook: impl Fn(&ReflectorError) + Send + Sync + 'static) {
        self.errors.push(Box::new(hook));
    }

    pub(crate) fn should_resync(&mut self, hook: impl Fn() -> bool + Send + Sync + 'static) {
        self.should_resync = Some(Box::new(hook));
    }

    pub(crate) fn report(&self, error: &ReflectorError, labels: &Labels) {
        for hook in &self.errors {
            if let Err(panic) = guarded(|| hook(error)) {
                log::hook_panicked(labels, &panic.named("error hook"));
            }
        }
    }

    /// Whether a resync that is due is wanted.
    pub(crate) fn wants_resync(&self) -> Result<bool, Box<dyn Error + Send + Sync>> {
        match &self.should_resync {
            None => Ok(true),
            Some(hook) => guarded(hook).map_err(|panic| panic.named("resync hook").into()),
        }
    }
}
