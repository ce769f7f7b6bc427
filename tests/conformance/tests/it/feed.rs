//! `Feed`.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use conformance_tests::{Broken, Pipe};
use informer_client::{Client, Selectors};
use informer_core::{
    BoxFeed, FailureClass, Feed, ListerWatcher, Resource, SourceError, WatchRequest, Watched,
};
use informer_reflector::feed::from_poll_fn;
use informer_testkit::{
    Answer, Expect, ScriptedFeed, ScriptedSource, ScriptedTransport, block_on,
    conformance::feed::{Suite, Upstream},
};
use serde_json::{Value, json};

use crate::wrong::{all_catch, caught};

type Event = Watched<u32>;

fn number(event: Event) -> u32 {
    match event {
        Watched::Upsert(_, Ok(decoded)) => decoded.object,
        other => panic!("{other:?} was never sent"),
    }
}

fn script() -> (ScriptedFeed<Event>, Upstream) {
    let source = ScriptedSource::new();
    let feed = block_on(source.watch(WatchRequest::default())).unwrap();
    let (end, fail, open) = (source.clone(), source.clone(), source.clone());
    let upstream = Upstream::new(move |n| assert!(source.added("a", &n.to_string(), n)))
        .ending(move || assert!(end.end_watch()))
        .failing(move || assert!(fail.fail_watch(FailureClass::Transient, "cut")))
        .closed_when(move || open.n_open_watches() == 0);
    (feed, upstream)
}

pub(crate) fn scripted() -> Suite<ScriptedFeed<Event>> {
    Suite::new("ScriptedFeed", script, number)
}

#[test]
fn ours_conforms() {
    block_on(scripted().run()).assert_conforms();
    let boxed = Suite::new(
        "BoxFeed",
        || {
            let (feed, upstream) = script();
            (BoxFeed::new(feed), upstream)
        },
        number,
    );
    block_on(boxed.run()).assert_conforms();
}

/// What a test holds of a feed of its own: events, an end, a waker.
#[derive(Default)]
struct Ditch {
    events: VecDeque<u32>,
    end: Option<Result<(), FailureClass>>,
    waker: Option<Waker>,
}

