//! Which connection carries a request: a pure table of those that are open.

use std::time::{Duration, Instant};

/// A connection as far as the pool is concerned.
pub(crate) trait Link {
    /// Whether a new request may be tried on it.
    fn is_usable(&self) -> bool;
}

/// A connection that carries several requests at once.
pub(crate) trait SharedLink: Link + Clone {
    /// How many.
    fn max_streams(&self) -> usize;
    /// Whether an answer is late and nothing comes at all, so that a new request would probably wait in vain as well.
    fn is_silent(&self, now: Instant) -> bool;
    /// When anything came over it last.
    fn last_heard(&self) -> Instant;
}

/// Open connections of one generation of TLS material. `A` carries one request at a time and is away while it does; `B` several.
#[derive(Debug)]
pub(crate) struct Pool<A, B> {
    generation: u64,
    /// The latest used last.
    idle: Vec<Idle<A>>,
    shared: Vec<Shared<B>>,
    n_shared_ever: u64,
}

#[derive(Debug)]
struct Idle<A> {
    link: A,
    since: Instant,
}

#[derive(Debug)]
struct Shared<B> {
    slot: Slot,
    link: B,
    n_used: usize,
    since: Instant,
}

/// Names a shared connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(u64);

/// What a request asks of its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// It can be sent again elsewhere if this one proves to be dead.
    Any,
    /// It cannot: the connection has to have been in use lately.
    Lively,
}

/// A connection for one request.
#[derive(Debug)]
pub(crate) enum Taken<A, B> {
    Single(A),
    Shared(Slot, B),
}

/// A connection that was not used for so long is not trusted any more (Go's `IdleConnTimeout` as client-go sets it).
const IDLE_FOR: Duration = Duration::from_secs(90);
/// Of a connection that carried something so long ago nobody can know whether it is alive. Go would use it for a write all the same.
const LIVELY_FOR: Duration = Duration::from_secs(15);
/// More are not kept (client-go `transport/cache.go`, `idleConnsPerHost`).
const MAX_IDLE: usize = 25;

impl<A: Link, B: SharedLink> Pool<A, B> {
    pub(crate) fn new() -> Self {
        Self {
            generation: 0,
            idle: Vec::new(),
            shared: Vec::new(),
            n_shared_ever: 0,
        }
    }

    /// A connection that can carry a request now. Those of another generation are let go of: what runs on them goes on.
    pub(crate) fn take(&mut self, generation: u64, need: Need, now: Instant) -> Option<Taken<A, B>> {
        if let Some((slot, link)) = self.take_shared(generation, None, now) {
            return Some(Taken::Shared(slot, link));
        }
        // One that carries several has pings; here nothing but the last answer says anything.
        let last = self
            .idle
            .pop_if(|idle| need == Need::Any || now.saturating_duration_since(idle.since) < LIVELY_FOR);
        last.map(|idle| Taken::Single(idle.link))
    }

    /// The same, of those that carry several, and on which something came after this moment.
    pub(crate) fn take_shared(
        &mut self,
        generation: u64,
        heard_after: Option<Instant>,
        now: Instant,
    ) -> Option<(Slot, B)> {
        self.clean(generation, now);
        // The oldest first, so that later ones run empty. One that is silent is passed over: it may come back.
        let shared = self.shared.iter_mut().find(|shared| {
            shared.n_used < shared.link.max_streams()
                && !shared.link.is_silent(now)
                && heard_after.is_none_or(|moment| shared.link.last_heard() > moment)
        })?;
        shared.n_used += 1;
        Some((shared.slot, shared.link.clone()))
    }

    /// A new shared connection, on which the caller uses one stream.
    pub(crate) fn add_shared(&mut self, generation: u64, link: B, now: Instant) -> Slot {
        let slot = Slot(self.n_shared_ever);
        self.n_shared_ever += 1;
        if generation == self.generation {
            self.shared.push(Shared {
                slot,
                link,
                n_used: 1,
                since: now,
            });
        }
        slot
    }

    /// A stream of a shared connection has ended.
    pub(crate) fn release(&mut self, slot: Slot, now: Instant) {
        if let Some(shared) = self.shared.iter_mut().find(|shared| shared.slot == slot) {
            shared.n_used -= 1;
            shared.since = now;
        }
    }

    /// No more requests on this one.
    pub(crate) fn retire(&mut self, slot: Slot) {
        self.shared.retain(|shared| shared.slot != slot);
    }

    /// A connection whose response has been read to its end.
    pub(crate) fn put_back(&mut self, generation: u64, link: A, now: Instant) {
        if generation == self.generation && link.is_usable() {
            self.idle.push(Idle { link, since: now });
            if self.idle.len() > MAX_IDLE {
                self.idle.remove(0);
            }
        }
    }

    fn clean(&mut self, generation: u64, now: Instant) {
        if generation != self.generation {
            self.generation = generation;
            self.idle.clear();
            self.shared.clear();
        }
        let is_fresh = |since: Instant| now.saturating_duration_since(since) < IDLE_FOR;
        self.idle
            .retain(|idle| idle.link.is_usable() && is_fresh(idle.since));
        self.shared
            .retain(|shared| shared.link.is_usable() && (shared.n_used > 0 || is_fresh(shared.since)));
    }
}

#[cfg(test)]
mod tests;
