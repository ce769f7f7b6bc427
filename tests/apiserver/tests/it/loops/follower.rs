//! An informer with a handler that checks all that a handler can check.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex},
};

use apiserver_tests::{ControlPlane, wait};
use informer_client::{DynamicObject, Error};
use informer_core::{Change, FailureClass, ListerWatcher, ObjectKey, ResourceVersion, Snapshot, Store as _};
use informer_reflector::Phase;
use informer_sharedinformer::{HandlerOptions, ReflectorOptions, Registration, Running, SharedInformer};

use super::churn::{Churn, SERIAL};
use crate::ledger::Ledger;
use crate::support::{Contents, LIMIT, converged, reflector, server_contents};

/// An informer that runs, and what its handler was told.
pub(crate) struct Follower {
    name: String,
    pub(crate) informer: SharedInformer<ObjectKey, DynamicObject>,
    ledger: Ledger,
    sightings: Sightings,
    registration: Registration,
    running: Running<ObjectKey, DynamicObject>,
}

impl Follower {
    pub(crate) fn start<S>(name: impl Into<String>, source: S, options: ReflectorOptions) -> Self
    where
        S: ListerWatcher<Object = DynamicObject, Error = Error> + 'static,
    {
        let informer = SharedInformer::builder(source)
            .reflector_options(options)
            .build()
            .unwrap();
        let (ledger, sightings) = (Ledger::default(), Sightings::default());
        let handler = {
            let (ledger, sightings, store) = (ledger.clone(), sightings.clone(), informer.store());
            move |change: &Change<ObjectKey, DynamicObject>| {
                ledger.tell(change);
                sightings.see(change, &*store.snapshot());
            }
        };
        let registration = informer.add_handler(handler, HandlerOptions::default()).unwrap();
        let running = informer.spawn().unwrap();
        Self {
            name: name.into(),
            informer,
            ledger,
            sightings,
            registration,
            running,
        }
    }

    pub(crate) async fn synced(&self) {
        self.informer.wait_synced(LIMIT).await.unwrap();
    }

    pub(crate) fn status(&self) -> informer_reflector::Status {
        reflector(&self.informer)
    }

    /// Waits until its status says that this is what fails, and returns the text.
    pub(crate) async fn fails_with(&self, class: FailureClass) -> String {
        let what = format!("{} says {class}", self.name);
        wait::until(&what, LIMIT, async || {
            let source = self.informer.status().source;
            (source.class == Some(class)).then(|| source.to_string())
        })
        .await
    }

    /// Waits until it watches, and has nothing to complain of.
    pub(crate) async fn watches(&self) {
        let what = format!("{} watches", self.name);
        wait::until(&what, LIMIT, async || {
            let status = self.status();
            (status.phase == Phase::Watching && status.trouble().is_none()).then_some(())
        })
        .await;
    }

    /// Waits until it has taken a whole state once more than `before`.
    pub(crate) async fn relisted(&self, before: u64) {
        let what = format!("{} lists again", self.name);
        wait::until(&what, LIMIT, async || {
            (self.status().relists > before).then_some(())
        })
        .await;
    }

    /// When nothing is written any more: it has what the server has, and all that it was told on the way was right. It sent so many
    /// WATCH requests at most.
    pub(crate) async fn settles(&self, plane: &ControlPlane, path: &str, churn: &Churn, most_watches: u64) {
        let expected = server_contents(plane, path);
        self.settles_at(&expected, churn, most_watches).await;
    }

    /// The same, where what the server has is known.
    pub(crate) async fn settles_at(&self, expected: &Contents, churn: &Churn, most_watches: u64) {
        converged(&self.informer, &[&self.ledger], expected).await;
        self.ledger.assert_sound();
        let status = self.status();
        self.sightings.assert_sound(&self.name, churn);
        if status.relists == 0 && self.registration.n_merged() == 0 {
            self.sightings.assert_complete(&self.name, churn);
        }
        assert!(
            status.watches <= most_watches,
            "{}: {} watches, {most_watches} expected at most",
            self.name,
            status.watches
        );
        assert_eq!(status.skipped, 0, "{}: {:?}", self.name, status.last_skipped);
    }

    /// How many changes its handler was told.
    pub(crate) fn n_told(&self) -> usize {
        self.ledger.n_told()
    }

    pub(crate) async fn stop(self) {
        assert!(self.running.stop().await.still_running.is_empty());
    }
}

impl fmt::Display for Follower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.status();
        write!(
            f,
            "{}: {} objects, {} changes told, {} merged; {} events, {} LIST requests, {} WATCH requests, {} relists",
            self.name,
            self.informer.store().len(),
            self.ledger.n_told(),
            self.registration.n_merged(),
            status.events,
            status.lists,
            status.watches,
            status.relists
        )
    }
}

/// What a handler saw beside the chain itself. Clones share it.
#[derive(Debug, Clone, Default)]
struct Sightings(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    /// Key and serial of each state that was told, by version.
    states: BTreeMap<String, (String, Option<u64>)>,
    applied: ResourceVersion,
    faults: Vec<String>,
}

impl Sightings {
    fn see(&self, change: &Change<ObjectKey, DynamicObject>, store: &dyn Snapshot<ObjectKey, DynamicObject>) {
        let mut seen = self.0.lock().unwrap();
        let entry = change.entry();
        let version = &entry.stamp.version;
        if is_older(store.applied(), &seen.applied) {
            let fault = format!("the store went back from {} to {}", seen.applied, store.applied());
            seen.faults.push(fault);
        }
        seen.applied = store.applied().clone();
        let stored = store.get(change.key()).map(|entry| &entry.stamp);
        let late = match (change, stored) {
            (Change::Removed { .. }, Some(stored)) => *stored == entry.stamp,
            (_, Some(stored)) => is_older(&stored.version, version),
            // Removed since, of which the handler will be told.
            (_, None) => false,
        };
        if late {
            let fault = format!("{change:?} was told while the store had {stored:?}");
            seen.faults.push(fault);
        }
        if !matches!(change, Change::Removed { .. }) {
            let serial = entry.object.text(SERIAL).and_then(|serial| serial.parse().ok());
            let state = (change.key().to_string(), serial);
            seen.states.insert(version.as_str().to_owned(), state);
        }
    }

    /// Everything was in order, and everything that was told had been written.
    fn assert_sound(&self, name: &str, churn: &Churn) {
        let seen = self.0.lock().unwrap();
        assert_eq!(seen.faults, Vec::<String>::new(), "{name}");
        let confirmed = churn.confirmed();
        for (version, (key, serial)) in &seen.states {
            let serial = serial.unwrap_or_else(|| panic!("{name}: {key} at {version} has no serial"));
            match confirmed.get(version) {
                Some(written) => assert_eq!(
                    (&written.0, written.1),
                    (key, serial),
                    "{name}: another state at {version}"
                ),
                // Of this one the answer was lost.
                None => assert!(
                    churn.attempted(key, serial),
                    "{name}: nobody wrote {serial} to {key} at {version}"
                ),
            }
        }
    }

    /// Everything that was written was told.
    fn assert_complete(&self, name: &str, churn: &Churn) {
        let seen = self.0.lock().unwrap();
        let missing = churn
            .confirmed()
            .into_iter()
            .find(|(version, _)| !seen.states.contains_key(version));
        assert!(
            missing.is_none(),
            "{name}: {missing:?} was never told, without a relist"
        );
    }
}

fn is_older(this: &ResourceVersion, that: &ResourceVersion) -> bool {
    this.compare(that).is_ok_and(|order| order.is_lt())
}
