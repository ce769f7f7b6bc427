//! What is told to those who count, and under which names.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use informer_core::{Change, Resource, ResourceVersion};
use informer_sharedinformer::{
    Factory, HandlerOptions, InformerId, Metrics, MetricsProvider, MetricsRegistry, SharedInformer,
};

use crate::support::{BOTH, Informer, Pod, Tap, idle, pass, pod};

/// The last value of each gauge, and the sum of each counter.
#[derive(Clone, Default)]
struct Numbers(Arc<Mutex<BTreeMap<String, u64>>>);

impl Numbers {
    fn set(&self, name: &str, value: usize) {
        self.0.lock().unwrap().insert(name.to_owned(), value as u64);
    }

    fn add(&self, name: &str, value: u64) {
        *self.0.lock().unwrap().entry(name.to_owned()).or_default() += value;
    }

    fn get(&self, name: &str) -> u64 {
        self.0.lock().unwrap().get(name).copied().unwrap_or_default()
    }
}

impl Metrics for Numbers {
    fn queued(&self, deltas: usize) {
        self.set("queued", deltas);
    }

    fn processed(&self, deltas: usize, _: Duration) {
        self.add("processed", deltas as u64);
        self.add("commits", 1);
    }

    fn stored(&self, objects: usize, applied: &ResourceVersion) {
        self.set("stored", objects);
        self.set("applied", applied.as_str().parse().unwrap());
    }

    fn refused(&self, objects: usize) {
        self.set("refused", objects);
    }

    fn backlog(&self, handler: &str, waiting: usize, merged: u64) {
        self.set(&format!("backlog of {handler}"), waiting);
        self.0
            .lock()
            .unwrap()
            .insert(format!("merged of {handler}"), merged);
    }

    fn called(&self, handler: &str, took: Duration, panicked: bool) {
        self.add(&format!("calls of {handler}"), 1);
        self.add(&format!("panics of {handler}"), u64::from(panicked));
        self.add(&format!("milliseconds of {handler}"), took.as_millis() as u64);
    }

    fn gone(&self, handler: &str) {
        self.add(&format!("ends of {handler}"), 1);
    }

    fn stopped(&self) {
        self.add("stops", 1);
    }
}

struct One(Numbers);

impl MetricsProvider for One {
    fn informer(&self, _: &InformerId) -> Box<dyn Metrics> {
        Box::new(self.0.clone())
    }
}

fn pods() -> InformerId {
    InformerId::new("cache", Resource::namespaced("", "v1", "pods", "Pod"))
}

fn measured(registry: &MetricsRegistry, id: InformerId) -> Result<(Tap, Informer), String> {
    let tap = Tap::default();
    let informer = SharedInformer::fed_by(tap.clone())
        .metrics(registry, id)
        .queue(BOTH[0]())
        .index("node", |pod: &Pod, emit: &mut dyn FnMut(&str)| {
            assert_ne!(pod.version, 13, "no luck");
            emit(&pod.node);
        })
        .build()
        .map_err(|error| error.to_string())?;
    Ok((tap, informer))
}

