//! A small cluster for factories: what is created, changed and deleted in it, lists and watches of any selection tell.

use std::{
    collections::{BTreeMap, VecDeque},
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
    most_open_watches: usize,
    n_lists: usize,
    streams: bool,
    cuts: u64,
    cut: Option<Cut>,
}

/// How watches end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// As a server ends them now and then.
    Quiet,
    /// The version has expired.
    Expired,
    /// The connection broke.
    Broken,
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

    /// The same, whose lists can be streamed.
    pub(crate) fn streaming(self) -> Self {
        self.lock().streams = true;
        self
    }

    /// Ends the watches that are open.
    pub(crate) fn cut(&self, how: Cut) {
        let mut state = self.lock();
        state.cuts += 1;
        state.cut = Some(how);
        self.0.changed.send_modify(|_| {});
    }

    /// What exists, as an informer would hold it.
    pub(crate) fn live(&self) -> BTreeMap<ObjectKey, u64> {
        let state = self.lock();
        let live = state.live.iter();
        live.map(|(key, pod)| (key.clone(), pod.version)).collect()
    }

    /// The versions that a key ever had, its ends among them.
    pub(crate) fn history(&self, key: &ObjectKey) -> Vec<u64> {
        let state = self.lock();
        let of_it = state.log.iter().filter(|(it, ..)| it == key);
        of_it.map(|(_, pod, _)| pod.version).collect()
    }

    pub(crate) fn most_open_watches(&self) -> usize {
        self.lock().most_open_watches
    }

    pub(crate) fn n_lists(&self) -> usize {
        self.lock().n_lists
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
        let mut state = self.world.lock();
        state.n_lists += 1;
        let live = state.live.iter().filter(|(key, _)| self.holds(key));
        let items: Vec<_> = live.map(|(key, pod)| decoded(key, pod)).collect();
        Ok(informer_core::BoxFeed::new(feed::list(
            items,
            &*state.version.to_string(),
        )))
    }

    async fn watch(&self, request: WatchRequest) -> Result<WorldWatch, SourceError> {
        let mut state = self.world.lock();
        let mut seen = request.version.map_or(0, |it| it.as_str().parse().unwrap());
        let mut initial = VecDeque::new();
        if request.initial_events {
            if !state.streams {
                let error = SourceError::new(FailureClass::Unsupported, "no streaming lists here");
                return Err(error);
            }
            let live = state.live.iter().filter(|(key, _)| self.holds(key));
            initial.extend(live.map(|(key, pod)| Watched::Upsert(Cause::Added, Ok(decoded(key, pod)))));
            seen = state.log.len();
            initial.push_back(Watched::Bookmark {
                at: version(state.version),
                end_of_initial: true,
            });
        }
        state.open_watches += 1;
        state.most_open_watches = state.most_open_watches.max(state.open_watches);
        Ok(WorldWatch {
            initial,
            cuts: state.cuts,
            changed: self.world.0.changed.subscribe(),
            source: Self {
                world: self.world.clone(),
                selection: self.selection.clone(),
            },
            seen,
        })
    }
}

pub(crate) struct WorldWatch {
    source: WorldSource,
    initial: VecDeque<Watched<Pod>>,
    /// Cuts there were when it began.
    cuts: u64,
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
            if let Some(initial) = self.initial.pop_front() {
                return Some(Ok(initial));
            }
            let (cut, next) = {
                let state = self.source.world.lock();
                let cut = state.cut.filter(|_| state.cuts != self.cuts);
                (cut, state.log.get(self.seen).cloned())
            };
            match cut {
                None => {}
                Some(Cut::Quiet) => return None,
                Some(Cut::Expired) => {
                    let error = SourceError::new(FailureClass::Expired, "too old resource version");
                    return Some(Err(error));
                }
                Some(Cut::Broken) => {
                    let error = SourceError::new(FailureClass::Transient, "connection reset");
                    return Some(Err(error));
                }
            }
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
