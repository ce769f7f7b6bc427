//! The suite for [`Feed`]: something that yields events until it ends or fails.
//!
//! The suite sends numbers into a feed from behind and reads them at its front, so it needs the feed, its [`Upstream`], and the number of
//! an event.
//!
//! ```
//! use informer_testkit::{
//!     ListScript, ScriptedSource, block_on,
//!     conformance::feed::{Suite, Upstream},
//! };
//! # use informer_core::{FailureClass, ListerWatcher, WatchRequest, Watched};
//!
//! let suite = Suite::new(
//!     "ScriptedFeed",
//!     || {
//!         let source = ScriptedSource::new();
//!         let feed = block_on(source.watch(WatchRequest::default())).expect("it opens");
//!         let (end, fail, open) = (source.clone(), source.clone(), source.clone());
//!         let upstream = Upstream::new(move |n| drop(source.added("a", &n.to_string(), n)))
//!             .ending(move || drop(end.end_watch()))
//!             .failing(move || drop(fail.fail_watch(FailureClass::Transient, "cut")))
//!             .closed_when(move || open.n_open_watches() == 0);
//!         (feed, upstream)
//!     },
//!     |event| match event {
//!         Watched::Upsert(_, Ok(decoded)) => decoded.object,
//!         other => panic!("{other:?} was never sent"),
//!     },
//! );
//! block_on(suite.run()).assert_conforms();
//! ```

use std::{
    fmt,
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

use informer_core::Feed;

use super::{
    Patience,
    check::{Awaited, Check, Outcome, Scope, async_checks, ensure, runs_async, shown},
    probe::{Wakes, elsewhere},
};
use crate::{Rng, block_on};

/// The other end of a feed.
pub struct Upstream {
    send: Box<dyn FnMut(u32)>,
    end: Option<Box<dyn FnMut()>>,
    fail: Option<Box<dyn FnMut()>>,
    closed: Option<Box<dyn Fn() -> bool>>,
}

impl Upstream {
    /// One that sends an event of this number.
    pub fn new(send: impl FnMut(u32) + 'static) -> Self {
        Self {
            send: Box::new(send),
            end: None,
            fail: None,
            closed: None,
        }
    }

    /// With what ends it cleanly.
    #[must_use]
    pub fn ending(mut self, end: impl FnMut() + 'static) -> Self {
        self.end = Some(Box::new(end));
        self
    }

    /// With what makes it fail.
    #[must_use]
    pub fn failing(mut self, fail: impl FnMut() + 'static) -> Self {
        self.fail = Some(Box::new(fail));
        self
    }

    /// With what tells that the reader has gone.
    #[must_use]
    pub fn closed_when(mut self, closed: impl Fn() -> bool + 'static) -> Self {
        self.closed = Some(Box::new(closed));
        self
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream").finish_non_exhaustive()
    }
}

/// Checks a feed.
pub struct Suite<F: Feed> {
    subject: String,
    rig: Rig<F>,
    scope: Scope,
}

struct Rig<F: Feed> {
    make: Box<dyn Fn() -> (F, Upstream)>,
    number: Box<dyn Fn(F::Event) -> u32>,
    patience: Patience,
}

impl<F: Feed + 'static> Suite<F> {
    /// `make` makes a feed and its upstream, `number` reads the number of an event.
    pub fn new(
        subject: &str,
        make: impl Fn() -> (F, Upstream) + 'static,
        number: impl Fn(F::Event) -> u32 + 'static,
    ) -> Self {
        Self {
            subject: subject.to_owned(),
            rig: Rig {
                make: Box::new(make),
                number: Box::new(number),
                patience: Patience::default(),
            },
            scope: Scope::default(),
        }
    }

    /// How long to wait for what must come.
    #[must_use]
    pub fn patience(mut self, patience: Patience) -> Self {
        self.rig.patience = patience;
        self
    }

    runs_async!("Feed");
}

shown!([F: Feed] Suite<F>);

