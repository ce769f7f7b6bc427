//! The ten predicates of controller-runtime, one table: kind of change, old and new.

use informer_controller::{
    GenerationChanged, LabelsMatch, Predicate, PredicateExt, PredicateFns, VersionChanged,
    annotations_changed, changed, labels_changed, new_object_fn, object_fn,
};
use informer_core::ObjectKey;

use crate::support::{Pod, PodChange, PodEntry, PodMeta, entry};

fn pod(app: &'static str, generation: i64) -> Pod {
    Pod {
        generation: Some(generation),
        ..Pod::of(app)
    }
}

/// A change of each kind, from an object of `old` to one of `new`.
fn changes(old: (&'static str, i64, &str), new: (&'static str, i64, &str)) -> [PodChange; 4] {
    let old = || entry("ns/x", old.2, pod(old.0, old.1));
    let new = || entry("ns/x", new.2, pod(new.0, new.1));
    [
        PodChange::Added {
            new: new(),
            initial: false,
        },
        PodChange::Updated {
            old: old(),
            new: new(),
        },
        PodChange::Removed {
            last: new(),
            observed: true,
        },
        PodChange::Resynced { current: new() },
    ]
}

fn answers(predicate: &dyn Predicate<ObjectKey, Pod>, changes: &[PodChange; 4]) -> [bool; 4] {
    std::array::from_fn(|n| predicate.admits(&changes[n]))
}

#[test]
fn each_of_the_ten_answers_by_kind_old_and_new() {
    let same = changes(("web", 1, "1"), ("web", 1, "1"));
    let status = changes(("web", 1, "1"), ("web", 1, "2"));
    let spec = changes(("web", 1, "1"), ("web", 2, "2"));
    let leaves = changes(("web", 1, "1"), ("db", 1, "2"));
    let enters = changes(("db", 1, "1"), ("web", 1, "2"));
    let out = changes(("db", 1, "1"), ("db", 1, "2"));

    let all = [true; 4];
    let quiet = [true, false, true, false];
    let changing = [true, true, true, false];

    // 1. Functions: nothing said passes.
    let functions: PredicateFns<ObjectKey, Pod> = PredicateFns::new()
        .added(|_, initial| initial)
        .removed(|_, observed| !observed);
    assert_eq!(answers(&functions, &same), [false, true, false, true]);
    assert_eq!(answers(&PredicateFns::default(), &same), all);
    let functions: PredicateFns<ObjectKey, Pod> = PredicateFns::new()
        .updated(|old, new| old.stamp.version != new.stamp.version)
        .resynced(|_| false);
    assert_eq!(answers(&functions, &same), quiet);
    assert_eq!(answers(&functions, &status), changing);

    // 2. A function of the object: of the new state, as upstream, or of both.
    let new_only = new_object_fn(|entry: &PodEntry| entry.object.app == "web");
    let either = object_fn(|entry: &PodEntry| entry.object.app == "web");
    assert_eq!(answers(&new_only, &leaves), [false, false, true, false]);
    assert_eq!(answers(&either, &leaves), [false, true, true, false]);
    assert_eq!(answers(&new_only, &enters), all);
    assert_eq!(answers(&either, &out), [false, false, true, false]);

    // 3. Version. 4. Generation.
    assert_eq!(answers(&VersionChanged, &same), quiet);
    assert_eq!(answers(&VersionChanged, &status), changing);
    let generation = GenerationChanged::new(PodMeta).unwrap();
    assert_eq!(answers(&generation, &status), quiet);
    assert_eq!(answers(&generation, &spec), changing);

    // 5. Annotations. 6. Labels. Any other part goes the same way.
    let labels = labels_changed(|pod: &Pod| pod.app);
    assert_eq!(answers(&labels, &spec), quiet);
    assert_eq!(answers(&labels, &leaves), changing);
    let annotations = annotations_changed(|pod: &Pod| &pod.owners);
    assert_eq!(answers(&annotations, &leaves), quiet);
    let part = changed(|pod: &Pod| &pod.generation);
    assert_eq!(answers(&part, &spec), changing);

    // 7. A label selector.
    let selector = LabelsMatch::new("app in (web, api)".parse().unwrap(), PodMeta).unwrap();
    assert_eq!(answers(&selector, &enters), all);
    assert_eq!(answers(&selector, &leaves), [false, true, true, false]);
    assert_eq!(answers(&selector, &out), [false, false, true, false]);

    // 8. And. 9. Or. 10. Not, which leaves removals alone.
    let generation = || GenerationChanged::new(PodMeta).unwrap();
    let labels = || labels_changed(|pod: &Pod| pod.app);
    assert_eq!(answers(&generation().or(labels()), &leaves), changing);
    assert_eq!(answers(&generation().and(labels()), &leaves), quiet);
    assert_eq!(
        answers(&generation().negated(), &spec),
        [false, false, true, true]
    );
    assert_eq!(answers(&part.and(VersionChanged), &spec), changing);
    let fns = || PredicateFns::<ObjectKey, Pod>::new().removed(|_, _| false);
    assert!(
        !fns().and(VersionChanged).admits(&same[2]),
        "a predicate on removals refuses one"
    );
    assert!(fns().or(new_object_fn(|_: &PodEntry| false)).admits(&same[2]));
}

/// controller-runtime's tombstones: a removal that nobody saw carries the last known state, and passes.
#[test]
fn t62_a_removal_that_nobody_saw_passes_and_carries_the_last_state() {
    let last = entry("ns/x", "7", pod("web", 1));
    let change = PodChange::Removed {
        last,
        observed: false,
    };
    let selector = LabelsMatch::new("app=db".parse().unwrap(), PodMeta).unwrap();
    assert!(selector.admits(&change) && VersionChanged.admits(&change));
    assert_eq!(change.entry().stamp.version.as_str(), "7");
}

/// CF-03: another object of the same name and generation. The store tells the end of one and the beginning of the other, and neither is
/// dropped by a predicate on generations.
#[test]
fn cf_03_another_uid_of_the_same_generation_passes() {
    let predicate = GenerationChanged::new(PodMeta).unwrap();
    let removed = PodChange::Removed {
        last: entry("ns/a", "5", pod("web", 1)),
        observed: false,
    };
    let added = PodChange::Added {
        new: entry("ns/a", "9", pod("web", 1)),
        initial: false,
    };
    assert!(predicate.admits(&removed) && predicate.admits(&added));
}