impl Ditch {
    fn poll(&mut self, cx: &Context<'_>) -> Poll<Option<Result<u32, SourceError>>> {
        if let Some(n) = self.events.pop_front() {
            return Poll::Ready(Some(Ok(n)));
        }
        match self.end {
            Some(Ok(())) => Poll::Ready(None),
            Some(Err(class)) => Poll::Ready(Some(Err(SourceError::new(class, "cut")))),
            None => {
                self.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

fn change(ditch: &Mutex<Ditch>, change: impl FnOnce(&mut Ditch)) {
    let mut ditch = ditch.lock().unwrap();
    change(&mut ditch);
    ditch.waker.take().into_iter().for_each(Waker::wake);
}

fn upstream(ditch: &Arc<Mutex<Ditch>>) -> Upstream {
    let (send, end, fail) = (ditch.clone(), ditch.clone(), ditch.clone());
    let open = Arc::downgrade(ditch);
    Upstream::new(move |n| change(&send, |it| it.events.push_back(n)))
        .ending(move || change(&end, |it| it.end = Some(Ok(()))))
        .failing(move || change(&fail, |it| it.end = Some(Err(FailureClass::Transient))))
        // Three are held here.
        .closed_when(move || open.strong_count() == 3)
}

#[test]
fn ours_conforms_over_a_poll_function() {
    let make = || {
        let ditch = Arc::new(Mutex::new(Ditch::default()));
        let upstream = upstream(&ditch);
        (from_poll_fn(move |cx| ditch.lock().unwrap().poll(cx)), upstream)
    };
    block_on(Suite::new("PollFeed", make, |n| n).run()).assert_conforms();
}

/// A client's watch, event by event out of the bytes of a body.
#[test]
fn ours_conforms_over_bytes() {
    let make = || {
        let transport = ScriptedTransport::new();
        transport.on(Expect::any(), Answer::status(200).then_hang());
        let pods = Resource::namespaced("", "v1", "pods", "Pod");
        let source = Client::new(transport.clone())
            .objects::<Value>(pods)
            .source(Selectors::all());
        let feed = block_on(source.watch(WatchRequest::default())).unwrap();
        let body = transport.open_body().unwrap();
        let (end, fail, open) = (body.clone(), body.clone(), body.clone());
        let upstream = Upstream::new(move |n| {
            let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "resourceVersion": n.to_string()}});
            let line = json!({"type": "ADDED", "object": pod}).to_string();
            // In two pieces, the second with the line's end.
            let (first, second) = line.split_at(line.len() / 2);
            body.push(first.to_owned());
            body.push(format!("{second}\n"));
        })
        .ending(move || end.close())
        .failing(move || fail.fail(std::io::ErrorKind::ConnectionReset))
        .closed_when(move || open.is_dropped());
        (feed, upstream)
    };
    let number = |event| match event {
        Watched::Upsert(_, Ok(decoded)) => decoded.identity.stamp.version.as_str().parse().unwrap(),
        _ => panic!("no such event was sent"),
    };
    block_on(Suite::new("WatchFeed", make, number).run()).assert_conforms();
}

#[test]
fn a_channel_conforms() {
    let make = || {
        let (sender, feed) = Pipe::lay();
        let sender = Arc::new(Mutex::new(Some(sender)));
        let (send, end, fail) = (sender.clone(), sender.clone(), sender.clone());
        let upstream = Upstream::new(move |n| send.lock().unwrap().as_ref().unwrap().send(Ok(n)).unwrap())
            .ending(move || drop(end.lock().unwrap().take()))
            .failing(move || fail.lock().unwrap().as_ref().unwrap().send(Err(Broken)).unwrap())
            .closed_when(move || sender.lock().unwrap().as_ref().is_some_and(|it| it.is_closed()));
        (feed, upstream)
    };
    block_on(Suite::new("Pipe", make, |n| n).run()).assert_conforms();
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    NewestFirst,
    WakesNobody,
    EndsAsAFailure,
    FailsAsAnEnd,
    LosesWhatItHolds,
    KeepsTheFirstWaker,
    OutlivesItsReader,
    StaysOnItsThread,
}

const WRONG: [(Fault, &str); 8] = [
    (Fault::NewestFirst, "events_in_order"),
    (Fault::WakesNobody, "it_waits"),
    (Fault::EndsAsAFailure, "a_clean_end"),
    (Fault::FailsAsAnEnd, "a_failure"),
    (Fault::LosesWhatItHolds, "a_dropped_next"),
    (Fault::KeepsTheFirstWaker, "the_latest_who_waits"),
    (Fault::OutlivesItsReader, "dropped_it_closes"),
    (Fault::StaysOnItsThread, "read_from_elsewhere"),
];

struct Bent {
    ditch: Arc<Mutex<Ditch>>,
    fault: Fault,
    home: std::thread::ThreadId,
}

impl Bent {
    fn poll(&self, cx: &Context<'_>) -> Poll<Option<Result<u32, SourceError>>> {
        let mut ditch = self.ditch.lock().unwrap();
        if self.fault == Fault::StaysOnItsThread && std::thread::current().id() != self.home {
            return Poll::Pending;
        }
        if self.fault == Fault::NewestFirst
            && let Some(newest) = ditch.events.pop_back()
        {
            return Poll::Ready(Some(Ok(newest)));
        }
        let first = ditch.waker.take();
        let polled = ditch.poll(cx);
        match self.fault {
            Fault::WakesNobody => ditch.waker = None,
            Fault::KeepsTheFirstWaker if polled.is_pending() && first.is_some() => ditch.waker = first,
            _ => {}
        }
        match (self.fault, polled) {
            (Fault::EndsAsAFailure, Poll::Ready(None)) => {
                Poll::Ready(Some(Err(SourceError::new(FailureClass::Transient, "it ended"))))
            }
            (Fault::FailsAsAnEnd, Poll::Ready(Some(Err(_)))) => Poll::Ready(None),
            (_, polled) => polled,
        }
    }
}

impl Feed for Bent {
    type Event = u32;
    type Error = SourceError;

    async fn next(&mut self) -> Option<Result<u32, SourceError>> {
        let event = poll_fn(|cx| self.poll(cx)).await;
        if self.fault == Fault::LosesWhatItHolds {
            // It has the event in hand, and waits once more.
            let mut waited = false;
            poll_fn(|cx| {
                if std::mem::replace(&mut waited, true) {
                    return Poll::Ready(());
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        }
        event
    }
}

#[test]
fn wrong_ones_are_found_out() {
    for (fault, check) in WRONG {
        let make = move || {
            let ditch = Arc::new(Mutex::new(Ditch::default()));
            let upstream = upstream(&ditch);
            if fault == Fault::OutlivesItsReader {
                // Somebody else still holds it.
                std::mem::forget(ditch.clone());
            }
            let home = std::thread::current().id();
            (Bent { ditch, fault, home }, upstream)
        };
        let suite = Suite::new(&format!("{fault:?}"), make, |n| n).only(check);
        caught(check, &block_on(suite.run()));
    }
    all_catch(&block_on(scripted().run()), &WRONG.map(|(_, check)| check));
}
