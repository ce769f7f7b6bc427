//! Tests of the ledger: each rule against views that are made up.

use std::collections::BTreeMap;

use super::*;

#[derive(Default)]
struct View {
    objects: BTreeMap<ObjectKey, Stamp>,
    applied: BTreeMap<String, ResourceVersion>,
}

impl Look for View {
    fn stamp(&self, key: &ObjectKey) -> Option<&Stamp> {
        self.objects.get(key)
    }

    fn applied(&self, namespace: Option<&str>) -> Option<&ResourceVersion> {
        self.applied.get(namespace.unwrap_or_default())
    }
}

fn view(applied: &str, objects: &[(&str, &str, &str)]) -> View {
    let stamps = objects
        .iter()
        .map(|&(name, version, uid)| (key(name), Stamp::new(version, uid)));
    View {
        objects: stamps.collect(),
        applied: [("ns".to_owned(), applied.into())].into(),
    }
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced("ns", name)
}

fn reached(name: &str, version: &str, uid: &str, selected: Selected) -> Fact {
    Fact::Reached {
        key: key(name),
        stamp: Stamp::new(version, uid),
        selected,
    }
}

fn gone(name: &str, uid: &str) -> Fact {
    Fact::Gone {
        key: key(name),
        uid: uid.into(),
        alive: None,
    }
}

fn wrote(ledger: &mut Ledger, fact: Fact) {
    let id = ledger.begin(About::Key(key("a")));
    ledger.end(id, vec![fact]);
}

fn is_shown(ledger: &Ledger, view: &View) -> bool {
    let one = ledger.check(&About::Key(key("a")), view);
    assert_eq!(
        one,
        ledger.check(&About::All, view),
        "a get and a list agree about one object"
    );
    one == Verdict::Shown
}

#[test]
fn a_write_is_shown_by_the_object_or_by_the_version_that_is_followed() {
    let mut ledger = Ledger::default();
    wrote(&mut ledger, reached("a", "10", "u", Selected::Yes));
    assert!(!is_shown(&ledger, &view("9", &[])));
    assert!(!is_shown(&ledger, &view("9", &[("a", "9", "u")])));
    assert!(is_shown(&ledger, &view("9", &[("a", "10", "u")])));
    assert!(is_shown(&ledger, &view("9", &[("a", "11", "other")])));
    assert!(is_shown(&ledger, &view("10", &[])));
    assert!(is_shown(&ledger, &view("100", &[("a", "9", "u")])));
    // Another key is none of its business.
    assert_eq!(
        ledger.check(&About::Key(key("b")), &view("9", &[])),
        Verdict::Shown
    );
    assert_eq!(
        ledger.check(&About::Namespace("other".to_owned()), &view("9", &[])),
        Verdict::Shown
    );
    assert_eq!(ledger.check(&About::All, &View::default()), Verdict::Shown);
}

#[test]
fn an_object_outside_the_selector_is_shown_by_its_absence() {
    let mut ledger = Ledger::default();
    wrote(&mut ledger, reached("a", "10", "u", Selected::No));
    assert!(is_shown(&ledger, &view("5", &[])));
    assert!(!is_shown(&ledger, &view("8", &[("a", "8", "u")])));
    // It is kept until no older state can come any more.
    ledger.forget_shown(&About::Key(key("a")), &view("5", &[]));
    assert_eq!(ledger.len(), 1);
    ledger.forget_shown(&About::Key(key("a")), &view("10", &[]));
    assert_eq!(ledger.len(), 0);
    wrote(&mut ledger, reached("a", "20", "u", Selected::Unknown));
    assert!(!is_shown(&ledger, &view("19", &[])) && is_shown(&ledger, &view("20", &[])));
}

#[test]
fn a_delete_is_shown_by_the_absence_of_the_uid() {
    let mut ledger = Ledger::default();
    wrote(&mut ledger, gone("a", "u"));
    assert!(!is_shown(&ledger, &view("9", &[("a", "9", "u")])));
    assert!(is_shown(&ledger, &view("9", &[])));
    assert!(is_shown(&ledger, &view("9", &[("a", "9", "another")])));
    // Nothing says at which version it ended: its creation may yet come.
    ledger.prune(&view("9", &[]));
    assert_eq!(ledger.len(), 1);
    // A later write dates it.
    let mut other = reached("b", "30", "x", Selected::Yes);
    let id = ledger.begin(About::Key(key("b")));
    ledger.end(id, vec![other.clone()]);
    ledger.prune(&view("30", &[]));
    assert_eq!(ledger.len(), 0);
    // One that began before it ended does not.
    let early = ledger.begin(About::Key(key("b")));
    wrote(&mut ledger, gone("a", "v"));
    if let Fact::Reached { stamp, .. } = &mut other {
        *stamp = Stamp::new("40", "x");
    }
    ledger.end(early, vec![other]);
    ledger.prune(&view("40", &[]));
    assert_eq!(ledger.len(), 1);
}

#[test]
fn a_delete_of_an_own_object_is_over_once_the_object_must_have_been_there() {
    let mut ledger = Ledger::default();
    wrote(&mut ledger, reached("a", "10", "u", Selected::Yes));
    wrote(&mut ledger, gone("a", "u"));
    // The creation is not waited for: the object is gone.
    assert!(is_shown(&ledger, &view("5", &[])));
    assert!(!is_shown(&ledger, &view("10", &[("a", "10", "u")])));
    ledger.prune(&view("5", &[]));
    assert_eq!(ledger.len(), 2);
    ledger.prune(&view("11", &[]));
    assert_eq!(ledger.len(), 0);
}

