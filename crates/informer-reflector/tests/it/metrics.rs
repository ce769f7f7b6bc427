//! What is told to those who count.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use informer_core::{FailureClass, ResourceVersion};
use informer_reflector::{Metrics, Problem, is_short};

use crate::rig::{
    Answer, Rig, Step, added, bookmark, deleted, end, error, expired, initial_end, item, page, whole,
};

/// Writes down what it is told.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn note(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Metrics for Notes {
    fn list_began(&self) {
        self.note("list".to_owned());
    }

    fn list_ended(&self, took: Duration, objects: usize) {
        self.note(format!("listed {objects} in {took:?}"));
    }

    fn watch_began(&self) {
        self.note("watch".to_owned());
    }

    fn watch_ended(&self, took: Duration, objects: u64) {
        let short = if is_short(took, objects) { ", short" } else { "" };
        self.note(format!("watched {objects} in {took:?}{short}"));
    }

    fn received(&self, version: &ResourceVersion) {
        self.note(version.to_string());
    }

    fn failed(&self, problem: Problem) {
        self.note(format!("{problem:?}"));
    }
}

fn measured(mut rig: Rig) -> (Rig, Notes) {
    let notes = Notes::default();
    rig.metrics = Some(Arc::new(notes.clone()));
    (rig, notes)
}

#[test]
fn lists_and_watches_are_counted_and_timed() {
    let (mut rig, notes) = measured(Rig::new());
    rig.source
        .list(Answer::Open(vec![item("a@1"), page("3", Some("t1"))]))
        .list(Answer::Hang)
        .watch(Answer::Open(vec![]));
    rig.start();
    assert_eq!(notes.take(), ["list"]);
    let (mut rig, notes) = measured(Rig::new());
    rig.source
        .list(Answer::Open(vec![item("a@1"), page("3", Some("t1"))]))
        .list(Answer::Open(vec![item("b@2"), end("3")]))
        .watch(Answer::Open(vec![added("c@4"), deleted("a@5"), bookmark("9")]))
        .watch(Answer::Open(vec![expired()]))
        .list(whole("c@4", "12"))
        .watch(Answer::Open(vec![Step::End]));
    rig.start();
    assert_eq!(
        notes.take(),
        ["list", "listed 2 in 0ns", "watch", "3", "4", "5", "9"]
    );
    rig.advance(20.0);
    rig.send([Step::End]);
    assert_eq!(
        notes.take(),
        ["watched 2 in 20s", "watch", "watched 0 in 0ns, short"],
        "an expired watch is no failure"
    );
    rig.pass(0.9);
    let told = notes.take();
    assert_eq!(told[..3], ["list", "listed 1 in 0ns", "watch"]);
    assert_eq!(told[3..], ["12", "watched 0 in 0ns, short", "Watch(Transient)"]);
}

#[test]
fn a_streaming_list_is_a_list_and_then_a_watch() {
    let (mut rig, notes) = measured(Rig::streaming());
    rig.source.watch(Answer::Open(vec![added("a@1"), added("b@2")]));
    rig.start();
    rig.advance(2.0);
    rig.send([initial_end("5"), added("c@6")]);
    assert_eq!(notes.take(), ["list", "listed 2 in 2s", "watch", "5", "6"]);
    rig.advance(3.0);
    rig.send([Step::End]);
    assert_eq!(notes.take(), ["watched 1 in 3s", "watch"]);
}

#[test]
fn a_list_that_fails_is_counted_anew_and_one_that_is_asked_for_otherwise_is_not() {
    let (mut rig, notes) = measured(Rig::streaming());
    rig.source
        .watch(Answer::Fail(error(FailureClass::Unsupported)))
        .list(Answer::Fail(error(FailureClass::Forbidden)))
        .list(whole("a@1", "1"));
    rig.start();
    assert_eq!(notes.take(), ["list", "List(Forbidden)"]);
    rig.pass(1.0);
    assert_eq!(notes.take(), ["list", "listed 1 in 0ns", "watch", "1"]);
}

#[test]
fn objects_that_cannot_be_used_are_told() {
    let (mut rig, notes) = measured(Rig::new());
    rig.source
        .list(Answer::Open(vec![item("!@1"), end("3")]))
        .watch(Answer::Open(vec![]));
    rig.start_with(Refusing);
    assert_eq!(notes.take()[..2], ["list", "Key"]);
}

/// Gives no key.
struct Refusing;

impl informer_core::KeyFunc<String> for Refusing {
    type Key = informer_core::ObjectKey;

    fn key(&self, _: &informer_core::Identity, _: &String) -> Result<Self::Key, informer_core::KeyError> {
        Err(informer_core::KeyError::new("none today"))
    }
}
