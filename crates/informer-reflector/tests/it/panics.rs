//! A source that panics fails the attempt, visibly, and nothing hangs (client-go `Reflector.list` brings the panic down on its caller).

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use informer_core::{
    Cause, FailureClass, Feed, ListRequest, Listed, ListerWatcher, ResourceVersion, SourceError,
    WatchRequest, Watched,
};
use informer_reflector::{Phase, Problem, Start};

use crate::rig::{Object, Rig, object};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    List,
    Listed,
    Watch,
    Watched,
}

/// Panics once, at one place.
struct Bad {
    at: Place,
    left: Arc<AtomicUsize>,
}

impl Bad {
    fn pass(&self, place: Place) {
        let panics = self.at == place
            && self
                .left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
                .is_ok();
        assert!(!panics, "a bug in {place:?}");
    }
}

struct BadFeed<E> {
    bad: Option<Bad>,
    place: Place,
    events: std::vec::IntoIter<E>,
}

impl<E: Send> Feed for BadFeed<E> {
    type Event = E;
    type Error = SourceError;

    async fn next(&mut self) -> Option<Result<E, SourceError>> {
        let bad = self.bad.as_ref().unwrap();
        bad.pass(self.place);
        match self.events.next() {
            Some(event) => Some(Ok(event)),
            None if self.place == Place::Listed => None,
            None => std::future::pending().await,
        }
    }
}

impl ListerWatcher for Bad {
    type Object = Object;
    type Error = SourceError;
    type List = BadFeed<Listed<Object>>;
    type Watch = BadFeed<Watched<Object>>;

    async fn list(&self, _: ListRequest) -> Result<Self::List, SourceError> {
        self.pass(Place::List);
        Ok(BadFeed {
            bad: Some(Self {
                at: self.at,
                left: self.left.clone(),
            }),
            place: Place::Listed,
            events: vec![
                Listed::Item(Ok(object("a@1"))),
                Listed::End {
                    at: ResourceVersion::new("1"),
                    token: None,
                },
            ]
            .into_iter(),
        })
    }

    // Not in the future, but where it is asked for.
    fn watch(&self, request: WatchRequest) -> impl Future<Output = Result<Self::Watch, SourceError>> + Send {
        self.pass(Place::Watch);
        let mut events = vec![Watched::Upsert(Cause::Added, Ok(object("b@2")))];
        if request.initial_events {
            events.push(Watched::Bookmark {
                at: ResourceVersion::new("2"),
                end_of_initial: true,
            });
        }
        let feed = BadFeed {
            bad: Some(Self {
                at: self.at,
                left: self.left.clone(),
            }),
            place: Place::Watched,
            events: events.into_iter(),
        };
        async { Ok(feed) }
    }
}

#[test]
fn a_panic_of_the_source_fails_the_attempt_and_the_next_one_works() {
    for (at, problem) in [
        (Place::List, Problem::List(FailureClass::Fatal)),
        (Place::Listed, Problem::List(FailureClass::Fatal)),
        (Place::Watch, Problem::Watch(FailureClass::Fatal)),
        (Place::Watched, Problem::Watch(FailureClass::Fatal)),
    ] {
        let mut rig = Rig::new();
        let left = Arc::new(AtomicUsize::new(1));
        rig.start_from(Bad {
            at,
            left: left.clone(),
        });
        let error = rig.last_error();
        assert_eq!(error.problem(), problem);
        assert_eq!(error.message(), format!("the source panicked: a bug in {at:?}"));
        let status = rig.status().get();
        assert_eq!(status.phase, Phase::BackingOff);
        assert!(status.trouble().unwrap().message.contains("a bug in"));
        rig.pass(2.0);
        assert_eq!(rig.errors().len(), 1);
        assert_eq!(rig.status().get().phase, Phase::Watching, "{at:?}");
        assert_eq!(rig.sink.taken().last().unwrap(), "Added b@2", "{at:?}");
    }
}

/// A streaming list that panics is told, and LIST is used.
#[test]
fn a_panic_while_streaming_falls_back_to_list() {
    for at in [Place::Watch, Place::Watched] {
        let mut rig = Rig::new();
        rig.options.start = Start::StreamingList;
        let left = Arc::new(AtomicUsize::new(1));
        rig.start_from(Bad {
            at,
            left: left.clone(),
        });
        let problem = rig.last_error().problem();
        assert_eq!(problem, Problem::StreamingList(FailureClass::Fatal));
        rig.assert_taken(&["Replace@1 [a@1]", "Added b@2"]);
    }
}

/// For ever: it goes on asking, slower and slower.
#[test]
fn a_source_that_always_panics_is_asked_with_backoff() {
    let mut rig = Rig::new();
    rig.start_from(Bad {
        at: Place::List,
        left: Arc::new(AtomicUsize::new(usize::MAX)),
    });
    rig.pass(60.0);
    assert_eq!(rig.errors().len(), 7);
    let error = rig.status().get().last_error.unwrap();
    assert_eq!(
        error.to_string(),
        "list failed: the source panicked: a bug in List"
    );
}