#[test]
fn t43_a_new_incarnation_is_waited_for_and_the_old_one_waited_out() {
    let (first, second) = (gone("a", "u1"), reached("a", "12", "u2", Selected::Yes));
    for order in [[first.clone(), second.clone()], [second, first]] {
        let mut ledger = Ledger::default();
        order.into_iter().for_each(|fact| wrote(&mut ledger, fact));
        assert!(!is_shown(&ledger, &view("10", &[("a", "10", "u1")])));
        assert!(!is_shown(&ledger, &view("11", &[])));
        assert!(is_shown(&ledger, &view("12", &[("a", "12", "u2")])));
        assert!(is_shown(&ledger, &view("13", &[("a", "13", "u3")])));
    }
}

#[test]
fn what_a_delete_of_many_was_about_is_gone_or_later() {
    let mut ledger = Ledger::default();
    let stamp = Stamp::new("7", "u");
    wrote(&mut ledger, Fact::Past { key: key("a"), stamp });
    assert!(!is_shown(&ledger, &view("7", &[("a", "7", "u")])));
    assert!(!is_shown(&ledger, &view("7", &[("a", "6", "u")])));
    assert!(is_shown(&ledger, &view("8", &[("a", "8", "u")])));
    assert!(is_shown(&ledger, &view("8", &[("a", "8", "other")])));
    assert!(is_shown(&ledger, &view("6", &[])));
    ledger.prune(&view("6", &[]));
    assert_eq!(ledger.len(), 1);
    ledger.prune(&view("8", &[("a", "8", "u")]));
    assert_eq!(ledger.len(), 0);
}

#[test]
fn versions_without_an_order_are_said_to_have_none() {
    let mut ledger = Ledger::default();
    wrote(&mut ledger, reached("a", "x", "u", Selected::Yes));
    let check = |view: &View| ledger.check(&About::All, view);
    assert_eq!(check(&view("w", &[("a", "x", "u")])), Verdict::Shown);
    assert_eq!(check(&view("x", &[])), Verdict::Shown);
    let what = "ns/a at version x".to_owned();
    assert_eq!(check(&view("w", &[("a", "v", "u")])), Verdict::Incomparable(what));
}

#[test]
fn t42_a_read_waits_for_the_writes_before_it_and_no_later_ones() {
    let mut ledger = Ledger::default();
    let first = ledger.begin(About::Key(key("a")));
    let boundary = ledger.boundary();
    let second = ledger.begin(About::Key(key("a")));
    let third = ledger.begin(About::Key(key("b")));
    let (a, b) = (About::Key(key("a")), About::Key(key("b")));
    assert!(ledger.busy(boundary, &a).is_some() && ledger.busy(boundary, &b).is_none());
    assert!(
        ledger
            .busy(boundary, &About::Namespace("ns".to_owned()))
            .is_some()
    );
    assert!(
        ledger
            .busy(boundary, &About::Namespace("other".to_owned()))
            .is_none()
    );
    ledger.end(first, Vec::new());
    assert!(ledger.busy(boundary, &About::All).is_none());
    assert!(ledger.busy(ledger.boundary(), &b).is_some());
    ledger.end(second, Vec::new());
    ledger.end(third, Vec::new());
    assert!(ledger.busy(ledger.boundary(), &About::All).is_none());
}

#[test]
fn memory_is_bounded_whatever_is_written_and_never_shown() {
    let mut ledger = Ledger::default();
    for n in 1..=50_000_u32 {
        let name = format!("a{n}");
        wrote(&mut ledger, reached(&name, &n.to_string(), "u", Selected::Yes));
        assert!(ledger.len() <= LIMIT + 1);
    }
    // What does not fit any more is waited for as a whole.
    let about = About::Key(key("a1"));
    assert!(matches!(
        ledger.check(&about, &view("40000", &[])),
        Verdict::Missing(_)
    ));
    assert_eq!(ledger.check(&about, &view("50000", &[])), Verdict::Shown);
    let mut other = view("1", &[]);
    other.applied.insert("other".to_owned(), "1".into());
    assert_eq!(
        ledger.check(&About::Namespace("other".to_owned()), &other),
        Verdict::Shown
    );
    ledger.forget_shown(&About::All, &view("50000", &[]));
    assert_eq!(ledger.len(), 0);
    for n in 0..50_000_u32 {
        wrote(&mut ledger, gone(&format!("a{n}"), &format!("u{n}")));
        assert!(ledger.len() <= LIMIT + 1);
    }
    // The latest are remembered.
    let last = view("1", &[("a49999", "1", "u49999")]);
    assert!(matches!(ledger.check(&About::All, &last), Verdict::Missing(_)));
    let id = ledger.begin(About::All);
    let many = |n: u32| Fact::Past {
        key: key(&format!("b{n}")),
        stamp: Stamp::new("1", "u"),
    };
    ledger.end(id, (0..30_000).map(many).collect());
    assert!(ledger.len() <= LIMIT);
}
