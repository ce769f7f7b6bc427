//! Who waits for what.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    task::Waker,
    time::Instant,
};

/// Everybody who waits on a queue. Wakers are only ever collected here; they are woken outside the lock.
#[derive(Default)]
pub(super) struct Waiters {
    /// Workers by seat number: the smallest has waited longest.
    seated: BTreeMap<u64, Waker>,
    /// Those that were woken and have not looked yet.
    called: BTreeSet<u64>,
    n_seats: u64,
    /// Callers of `poll_take`, who have no seat: all are woken, since any may be gone.
    standing: Vec<Waker>,
    drained: Vec<Waker>,
    /// For when the clock's timer is armed.
    pub(super) armed_at: Option<Instant>,
}

/// Wakers to be woken once the lock is free.
#[derive(Default)]
#[must_use]
pub(super) struct Wakes {
    one: Option<Waker>,
    more: Vec<Waker>,
}

impl Waiters {
    /// A number for a worker that waits.
    pub(super) fn seat(&mut self, waker: &Waker) -> u64 {
        self.n_seats += 1;
        self.seated.insert(self.n_seats, waker.clone());
        self.n_seats
    }

    /// A worker that waits still. If it was woken meanwhile it gets its old place back.
    pub(super) fn stay(&mut self, seat: u64, waker: &Waker) {
        self.called.remove(&seat);
        self.seated
            .entry(seat)
            .and_modify(|it| it.clone_from(waker))
            .or_insert_with(|| waker.clone());
    }

    /// A worker goes. Whether it was on its way.
    pub(super) fn leave(&mut self, seat: u64) -> bool {
        self.seated.remove(&seat);
        self.called.remove(&seat)
    }

    /// A caller without a seat waits.
    pub(super) fn stand(&mut self, waker: &Waker) {
        if !self.standing.iter().any(|it| it.will_wake(waker)) {
            self.standing.push(waker.clone());
        }
    }

    /// Somebody waits for the end.
    pub(super) fn wait_drained(&mut self, waker: &Waker) {
        if !self.drained.iter().any(|it| it.will_wake(waker)) {
            self.drained.push(waker.clone());
        }
    }

    /// Whether the armed timer will tell of what is due then.
    pub(super) fn guards(&self, now: Instant, due: Instant) -> bool {
        self.armed_at.is_some_and(|at| now < at && at <= due)
    }

    /// Sees to it that at least `n` workers are on their way, and wakes all who stand.
    ///
    /// Whoever is on the way will look, or pass its call on when it goes, so that nobody else need be woken for the same reason.
    pub(super) fn call(&mut self, n: usize) -> Wakes {
        let mut wakes = Wakes::default();
        if n == 0 {
            return wakes;
        }
        wakes.more = mem::take(&mut self.standing);
        while self.called.len() < n
            && let Some((seat, waker)) = self.seated.pop_first()
        {
            self.called.insert(seat);
            wakes.more.extend(wakes.one.replace(waker));
        }
        wakes
    }

    /// Everybody.
    pub(super) fn all(&mut self) -> Wakes {
        let mut more = mem::take(&mut self.standing);
        more.append(&mut self.drained);
        more.extend(mem::take(&mut self.seated).into_values());
        Wakes { one: None, more }
    }
}

impl Wakes {
    /// Wakes them. Not under a lock.
    pub(super) fn wake(self) {
        self.one.into_iter().chain(self.more).for_each(Waker::wake);
    }
}
