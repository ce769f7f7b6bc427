//! The program that follows the lamps: an informer, a handler that checks its chain, and a controller that copies their states.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use informer_controller::{Action, Builder, Controller, ForObject};
use informer_core::{Change, Key, Stamp};
use informer_sharedinformer::{HandlerOptions, Lister, Registration, SharedInformer};

use crate::Lamp;

/// What the reconciles made: the state of each lamp by name.
pub type Made = Arc<Mutex<BTreeMap<String, String>>>;

/// An informer of lamps and what is done with it. Not running yet.
#[derive(Debug)]
pub struct Program<Q: Key> {
    informer: SharedInformer<Q, Lamp>,
    /// `None`: somebody else reconciles.
    controller: Option<Controller<Q>>,
    checked: Registration,
    made: Made,
}

/// What runs.
#[derive(Debug)]
pub struct Running<Q: Key> {
    informer: informer_sharedinformer::Running<Q, Lamp>,
    controller: Option<informer_controller::Running<Q>>,
}

impl<Q: Key> Program<Q> {
    /// A program over this informer, whose keys give the lamps' names so.
    pub fn new(informer: SharedInformer<Q, Lamp>, name_of: fn(&Q) -> &str) -> Self {
        Self::with(informer, name_of, |builder| builder)
    }

    /// The same, with something of the controller chosen.
    ///
    /// # Panics
    /// When the parts do not fit.
    pub fn with(
        informer: SharedInformer<Q, Lamp>,
        name_of: fn(&Q) -> &str,
        choose: impl FnOnce(Builder<Q>) -> Builder<Q>,
    ) -> Self {
        let made = Made::default();
        let (lister, makes) = (informer.lister(), made.clone());
        let builder = Controller::builder("lamps")
            .watches(&informer, ForObject)
            .reconcile(move |key: Q, attempt| {
                let result = reconcile(&lister, &makes, &key, name_of(&key), attempt.number);
                async { result }
            });
        let controller = choose(builder).build().unwrap();
        let mut program = Self::without_controller(informer, made);
        program.controller = Some(controller);
        program
    }

    /// A program whose reconciles are somebody else's.
    ///
    /// # Panics
    /// When the informer has stopped.
    pub fn without_controller(informer: SharedInformer<Q, Lamp>, made: Made) -> Self {
        let mut chain = BTreeMap::new();
        let check = move |change: &Change<Q, Lamp>| check(&mut chain, change);
        let checked = informer
            .add_handler(check, HandlerOptions::named("check"))
            .unwrap();
        Self {
            informer,
            controller: None,
            checked,
            made,
        }
    }

    pub(crate) fn start(&self) -> Running<Q> {
        Running {
            informer: self.informer.spawn().unwrap(),
            controller: self
                .controller
                .as_ref()
                .map(|controller| controller.spawn().unwrap()),
        }
    }

    pub(crate) async fn stop(&self, running: Running<Q>) {
        assert!(self.informer.has_synced() && self.checked.has_synced());
        assert!(self.checked.n_delivered() > 0);
        assert_eq!(self.checked.n_panics(), 0, "a handler's chain has a gap");
        if let Some(controller) = running.controller {
            controller.stop().await.unwrap();
        }
        let ended = running.informer.stop().await;
        assert!(ended.still_running.is_empty());
    }

    pub(crate) fn cached(&self) -> BTreeMap<String, String> {
        let lamps = self.informer.lister().list();
        lamps
            .iter()
            .map(|lamp| (lamp.metadata.name.clone(), lamp.data.state.clone()))
            .collect()
    }

    pub(crate) fn made(&self) -> BTreeMap<String, String> {
        self.made.lock().unwrap().clone()
    }
}

/// Copies the state of the lamp. Flaky ones fail at first.
///
/// # Errors
/// The first time, for a flaky one.
///
/// # Panics
/// When another reconcile has panicked.
pub fn reconcile<Q: Key>(
    lister: &Lister<Q, Lamp>,
    made: &Made,
    key: &Q,
    name: &str,
    attempt: u32,
) -> Result<Action, std::io::Error> {
    if name.starts_with("flaky") && attempt < 2 {
        return Err(std::io::Error::other("it flickers"));
    }
    let mut made = made.lock().unwrap();
    match lister.get(key) {
        Some(lamp) => made.insert(name.to_owned(), lamp.data.state.clone()),
        None => made.remove(name),
    };
    Ok(Action::requeue_after(Duration::from_secs(3600)))
}

fn check<Q: Key>(chain: &mut BTreeMap<Q, Stamp>, change: &Change<Q, Lamp>) {
    let before = chain.get(change.key()).cloned();
    match change {
        Change::Added { new, .. } => {
            assert_eq!(before, None);
            chain.insert(new.key.clone(), new.stamp.clone());
        }
        Change::Updated { old, new } => {
            assert_eq!(before.as_ref(), Some(&old.stamp));
            assert_eq!(old.stamp.uid, new.stamp.uid);
            chain.insert(new.key.clone(), new.stamp.clone());
        }
        Change::Removed { last, .. } => {
            assert_eq!(before.map(|stamp| stamp.uid), Some(last.stamp.uid.clone()));
            chain.remove(&last.key);
        }
        Change::Resynced { current } => assert_eq!(before.as_ref(), Some(&current.stamp)),
    }
}
