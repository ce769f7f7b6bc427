//! A small cluster for factories: what is created, changed and deleted in it, lists and watches of any selection tell.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use informer_core::{
    Cause, Decoded, FailureClass, Feed, Identity, ListRequest, Listed, ListerWatcher, ObjectKey, Resource,
    ResourceVersion, SourceError, Stamp, WatchRequest, Watched,
};
use informer_reflector::feed;
use informer_sharedinformer::{Selection, Sources};
use tokio::sync::watch;

use crate::support::{Pod, key, version};

#[derive(Clone, Default)]
pub(crate) struct World(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    changed: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    version: u64,
    live: BTreeMap<ObjectKey, Pod>,
    /// Every change there was: its key, the state, and whether that is the last.
    log: Vec<(ObjectKey, Pod, bool)>,
    /// The selections of the sources that were made.
    asked: Vec<String>,
    forbidden: Vec<String>,
    open_watches: usize,
}

pub(crate) fn pods() -> Selection {
    Selection::all(Resource::namespaced("", "v1", "pods", "Pod"))
}

pub(crate) fn nodes() -> Selection {
    Selection::all(Resource::cluster("", "v1", "nodes", "Node"))
}

impl World {
    /// With these objects, in this order.
    pub(crate) fn with(keys: &[&str]) -> Self {
        let world = Self::default();
        keys.iter().for_each(|key| world.put(key));
        world
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap()
    }

    /// Creates or changes an object: its version is the next one, and its node follows from that.
    pub(crate) fn put(&self, name: &str) {
        let mut state = self.lock();
        state.version += 1;
        let pod = Pod {
            node: format!("node-{}", state.version % 3),
            version: state.version,
        };
        state.live.insert(key(name), pod.clone());
        state.log.push((key(name), pod, false));
        self.0.changed.send_replace(state.version);
    }

    pub(crate) fn delete(&self, name: &str) {
        let mut state = self.lock();
        state.version += 1;
        let mut pod = state.live.remove(&key(name)).expect("it is there");
        pod.version = state.version;
        state.log.push((key(name), pod, true));
        self.0.changed.send_replace(state.version);
    }

    /// The version that it has reached.
    pub(crate) fn version(&self) -> ResourceVersion {
        version(self.lock().version)
    }

    pub(crate) fn forbid(&self, namespace: &str) {
        self.lock().forbidden.push(namespace.to_owned());
    }

    /// The selections of the sources that were made.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.lock().asked.clone()
    }

    pub(crate) fn open_watches(&self) -> usize {
        self.lock().open_watches
    }
}

impl Sources<Pod> for World {
    type Source = WorldSource;

    fn source(&self, selection: &Selection) -> WorldSource {
        self.lock().asked.push(selection.to_string());
        WorldSource {
            world: self.clone(),
            selection: selection.clone(),
        }
    }
}

pub(crate) struct WorldSource {
    world: World,
    selection: Selection,
}

impl WorldSource {
    fn holds(&self, key: &ObjectKey) -> bool {
        match &self.selection.namespace {
            Some(namespace) => key.namespace() == Some(namespace),
            None => true,
        }
    }

    fn refusal(&self) -> Option<SourceError> {
        let namespace = self.selection.namespace.as_deref()?;
        let forbidden = self.world.lock().forbidden.iter().any(|it| it == namespace);
        forbidden.then(|| {
            SourceError::new(
                FailureClass::Forbidden,
                format!("{} is forbidden", self.selection),
            )
        })
    }
}

fn decoded(key: &ObjectKey, pod: &Pod) -> Decoded<Pod> {
    Decoded {
        identity: Identity {
            namespace: key.namespace().map(Into::into),
            name: key.name().into(),
            stamp: Stamp::new(&*pod.version.to_string(), ""),
        },
        object: pod.clone(),
    }
}

impl ListerWatcher for WorldSource {
    type Object = Pod;
    type Error = SourceError;
    type List = informer_core::BoxFeed<Listed<Pod>>;
    type Watch = WorldWatch;

    async fn list(&self, _: ListRequest) -> Result<Self::List, SourceError> {
        if let Some(refusal) = self.refusal() {
            return Err(refusal);
        }
        let state = self.world.lock();
        let live = state.live.iter().filter(|(key, _)| self.holds(key));
        let items: Vec<_> = live.map(|(key, pod)| decoded(key, pod)).collect();
        Ok(informer_core::BoxFeed::new(feed::list(
            items,
            &*state.version.to_string(),
        )))
    }

    async fn watch(&self, request: WatchRequest) -> Result<WorldWatch, SourceError> {
        if request.initial_events {
            return Err(SourceError::new(
                FailureClass::Unsupported,
                "no streaming lists here",
            ));
        }
        self.world.lock().open_watches += 1;
        Ok(WorldWatch {
            changed: self.world.0.changed.subscribe(),
            source: Self {
                world: self.world.clone(),
                selection: self.selection.clone(),
            },
            seen: request.version.map_or(0, |it| it.as_str().parse().unwrap()),
        })
    }
}

pub(crate) struct WorldWatch {
    source: WorldSource,
    changed: watch::Receiver<u64>,
    /// The version up to which it has told all.
    seen: usize,
}

impl Drop for WorldWatch {
    fn drop(&mut self) {
        self.source.world.lock().open_watches -= 1;
    }
}

impl Feed for WorldWatch {
    type Event = Watched<Pod>;
    type Error = SourceError;

    async fn next(&mut self) -> Option<Result<Watched<Pod>, SourceError>> {
        loop {
            let next = self.source.world.lock().log.get(self.seen).cloned();
            match next {
                None => self.changed.changed().await.ok()?,
                Some((key, pod, last)) => {
                    self.seen += 1;
                    if !self.source.holds(&key) {
                        continue;
                    }
                    let pod = Ok(decoded(&key, &pod));
                    return Some(Ok(if last {
                        Watched::Delete(pod)
                    } else {
                        Watched::Upsert(Cause::Modified, pod)
                    }));
                }
            }
        }
    }
}