fn all<F: Feed + 'static>() -> Vec<Check<Awaited<Rig<F>>>> {
    async_checks! {
        directed events_in_order: "Something that yields events until it ends or fails.";
        directed it_waits: "The next event.";
        directed a_clean_end: "`None` is a clean end.";
        directed a_failure: "How it fails.";
        random a_dropped_next: "Dropping the future of `next` loses no event.";
        directed the_latest_who_waits: "Dropping the future of `next` loses no event.";
        directed dropped_it_closes: "Dropping the feed closes what it reads from.";
        directed read_from_elsewhere: "Something that yields events until it ends or fails.";
    }
}

impl<F: Feed> Rig<F> {
    /// The next event's number.
    async fn number(&self, feed: &mut F) -> Outcome<u32> {
        match self.patience.wait(feed.next()).await {
            None => Err("an event was sent, and it does not come".to_owned()),
            Some(None) => Err("an event was sent, and the feed ends".to_owned()),
            Some(Some(Err(_))) => Err("an event was sent, and the feed fails".to_owned()),
            Some(Some(Ok(event))) => Ok((self.number)(event)),
        }
    }

    async fn expect(&self, feed: &mut F, wanted: impl IntoIterator<Item = u32>) -> Outcome {
        for wanted in wanted {
            let n = self.number(feed).await?;
            ensure!(n == wanted, "event {wanted} is the next one, and {n} comes");
        }
        Ok(())
    }
}

/// Asks once for the next event, then gives up.
fn poll<F: Feed>(feed: &mut F, waker: &Waker) -> Poll<Option<Result<F::Event, F::Error>>> {
    let mut next = pin!(feed.next());
    next.as_mut().poll(&mut Context::from_waker(waker))
}

async fn events_in_order<F: Feed>(rig: &Rig<F>) -> Outcome {
    let (mut feed, mut upstream) = (rig.make)();
    (0..5).for_each(&mut upstream.send);
    rig.expect(&mut feed, 0..5).await?;
    for n in 5..10 {
        (upstream.send)(n);
        rig.expect(&mut feed, [n]).await?;
    }
    Ok(())
}

async fn it_waits<F: Feed>(rig: &Rig<F>) -> Outcome {
    let (mut feed, mut upstream) = (rig.make)();
    let early = rig.patience.glance(feed.next()).await;
    ensure!(
        early.is_none(),
        "nothing was sent yet, and it does not wait: {}",
        what(early.flatten())
    );
    let (wakes, waker) = Wakes::new();
    let mut next = pin!(feed.next());
    let poll = next.as_mut().poll(&mut Context::from_waker(&waker));
    ensure!(poll.is_pending(), "nothing was sent yet, and it does not wait");
    (upstream.send)(7);
    ensure!(
        rig.patience.until(|| wakes.count() > 0).await,
        "an event was sent, and one who waited for it was not woken"
    );
    match rig.patience.wait(next).await {
        Some(Some(Ok(event))) => {
            let n = (rig.number)(event);
            ensure!(n == 7, "event 7 was sent, and {n} comes");
            Ok(())
        }
        Some(other) => Err(format!("event 7 was sent, and what comes is {}", what(other))),
        None => Err("event 7 was sent, and it does not come".to_owned()),
    }
}

fn what<E, X>(event: Option<Result<E, X>>) -> &'static str {
    match event {
        None => "the end, or nothing",
        Some(Ok(_)) => "an event",
        Some(Err(_)) => "an error",
    }
}

async fn a_clean_end<F: Feed>(rig: &Rig<F>) -> Outcome {
    let (mut feed, mut upstream) = (rig.make)();
    let Some(end) = &mut upstream.end else {
        return Ok(());
    };
    (0..3).for_each(&mut upstream.send);
    end();
    rig.expect(&mut feed, 0..3).await?;
    match rig.patience.wait(feed.next()).await {
        Some(None) => Ok(()),
        Some(other) => Err(format!("it was ended cleanly, and what comes is {}", what(other))),
        None => Err("it was ended cleanly, and one who reads still waits".to_owned()),
    }
}

