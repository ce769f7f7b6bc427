//! A cluster in memory that lists and watches pods: versions, a history that can be forgotten, watches that can be cut.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use informer::{
    contracts::{
        BoxFeed, Cause, Decoded, FailureClass, Identity, ListRequest, Listed, ResourceVersion, SourceError,
        Stamp, WatchRequest, Watched,
    },
    reflector::feed,
};

#[derive(Debug, Clone)]
pub(crate) struct Pod {
    pub(crate) node: String,
}

#[derive(Clone)]
pub(crate) struct Cluster(Arc<Mutex<World>>);

/// A step of the story. Returns the version that the cluster is at afterwards.
type Step = fn(&Cluster) -> ResourceVersion;

#[derive(Default)]
struct World {
    version: u64,
    pods: BTreeMap<String, Live>,
    history: Vec<Event>,
    /// The watches that are open belong to this life of the server.
    life: u64,
    /// No watch can begin before this version any more.
    oldest: u64,
    watchers: Vec<Waker>,
}

#[derive(Clone)]
struct Live {
    uid: u64,
    version: u64,
    pod: Pod,
}

struct Event {
    what: What,
    name: String,
    live: Live,
}

enum What {
    Added,
    Modified,
    Deleted,
}

impl Cluster {
    /// What happens to the cluster while the loop runs.
    pub(crate) const STORY: [Step; 4] = [Self::rest, Self::live, Self::fail, Self::live_on];

    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    /// Some pods.
    pub(crate) fn grow(&self, n_pods: usize) {
        let mut world = self.lock();
        for n in 0..n_pods {
            world.set(&format!("pod-{n}"), n % 3);
        }
    }

    pub(crate) fn list(&self, _: &ListRequest) -> Result<BoxFeed<Listed<Pod>>, SourceError> {
        let world = self.lock();
        let pods = world.pods.iter().map(|(name, live)| decoded(name, live));
        let list = feed::list(pods.collect::<Vec<_>>(), &*world.version.to_string());
        Ok(BoxFeed::new(list))
    }

    pub(crate) fn watch(&self, request: &WatchRequest) -> Result<BoxFeed<Watched<Pod>>, SourceError> {
        let world = self.lock();
        let after = request
            .version
            .as_ref()
            .and_then(|version| version.as_str().parse().ok());
        let Some(mut after) = after.filter(|after| *after >= world.oldest) else {
            return Err(SourceError::new(
                FailureClass::Expired,
                "too old resource version",
            ));
        };
        let (cluster, life) = (self.clone(), world.life);
        let next = move |cx: &mut Context<'_>| {
            let mut world = cluster.lock();
            if world.life != life {
                return Poll::Ready(None);
            }
            match world.history.iter().find(|event| event.live.version > after) {
                None => {
                    world.watchers.push(cx.waker().clone());
                    Poll::Pending
                }
                Some(event) => {
                    after = event.live.version;
                    Poll::Ready(Some(Ok::<_, SourceError>(event.watched())))
                }
            }
        };
        Ok(BoxFeed::new(feed::from_poll_fn(next)))
    }

    fn rest(&self) -> ResourceVersion {
        self.lock().now()
    }

    /// Pods move, come and go; one comes back as another.
    fn live(&self) -> ResourceVersion {
        let mut world = self.lock();
        for n in 0..9 {
            world.set(&format!("pod-{}", n * 5 % 12), n);
        }
        world.set("pod-new", 1);
        world.delete("pod-7");
        world.delete("pod-8");
        world.set("pod-8", 2);
        world.set("pod-new", 2);
        world.delete("pod-new");
        world.now()
    }

    /// The server goes down. When it is back, time has passed, and nobody remembers what happened in it.
    fn fail(&self) -> ResourceVersion {
        let mut world = self.lock();
        world.delete("pod-3");
        world.delete("pod-4");
        world.set("pod-4", 1);
        world.set("pod-5", 5);
        world.set("pod-late", 1);
        world.life += 1;
        world.oldest = world.version;
        world.history.clear();
        world.now()
    }

    /// It goes on as before.
    fn live_on(&self) -> ResourceVersion {
        let mut world = self.lock();
        for n in 0..6 {
            world.set(&format!("pod-{n}"), n + 1);
        }
        world.delete("pod-late");
        world.delete("pod-9");
        world.now()
    }

    fn lock(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl World {
    /// Ends a step: whoever watches hears of it, and all of it at once.
    fn now(&mut self) -> ResourceVersion {
        self.watchers.drain(..).for_each(Waker::wake);
        ResourceVersion::new(self.version.to_string())
    }

    fn set(&mut self, name: &str, node: usize) {
        self.version += 1;
        let before = self.pods.get(name);
        let what = if before.is_some() {
            What::Modified
        } else {
            What::Added
        };
        let live = Live {
            uid: before.map_or(self.version, |live| live.uid),
            version: self.version,
            pod: Pod {
                node: format!("node-{node}"),
            },
        };
        self.pods.insert(name.to_owned(), live.clone());
        self.record(what, name, live);
    }

    fn delete(&mut self, name: &str) {
        if let Some(mut live) = self.pods.remove(name) {
            self.version += 1;
            live.version = self.version;
            self.record(What::Deleted, name, live);
        }
    }

    fn record(&mut self, what: What, name: &str, live: Live) {
        self.history.push(Event {
            what,
            name: name.to_owned(),
            live,
        });
    }
}

impl Event {
    fn watched(&self) -> Watched<Pod> {
        let decoded = Ok(decoded(&self.name, &self.live));
        match self.what {
            What::Added => Watched::Upsert(Cause::Added, decoded),
            What::Modified => Watched::Upsert(Cause::Modified, decoded),
            What::Deleted => Watched::Delete(decoded),
        }
    }
}

fn decoded(name: &str, live: &Live) -> Decoded<Pod> {
    Decoded {
        identity: Identity {
            namespace: Some("default".into()),
            name: name.into(),
            stamp: Stamp::new(&*live.version.to_string(), format!("uid-{}", live.uid)),
        },
        object: live.pod.clone(),
    }
}
