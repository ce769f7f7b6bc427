//! The table, with connections that are only names.

use std::{
    cell::Cell,
    rc::Rc,
    time::{Duration, Instant},
};

use super::{Link, Need, Pool, SharedLink, Slot, Taken};

#[derive(Debug, Clone)]
struct Fake {
    name: &'static str,
    is_usable: Rc<Cell<bool>>,
    max_streams: Rc<Cell<usize>>,
    is_silent: Rc<Cell<bool>>,
    last_heard: Rc<Cell<Option<Instant>>>,
}

fn fake(name: &'static str) -> Fake {
    Fake {
        name,
        is_usable: Rc::new(Cell::new(true)),
        max_streams: Rc::new(Cell::new(2)),
        is_silent: Rc::default(),
        last_heard: Rc::default(),
    }
}

impl Link for Fake {
    fn is_usable(&self) -> bool {
        self.is_usable.get()
    }
}

impl SharedLink for Fake {
    fn max_streams(&self) -> usize {
        self.max_streams.get()
    }

    fn is_silent(&self, _: Instant) -> bool {
        self.is_silent.get()
    }

    fn last_heard(&self) -> Instant {
        self.last_heard.get().expect("a test that asks for it")
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "an `Instant` can only be had from the clock; this one then stands still"
)]
fn start() -> (Pool<Fake, Fake>, Instant) {
    (Pool::new(), Instant::now())
}

fn name(taken: Option<Taken<Fake, Fake>>) -> Option<&'static str> {
    taken.map(|taken| match taken {
        Taken::Single(link) | Taken::Shared(_, link) => link.name,
    })
}

#[test]
fn the_latest_idle_connection_is_used_first_and_only_once() {
    let (mut pool, now) = start();
    pool.put_back(0, fake("a"), now);
    pool.put_back(0, fake("b"), now);
    assert_eq!(name(pool.take(0, Need::Any, now)), Some("b"));
    assert_eq!(name(pool.take(0, Need::Any, now)), Some("a"));
    assert_eq!(name(pool.take(0, Need::Any, now)), None);
}

#[test]
fn a_shared_connection_takes_as_many_as_its_server_allows() {
    let (mut pool, now) = start();
    let link = fake("a");
    let slot = pool.add_shared(0, link.clone(), now);
    assert_eq!(name(pool.take(0, Need::Any, now)), Some("a"));
    assert_eq!(name(pool.take(0, Need::Any, now)), None);
    pool.add_shared(0, fake("b"), now);
    pool.release(slot, now);
    assert_eq!(
        name(pool.take(0, Need::Any, now)),
        Some("a"),
        "the oldest with room"
    );
    assert_eq!(name(pool.take(0, Need::Any, now)), Some("b"));
    assert_eq!(name(pool.take(0, Need::Any, now)), None);
    link.max_streams.set(3);
    assert_eq!(
        name(pool.take(0, Need::Any, now)),
        Some("a"),
        "the server changed its mind"
    );
}

#[test]
fn a_dead_or_retired_connection_is_not_handed_out() {
    let (mut pool, now) = start();
    let (single, shared) = (fake("single"), fake("shared"));
    pool.put_back(0, single.clone(), now);
    let slot = pool.add_shared(0, shared.clone(), now);
    single.is_usable.set(false);
    shared.is_usable.set(false);
    assert_eq!(name(pool.take(0, Need::Any, now)), None);
    // Its stream ends later, and nobody minds.
    pool.release(slot, now);

    let slot = pool.add_shared(0, fake("retired"), now);
    pool.retire(slot);
    assert_eq!(name(pool.take(0, Need::Any, now)), None);
    pool.put_back(0, single, now);
    assert_eq!(name(pool.take(0, Need::Any, now)), None, "dead when it came back");
}

#[test]
fn connections_of_another_generation_are_let_go() {
    let (mut pool, now) = start();
    pool.put_back(0, fake("old"), now);
    let old = pool.add_shared(0, fake("old shared"), now);
    assert_eq!(name(pool.take(1, Need::Any, now)), None);
    // They come back late.
    pool.put_back(0, fake("old"), now);
    pool.release(old, now);
    assert_eq!(pool.add_shared(0, fake("late"), now), Slot(1));
    assert_eq!(name(pool.take(1, Need::Any, now)), None);
    pool.put_back(1, fake("new"), now);
    assert_eq!(name(pool.take(1, Need::Any, now)), Some("new"));
}

#[test]
fn what_is_not_used_for_long_is_let_go_but_never_what_is_in_use() {
    let (mut pool, now) = start();
    pool.put_back(0, fake("single"), now);
    let slot = pool.add_shared(0, fake("shared"), now);
    let later = now + Duration::from_secs(90);
    assert_eq!(
        name(pool.take(0, Need::Any, later)),
        Some("shared"),
        "a watch runs on it"
    );
    pool.release(slot, later);
    pool.release(slot, later);
    assert_eq!(
        name(pool.take(0, Need::Any, later + Duration::from_secs(90))),
        None
    );
}

#[test]
fn only_so_many_idle_connections_are_kept() {
    let (mut pool, now) = start();
    pool.put_back(0, fake("first"), now);
    for _ in 0..25 {
        pool.put_back(0, fake("later"), now);
    }
    let mut kept = Vec::new();
    while let Some(one) = name(pool.take(0, Need::Any, now)) {
        kept.push(one);
    }
    assert_eq!(kept, vec!["later"; 25]);
}

#[test]
fn a_silent_connection_is_passed_over_and_used_again_when_it_speaks() {
    let (mut pool, now) = start();
    let silent = fake("silent");
    pool.add_shared(0, silent.clone(), now);
    silent.is_silent.set(true);
    assert_eq!(name(pool.take(0, Need::Any, now)), None);
    pool.add_shared(0, fake("other"), now);
    assert_eq!(name(pool.take(0, Need::Any, now)), Some("other"));
    silent.is_silent.set(false);
    assert_eq!(
        name(pool.take(0, Need::Any, now)),
        Some("silent"),
        "it was only slow"
    );
}

#[test]
fn who_found_one_silent_wants_one_that_spoke_since() {
    let (mut pool, now) = start();
    let later = now + Duration::from_secs(1);
    for (link, heard) in [("old", now), ("new", later)] {
        let link = fake(link);
        link.last_heard.set(Some(heard));
        pool.add_shared(0, link, now);
    }
    let found = pool.take_shared(0, Some(now), later).map(|(_, link)| link.name);
    assert_eq!(
        found,
        Some("new"),
        "not one after the other of those that are as dead"
    );
    assert!(pool.take_shared(0, Some(later), later).is_none());
}

#[test]
fn what_cannot_be_sent_twice_goes_only_where_there_was_life_lately() {
    let (mut pool, now) = start();
    pool.put_back(0, fake("old"), now);
    let later = now + Duration::from_secs(14);
    assert_eq!(name(pool.take(0, Need::Lively, later)), Some("old"));
    pool.put_back(0, fake("older"), now);
    let later = now + Duration::from_secs(15);
    assert_eq!(name(pool.take(0, Need::Lively, later)), None);
    assert_eq!(
        name(pool.take(0, Need::Any, later)),
        Some("older"),
        "it is kept for others"
    );
}
