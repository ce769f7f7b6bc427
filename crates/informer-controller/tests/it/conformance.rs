//! The suites on ours, on foreign implementations, and on wrong ones.

use std::{convert::Infallible, sync::Arc};

use informer_controller::{
    BoxError, ForObject, ForOwner, GenerationChanged, InformerSource, LabelsMatch, Mapper, Predicate,
    PredicateExt, Source, SourceContext, Started, VersionChanged, channel,
    conformance::{MapperSuite, PredicateSuite, SourceSuite, Trigger},
    labels_changed, map_fn, new_object_fn, object_fn, source_fn, task_source, try_map_fn,
};
use informer_core::{Change, ObjectKey, Resource};
use tokio::sync::mpsc;

use crate::support::{Feed, Pod, PodChange, PodEntry, PodMeta, entry, settle};

fn states() -> Vec<PodEntry> {
    let owned = |app, owner, generation| Pod {
        generation: Some(generation),
        owners: vec![("apps/v1", "ReplicaSet", owner, true)],
        ..Pod::of(app)
    };
    vec![
        entry("ns/a", "1", owned("web", "one", 1)),
        entry("ns/a", "2", owned("web", "two", 1)),
        entry("ns/a", "3", owned("db", "two", 2)),
    ]
}

fn mapper<R: informer_controller::Request, M: Mapper<ObjectKey, Pod, R> + 'static>(
    name: &str,
    make: impl Fn() -> M + 'static,
) -> Vec<&'static str> {
    let report = MapperSuite::new(name, make).objects(states()).run();
    assert_eq!(report.checks().len(), 4);
    report.broken()
}

#[test]
fn mappers() {
    let sets = Resource::namespaced("apps", "v1", "replicasets", "ReplicaSet");
    let none: [&str; 0] = [];
    assert_eq!(mapper("object", || ForObject), none);
    assert_eq!(
        mapper("owner", move || ForOwner::new(&sets, PodMeta).unwrap()),
        none
    );
    assert_eq!(
        mapper("function", || map_fn(|it: &PodEntry| [it.object.app])),
        none
    );
    let fallible = || try_map_fn(|it: &PodEntry| Ok::<_, Infallible>([it.object.app]));
    assert_eq!(mapper("fallible", fallible), none);

    /// Foreign, and right.
    struct ByHand;

    impl Mapper<ObjectKey, Pod, String> for ByHand {
        fn map(&mut self, change: &PodChange, emit: &mut dyn FnMut(String)) -> Result<(), BoxError> {
            emit(change.entry().object.app.to_owned());
            if let Change::Updated { old, .. } = change {
                emit(old.object.app.to_owned());
            }
            Ok(())
        }
    }

    assert_eq!(mapper("by hand", || ByHand), none);

    /// Forgets where the object came from, and the end of it.
    struct Forgetful;

    impl Mapper<ObjectKey, Pod, String> for Forgetful {
        fn map(&mut self, change: &PodChange, emit: &mut dyn FnMut(String)) -> Result<(), BoxError> {
            if !matches!(change, Change::Removed { .. }) {
                emit(change.entry().object.app.to_owned());
            }
            Ok(())
        }
    }

    assert_eq!(
        mapper("forgetful", || Forgetful),
        [
            "an_update_names_those_of_both_states",
            "a_removal_names_what_the_object_was_about"
        ]
    );
}

fn predicate<P: Predicate<ObjectKey, Pod> + 'static>(
    name: &str,
    make: impl Fn() -> P + 'static,
) -> Vec<&'static str> {
    PredicateSuite::new(name, make).objects(states()).run().broken()
}