async fn a_failure<F: Feed>(rig: &Rig<F>) -> Outcome {
    let (mut feed, mut upstream) = (rig.make)();
    let Some(fail) = &mut upstream.fail else {
        return Ok(());
    };
    (0..3).for_each(&mut upstream.send);
    rig.expect(&mut feed, 0..3).await?;
    fail();
    match rig.patience.wait(feed.next()).await {
        Some(Some(Err(_))) => Ok(()),
        Some(other) => Err(format!("it failed, and what comes is {}", what(other))),
        None => Err("it failed, and one who reads still waits".to_owned()),
    }
}

/// Asks and gives up, again and again, while events come.
async fn a_dropped_next<F: Feed>(rig: &Rig<F>, mut rng: Rng) -> Outcome {
    let (mut feed, mut upstream) = (rig.make)();
    let (mut n_sent, mut n_read) = (0, 0);
    while n_read < 40 {
        if n_sent < 40 && rng.chance(0.4) {
            (upstream.send)(n_sent);
            n_sent += 1;
        }
        if rng.chance(0.7) {
            match poll(&mut feed, Waker::noop()) {
                Poll::Pending => {}
                Poll::Ready(Some(Ok(event))) => {
                    let n = (rig.number)(event);
                    ensure!(
                        n == n_read,
                        "event {n_read} is the next one, and after some futures that were dropped {n} comes"
                    );
                    n_read += 1;
                }
                Poll::Ready(other) => return Err(format!("it is open, and what comes is {}", what(other))),
            }
        } else if n_read < n_sent {
            let n = rig.number(&mut feed).await;
            let n = n.map_err(|seen| format!("after some futures that were dropped: {seen}"))?;
            ensure!(
                n == n_read,
                "event {n_read} is the next one, and after some futures that were dropped {n} comes"
            );
            n_read += 1;
        }
    }
    Ok(())
}

async fn the_latest_who_waits<F: Feed>(rig: &Rig<F>) -> Outcome {
    let (mut feed, mut upstream) = (rig.make)();
    let ((_, gave_up), (wakes, waits)) = (Wakes::new(), Wakes::new());
    ensure!(
        poll(&mut feed, &gave_up).is_pending(),
        "nothing was sent yet, and it does not wait"
    );
    ensure!(
        poll(&mut feed, &waits).is_pending(),
        "nothing was sent yet, and it does not wait"
    );
    (upstream.send)(1);
    ensure!(
        rig.patience.until(|| wakes.count() > 0).await,
        "one gave up and another waited; an event was sent, and the one who waited was not woken"
    );
    rig.expect(&mut feed, [1]).await
}

async fn dropped_it_closes<F: Feed>(rig: &Rig<F>) -> Outcome {
    let (mut feed, mut upstream) = (rig.make)();
    let Some(closed) = upstream.closed.take() else {
        return Ok(());
    };
    ensure!(!closed(), "it is open, and its upstream says that it is closed");
    (upstream.send)(1);
    rig.expect(&mut feed, [1]).await?;
    drop(feed);
    ensure!(
        rig.patience.until(closed).await,
        "it was dropped, and its upstream is still open"
    );
    Ok(())
}

async fn read_from_elsewhere<F: Feed + 'static>(rig: &Rig<F>) -> Outcome {
    let (mut feed, mut upstream) = (rig.make)();
    (0..3).for_each(&mut upstream.send);
    rig.expect(&mut feed, [0]).await?;
    if rig.patience.is_real() {
        // What waits for real input belongs to the runtime of its thread.
        return Ok(());
    }
    let read = elsewhere(move || {
        let ended = block_on(Patience::default().wait(feed.next()));
        (matches!(ended, Some(Some(Ok(_)))), feed)
    });
    let Some((true, mut feed)) = read else {
        return Err("events wait, and another thread that reads gets none".to_owned());
    };
    rig.expect(&mut feed, [2]).await
}
