//! Mappers and predicates on single changes.

use informer_controller::{
    ForObject, ForOwner, GenerationChanged, LabelsMatch, Mapper, Predicate, PredicateExt, VersionChanged,
    map_fn, object_fn,
};
use informer_core::{ObjectKey, Resource};

use crate::support::{Blind, Pod, PodChange, PodEntry, PodMeta, entry, key};

fn updated(old: Pod, new: Pod) -> PodChange {
    PodChange::Updated {
        old: entry("ns/x", "1", old),
        new: entry("ns/x", "2", new),
    }
}

fn added(pod: Pod) -> PodChange {
    PodChange::Added {
        new: entry("ns/x", "1", pod),
        initial: false,
    }
}

fn removed(pod: Pod) -> PodChange {
    PodChange::Removed {
        last: entry("ns/x", "1", pod),
        observed: false,
    }
}

fn resynced(pod: Pod) -> PodChange {
    PodChange::Resynced {
        current: entry("ns/x", "1", pod),
    }
}

fn map<R>(mut mapper: impl Mapper<ObjectKey, Pod, R>, change: &PodChange) -> Vec<R> {
    let mut requests = Vec::new();
    mapper.map(change, &mut |request| requests.push(request)).unwrap();
    requests
}

#[test]
fn t61_for_object_names_the_key_of_every_kind_of_change() {
    for change in [
        added(Pod::of("")),
        removed(Pod::of("")),
        resynced(Pod::of("")),
        updated(Pod::of(""), Pod::of("")),
    ] {
        assert_eq!(map(ForObject, &change), [key("ns/x")]);
    }
}

#[test]
fn t60_a_function_is_asked_of_old_and_new_without_doubles() {
    let apps = || map_fn(|entry: &PodEntry| [entry.object.app, "always"]);
    assert_eq!(map(apps(), &added(Pod::of("web"))), ["web", "always"]);
    assert_eq!(map(apps(), &removed(Pod::of("web"))), ["web", "always"]);
    assert_eq!(
        map(apps(), &updated(Pod::of("old"), Pod::of("new"))),
        ["new", "old", "always"]
    );
}

#[test]
fn t59_owners_of_old_and_new_are_found_by_group_and_kind() {
    let owned = |name, controller| {
        let mut pod = Pod::of("web");
        pod.owners = vec![
            ("apps/v1", "ReplicaSet", name, controller),
            ("apps/v1beta1", "ReplicaSet", "second", false),
            ("other/v1", "ReplicaSet", "foreign", true),
            ("v1", "ReplicaSet", "core", true),
            ("apps/v1", "Deployment", "above", true),
        ];
        pod
    };
    let sets = Resource::namespaced("apps", "v1", "replicasets", "ReplicaSet");
    let owner = || ForOwner::new(&sets, PodMeta).unwrap();
    assert_eq!(map(owner(), &added(owned("set", true))), [key("ns/set")]);
    assert_eq!(map(owner(), &added(owned("set", false))), [] as [ObjectKey; 0]);
    assert_eq!(
        map(owner().every_owner(), &removed(owned("set", false))),
        [key("ns/set"), key("ns/second")]
    );
    // Old and new.
    assert_eq!(
        map(owner(), &updated(owned("one", true), owned("two", true))),
        [key("ns/one"), key("ns/two")]
    );
    // An owner of a cluster-wide kind has no namespace; the core group is empty.
    let nodes = Resource::cluster("", "v1", "replicasets", "ReplicaSet");
    let owner = ForOwner::new(&nodes, PodMeta).unwrap();
    assert_eq!(map(owner, &added(owned("set", true))), [key("core")]);

    let error = ForOwner::new(&sets, Blind).unwrap_err();
    assert_eq!(
        error.to_string(),
        "mapping to owners needs the owner references of the object, which this form of object does not hold"
    );
}

fn of_generation(generation: Option<i64>) -> Pod {
    let mut pod = Pod::of("web");
    pod.generation = generation;
    pod
}

#[test]
fn generation_changed_drops_only_updates_and_resyncs() {
    let predicate = GenerationChanged::new(PodMeta).unwrap();
    let passes = |old, new| predicate.admits(&updated(of_generation(old), of_generation(new)));
    assert!(!passes(Some(1), Some(1)));
    assert!(passes(Some(1), Some(2)));
    assert!(passes(None, None));
    assert!(predicate.admits(&added(Pod::of(""))) && predicate.admits(&removed(Pod::of(""))));
    assert!(!predicate.admits(&resynced(Pod::of(""))));
    assert!(GenerationChanged::new(Blind).is_err());
}

#[test]
fn version_changed_looks_at_versions() {
    assert!(VersionChanged.admits(&updated(Pod::of(""), Pod::of(""))));
    let same = PodChange::Updated {
        old: entry("ns/x", "1", Pod::of("")),
        new: entry("ns/x", "1", Pod::of("")),
    };
    assert!(!VersionChanged.admits(&same));
    assert!(!VersionChanged.admits(&resynced(Pod::of(""))));
    assert!(VersionChanged.admits(&removed(Pod::of(""))));
}

/// Leaving the selection is a change, and a removal always passes: else nobody would hear of the end.
#[test]
fn selections_let_go_of_what_leaves() {
    let labels = LabelsMatch::new("app=web".parse().unwrap(), PodMeta).unwrap();
    let function = object_fn(|entry: &PodEntry| entry.object.app == "web");
    let both: [&dyn Predicate<ObjectKey, Pod>; 2] = [&labels, &function];
    for predicate in both {
        assert!(predicate.admits(&added(Pod::of("web"))));
        assert!(!predicate.admits(&added(Pod::of("db"))));
        assert!(predicate.admits(&updated(Pod::of("web"), Pod::of("db"))));
        assert!(predicate.admits(&updated(Pod::of("db"), Pod::of("web"))));
        assert!(!predicate.admits(&updated(Pod::of("db"), Pod::of("db"))));
        assert!(predicate.admits(&removed(Pod::of("db"))));
        assert!(!predicate.admits(&resynced(Pod::of("db"))));
    }
    assert!(LabelsMatch::new("app=web".parse().unwrap(), Blind).is_err());
}

#[test]
fn predicates_combine() {
    struct NoRemovals;

    impl Predicate<ObjectKey, Pod> for NoRemovals {
        fn removed(&self, _: &PodEntry, _: bool) -> bool {
            false
        }
    }

    let web = || object_fn(|entry: &PodEntry| entry.object.app == "web");
    let old = || object_fn(|entry: &PodEntry| entry.object.generation == Some(1));
    let pod = |app, generation| {
        let mut pod = Pod::of(app);
        pod.generation = Some(generation);
        added(pod)
    };
    let both = web().and(old());
    let either = web().or(old());
    let neither = web().or(old()).negated();
    let table = [
        ("web", 1, true, true),
        ("web", 2, false, true),
        ("db", 1, false, true),
        ("db", 2, false, false),
    ];
    for (app, generation, and, or) in table {
        let change = pod(app, generation);
        assert_eq!(
            (
                both.admits(&change),
                either.admits(&change),
                neither.admits(&change)
            ),
            (and, or, !or)
        );
    }
    assert!(neither.admits(&removed(Pod::of("web"))));
    assert!(!web().and(NoRemovals).admits(&removed(Pod::of("web"))));
    assert!(web().or(NoRemovals).admits(&removed(Pod::of("web"))));
    let boxed: Box<dyn Predicate<ObjectKey, Pod>> = Box::new(NoRemovals);
    assert!(!boxed.admits(&removed(Pod::of("web"))) && ().admits(&removed(Pod::of("web"))));
}
