//! A world that is no API server: a map, and news of it to whoever listens.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use informer_core::{Decoded, Identity, Stamp};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::{Lamp, story::World};

/// Lamps in a map. Clones are the same lamps.
#[derive(Debug, Clone, Default)]
pub struct Memory(Arc<Mutex<Lamps>>);

#[derive(Debug, Default)]
struct Lamps {
    version: u64,
    lamps: BTreeMap<String, (Stamp, Lamp)>,
    listeners: Vec<UnboundedSender<News>>,
}

/// What happened to a lamp.
#[derive(Debug, Clone)]
pub enum News {
    /// It is now so.
    Set(Decoded<Lamp>),
    /// It is gone; this was its last state.
    Removed(Decoded<Lamp>),
}

impl Memory {
    /// All lamps, their version, and the news from then on. They end when the world fails.
    #[must_use]
    pub fn listen(&self) -> (Vec<Decoded<Lamp>>, u64, UnboundedReceiver<News>) {
        let mut world = self.lock();
        let (told, news) = unbounded_channel();
        world.listeners.push(told);
        let all = world.lamps.values().map(|(stamp, lamp)| decoded(stamp, lamp));
        (all.collect(), world.version, news)
    }

    fn lock(&self) -> MutexGuard<'_, Lamps> {
        self.0.lock().unwrap()
    }
}

impl Lamps {
    fn tell(&mut self, news: &News) {
        self.listeners
            .retain(|listener| listener.send(news.clone()).is_ok());
    }
}

fn decoded(stamp: &Stamp, lamp: &Lamp) -> Decoded<Lamp> {
    Decoded {
        identity: Identity {
            namespace: Some("home".into()),
            name: lamp.metadata.name.as_str().into(),
            stamp: stamp.clone(),
        },
        object: lamp.clone(),
    }
}

impl World for Memory {
    fn set(&self, name: &str, state: &str) {
        let mut world = self.lock();
        world.version += 1;
        let version = world.version.to_string();
        let uid = match world.lamps.get(name) {
            Some((stamp, _)) => stamp.uid.clone(),
            None => format!("uid-{version}").into(),
        };
        let (stamp, lamp) = (Stamp::new(&*version, uid), Lamp::new(name, state));
        let news = News::Set(decoded(&stamp, &lamp));
        world.lamps.insert(name.to_owned(), (stamp, lamp));
        world.tell(&news);
    }

    fn remove(&self, name: &str) {
        let mut world = self.lock();
        world.version += 1;
        let (mut stamp, lamp) = world.lamps.remove(name).unwrap();
        stamp.version = (&*world.version.to_string()).into();
        let news = News::Removed(decoded(&stamp, &lamp));
        world.tell(&news);
    }

    fn fail(&self, meanwhile: &dyn Fn(&Self)) {
        self.lock().listeners.clear();
        meanwhile(self);
    }

    fn lamps(&self) -> BTreeMap<String, String> {
        let world = self.lock();
        let states = world.lamps.values();
        states
            .map(|(_, lamp)| (lamp.metadata.name.clone(), lamp.data.state.clone()))
            .collect()
    }
}