#[tokio::test(start_paused = true)]
async fn queue_store_and_listeners_are_counted() {
    let numbers = Numbers::default();
    let registry = MetricsRegistry::new(One(numbers.clone()));
    let (tap, informer) = measured(&registry, pods()).unwrap();
    let slow = |change: Change<informer_core::ObjectKey, Pod>| async move {
        pass(Duration::from_millis(100)).await;
        assert_ne!(change.key().name(), "b");
    };
    let handler = informer
        .add_async_handler(slow, HandlerOptions::named("slow"))
        .unwrap();
    tap.list([pod("ns/a", 1), pod("ns/b", 2)], 2);
    tap.modify(pod("ns/c", 13));
    assert_eq!(numbers.get("queued"), 2);
    let running = informer.spawn().unwrap();
    idle().await;
    let expected = [
        ("queued", 0),
        ("processed", 2),
        ("stored", 2),
        ("applied", 2),
        ("refused", 1),
    ];
    for (name, value) in expected {
        assert_eq!(numbers.get(name), value, "{name}");
    }
    assert_eq!(
        (numbers.get("backlog of slow"), numbers.get("calls of slow")),
        (1, 0)
    );
    handler.synced().await.unwrap();
    let expected = [
        ("backlog of slow", 0),
        ("calls of slow", 2),
        ("panics of slow", 1),
        ("milliseconds of slow", 200),
        ("ends of slow", 0),
    ];
    for (name, value) in expected {
        assert_eq!(numbers.get(name), value, "{name}");
    }
    handler.remove();
    handler.removed().await;
    assert_eq!(numbers.get("ends of slow"), 1);
    running.stop().await;
    informer.stop();
    assert_eq!(numbers.get("stops"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_name_is_taken_until_its_informer_stops() {
    let registry = MetricsRegistry::new(One(Numbers::default()));
    let (_, first) = measured(&registry, pods()).unwrap();
    let second = measured(&registry, pods()).map(drop).unwrap_err();
    assert_eq!(
        second,
        r#"informer "informer": another informer is measured as "cache: pods""#
    );
    // Another part of the same kind, another name, another registry.
    measured(&registry, pods().part("in ns")).map(drop).unwrap();
    let mut other = pods();
    other.name = "other".into();
    measured(&registry, other).map(drop).unwrap();
    measured(&MetricsRegistry::new(One(Numbers::default())), pods())
        .map(drop)
        .unwrap();
    first.stop();
    let (_, third) = measured(&registry, pods()).unwrap();
    // Its name is its own, though the first is still held.
    first.stop();
    assert!(measured(&registry, pods()).is_err());
    drop(third);
    measured(&registry, pods()).map(drop).unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_reflector_of_a_measured_informer_is_measured() {
    #[derive(Clone, Default)]
    struct Lists(Arc<Mutex<Vec<usize>>>);

    impl informer_reflector::Metrics for Lists {
        fn list_ended(&self, _: Duration, objects: usize) {
            self.0.lock().unwrap().push(objects);
        }
    }

    impl MetricsProvider for Lists {
        fn informer(&self, _: &InformerId) -> Box<dyn Metrics> {
            Box::new(())
        }

        fn reflector(&self, _: &InformerId) -> Option<Arc<dyn informer_reflector::Metrics>> {
            Some(Arc::new(self.clone()))
        }
    }

    let lists = Lists::default();
    let registry = MetricsRegistry::new(lists.clone());
    let source = crate::factory::Cluster::default().source(
        &crate::factory::pods(),
        Pod {
            node: "n".into(),
            version: 1,
        },
    );
    let informer = SharedInformer::builder(source)
        .metrics(&registry, pods())
        .build()
        .unwrap();
    let running = informer.spawn().unwrap();
    informer.synced().await.unwrap();
    assert_eq!(*lists.0.lock().unwrap(), [1]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_informers_of_a_factory_are_measured_under_its_name() {
    #[derive(Clone, Default)]
    struct Ids(Arc<Mutex<Vec<String>>>);

    impl MetricsProvider for Ids {
        fn informer(&self, id: &InformerId) -> Box<dyn Metrics> {
            self.0.lock().unwrap().push(id.to_string());
            Box::new(())
        }
    }

    let ids = Ids::default();
    let registry = MetricsRegistry::new(ids.clone());
    let factory = |name: &str| {
        Factory::builder(crate::factory::Cluster::default())
            .metrics(&registry, name)
            .build()
    };
    let (one, other) = (factory("one"), factory("one"));
    let pods = crate::factory::pods;
    let all = one.informer::<Pod>(&pods()).unwrap();
    let _text = one.informer::<String>(&pods()).unwrap();
    let _part = one
        .informer::<Pod>(&pods().namespace("ns").labels("a=b"))
        .unwrap();
    let told = ["one: pods", "one: pods #2", "one: pods in ns with a=b"];
    assert_eq!(*ids.0.lock().unwrap(), told);
    let refused = other.informer::<Pod>(&pods()).unwrap_err().to_string();
    assert!(
        refused.contains(r#"another informer is measured as "one: pods""#),
        "{refused}"
    );
    drop(all);
    let _all = other.informer::<Pod>(&pods()).unwrap();
    factory("two").informer::<Pod>(&pods()).unwrap();
}
