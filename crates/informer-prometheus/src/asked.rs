//! What is asked at each look: how far informers lag, and what their stores weigh.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use informer_core::{Clock as _, TokioClock};

use crate::families::InformerFamilies;

/// Tells what the objects in a store weigh.
pub(crate) type Weigh = Arc<dyn Fn() -> u64 + Send + Sync>;

/// What is asked at each look: how far informers lag, and what their stores weigh.
#[derive(Default)]
pub(crate) struct Informers {
    by_labels: Mutex<BTreeMap<Vec<String>, Asked>>,
}

#[derive(Default, Clone)]
struct Asked {
    lag: Option<Arc<Mutex<Lag>>>,
    weigh: Option<Weigh>,
}

/// Since when the source is not followed.
#[derive(Debug, Default)]
pub(crate) struct Lag {
    /// A whole state came: there is something that can be out of date.
    has_state: bool,
    behind_since: Option<Instant>,
}

impl Lag {
    pub(crate) fn has_state(&mut self) {
        self.has_state = true;
    }

    pub(crate) fn follows(&mut self) {
        self.behind_since = None;
    }

    pub(crate) fn falls_behind(&mut self) {
        self.behind_since.get_or_insert_with(|| TokioClock.now());
    }

    fn seconds(&self, now: Instant) -> Option<f64> {
        let behind = |since| now.saturating_duration_since(since).as_secs_f64();
        self.has_state.then(|| self.behind_since.map_or(0.0, behind))
    }
}

impl Informers {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Vec<String>, Asked>> {
        self.by_labels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn weigh(&self, labels: Vec<String>, weigh: Weigh) {
        self.lock().entry(labels).or_default().weigh = Some(weigh);
    }

    /// The same, where nothing was given yet.
    pub(crate) fn weigh_unless(&self, labels: Vec<String>, weigh: Weigh) {
        self.lock().entry(labels).or_default().weigh.get_or_insert(weigh);
    }

    pub(crate) fn lags(&self, labels: Vec<String>, lag: Arc<Mutex<Lag>>) {
        self.lock().entry(labels).or_default().lag = Some(lag);
    }

    pub(crate) fn forget(&self, labels: &[&str]) {
        let labels: Vec<_> = labels.iter().map(ToString::to_string).collect();
        self.lock().remove(&labels);
    }

    /// Asks outside of the lock: a program's own function may do as it likes.
    pub(crate) fn refresh(&self, families: &InformerFamilies) {
        let now = TokioClock.now();
        let all = self.lock().clone();
        families.lag.reset();
        families.bytes.reset();
        for (labels, asked) in all {
            let labels: Vec<_> = labels.iter().map(String::as_str).collect();
            let lag = asked.lag.and_then(|lag| {
                let lag = lag.lock().unwrap_or_else(PoisonError::into_inner);
                lag.seconds(now)
            });
            if let Some(seconds) = lag {
                families.lag.with_label_values(&labels).set(seconds);
            }
            if let Some(weigh) = asked.weigh {
                let bytes = i64::try_from(weigh()).unwrap_or(i64::MAX);
                families.bytes.with_label_values(&labels).set(bytes);
            }
        }
    }
}