#[test]
fn predicates() {
    let none: [&str; 0] = [];
    let generation = || GenerationChanged::new(PodMeta).unwrap();
    assert_eq!(predicate("nothing", || ()), none);
    assert_eq!(predicate("generation", generation), none);
    assert_eq!(predicate("version", || VersionChanged), none);
    let labels = || LabelsMatch::new("app=web".parse().unwrap(), PodMeta).unwrap();
    assert_eq!(predicate("selector", labels), none);
    assert_eq!(predicate("labels", || labels_changed(|pod: &Pod| pod.app)), none);
    let web = |it: &PodEntry| it.object.app == "web";
    assert_eq!(predicate("function", move || object_fn(web)), none);
    assert_eq!(predicate("new", move || new_object_fn(web)), none);
    assert_eq!(
        predicate("or", move || generation().or(labels()).and(VersionChanged)),
        none
    );
    assert_eq!(predicate("not", move || labels().negated()), none);

    /// Wrong in each way: it counts, answers for itself, and drops the end.
    struct Moody(std::sync::atomic::AtomicUsize);

    impl Predicate<ObjectKey, Pod> for Moody {
        fn removed(&self, _: &PodEntry, _: bool) -> bool {
            false
        }

        fn admits(&self, _: &PodChange) -> bool {
            self.0
                .fetch_add(1, std::sync::atomic::Ordering::SeqCst)
                .is_multiple_of(3)
        }
    }

    assert_eq!(
        predicate("moody", || Moody(0.into())),
        [
            "the_same_change_has_the_same_answer",
            "each_kind_of_change_has_its_method",
            "removals_pass"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn sources() {
    let channels = || -> (Box<dyn Source<u32>>, Trigger) {
        let (requests, source) = channel("channel");
        let mut n = 0;
        let trigger = move || -> informer_core::BoxFuture<'static, ()> {
            n += 1;
            let requests = requests.clone();
            Box::pin(async move {
                let _ = requests.send(n).await;
            })
        };
        (Box::new(source), Box::new(trigger))
    };
    SourceSuite::new("channel", channels)
        .run()
        .await
        .assert_conforms();

    let informers = || -> (Box<dyn Source<ObjectKey>>, Trigger) {
        let (feed, pods) = Feed::informer();
        let running = pods.spawn().unwrap();
        feed.list(&["ns/a", "ns/b"]);
        let mut n = 10;
        let trigger = move || -> informer_core::BoxFuture<'static, ()> {
            n += 1;
            assert!(!running.informer().is_stopped());
            feed.upsert(&format!("ns/{n}"), &n.to_string());
            Box::pin(settle())
        };
        (Box::new(InformerSource::new(&pods, ForObject)), Box::new(trigger))
    };
    let suite = SourceSuite::new("informer", informers).initial(2);
    suite.run().await.assert_conforms();

    // Functions, as a foreign source would be; and one that goes on after its end.
    let tasks = |stubborn: bool| {
        move || -> (Box<dyn Source<u32>>, Trigger) {
            let (sender, mut receiver) = mpsc::unbounded_channel();
            let trigger = move || -> informer_core::BoxFuture<'static, ()> {
                let _ = sender.send(1);
                Box::pin(settle())
            };
            if !stubborn {
                let source = task_source("task", |context: SourceContext<u32>| async move {
                    while let Some(request) = receiver.recv().await {
                        context.enqueue(request);
                    }
                });
                return (Box::new(source), Box::new(trigger));
            }
            let source = source_fn("stubborn", |context: SourceContext<u32>| {
                #[expect(clippy::disallowed_methods, reason = "what it does wrong")]
                tokio::spawn(async move {
                    while let Some(request) = receiver.recv().await {
                        context.enqueue(request);
                    }
                });
                Ok(Started::in_sync())
            });
            (Box::new(source), Box::new(trigger))
        }
    };
    SourceSuite::new("task", tasks(false))
        .run()
        .await
        .assert_conforms();
    let report = SourceSuite::new("stubborn", tasks(true)).run().await;
    assert_eq!(report.broken(), ["it_ends_when_it_is_dropped"]);

    // One that is in sync before it has anything, and has no name.
    struct Hasty;

    impl Source<u32> for Hasty {
        fn name(&self) -> Arc<str> {
            "".into()
        }

        fn start(self: Box<Self>, _: SourceContext<u32>) -> Result<Started, BoxError> {
            Ok(Started::in_sync())
        }
    }

    let hasty = || -> (Box<dyn Source<u32>>, Trigger) { (Box::new(Hasty), Box::new(|| Box::pin(async {}))) };
    let report = SourceSuite::new("hasty", hasty).initial(1).run().await;
    assert_eq!(
        report.broken(),
        [
            "it_has_a_name",
            "it_is_in_sync_once_its_initial_requests_are_in_the_queue",
            "requests_reach_the_queue"
        ]
    );
}
