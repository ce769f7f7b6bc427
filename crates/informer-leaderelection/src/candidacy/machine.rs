//! When a candidacy is written (client-go `LeaseCandidate.ensureLease` and its queue), without clock.

use std::time::{Duration, Instant};

use informer_backoff::Backoff;

use crate::MicroTime;

/// How often it is renewed without being asked (client-go `requeueInterval`).
const RENEW_EVERY: Duration = Duration::from_secs(5 * 60);

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Create the object.
    Create,
    /// Set its renew time.
    Renew,
}

/// The times of a candidacy as it is at the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) pinged: Option<MicroTime>,
    pub(super) renewed: Option<MicroTime>,
}

impl Times {
    /// The server asked whether this candidate is alive, and it has not answered yet.
    fn is_asked(self) -> bool {
        self.pinged
            .is_some_and(|pinged| self.renewed.is_none_or(|renewed| pinged > renewed))
    }
}

/// The rules: written once at the start, again when the server asks, when it is gone, and every five minutes; after a failure with a pause.
#[derive(Debug)]
pub(super) struct Machine {
    backoff: Backoff,
    /// `None` until the server was heard.
    seen: Option<Option<Times>>,
    busy: bool,
    due: Option<Instant>,
}

impl Machine {
    pub(super) fn new() -> Self {
        // client-go's default limiter of controllers.
        let mut options = informer_backoff::Options::default();
        options.initial = Duration::from_millis(5);
        options.jitter = 0.0;
        options.cap = Duration::from_secs(1000);
        Self {
            backoff: Backoff::new(options),
            seen: None,
            busy: false,
            due: None,
        }
    }

    /// The object is like this now.
    pub(super) fn on_seen(&mut self, now: Instant, seen: Option<Times>) {
        let first = self.seen.is_none();
        self.seen = Some(seen);
        if first || seen.is_none_or(Times::is_asked) {
            let at = self.due.map_or(now, |due| due.min(now));
            self.due = Some(at);
        }
    }

    /// The write went through.
    pub(super) fn on_written(&mut self, now: Instant) {
        self.busy = false;
        self.backoff.reset();
        self.due = Some(now + RENEW_EVERY);
    }

    /// The write failed.
    pub(super) fn on_failed(&mut self, now: Instant) {
        self.busy = false;
        self.due = Some(now + self.backoff.next(now, 0));
    }

    /// What to do now.
    pub(super) fn poll_action(&mut self, now: Instant) -> Option<Action> {
        if self.busy || self.due.is_none_or(|due| now < due) {
            return None;
        }
        let seen = self.seen?;
        self.busy = true;
        self.due = None;
        Some(if seen.is_some() {
            Action::Renew
        } else {
            Action::Create
        })
    }

    /// When to ask again at the latest.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.due.filter(|_| !self.busy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(pinged: i64, renewed: i64) -> Option<Times> {
        Some(Times {
            pinged: (pinged > 0).then(|| MicroTime::from_micros(pinged)),
            renewed: Some(MicroTime::from_micros(renewed)),
        })
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "any instant will do to count from")]
    fn is_written_when_asked_when_gone_and_every_five_minutes() {
        let mut now = Instant::now();
        let mut machine = Machine::new();
        assert_eq!(
            (machine.poll_action(now), machine.poll_timeout()),
            (None, None),
            "the server was not heard yet"
        );
        machine.on_seen(now, None);
        assert_eq!(machine.poll_action(now), Some(Action::Create));
        assert_eq!(machine.poll_action(now), None, "one write at a time");
        machine.on_written(now);
        machine.on_seen(now, times(0, 5));
        assert_eq!(machine.poll_action(now), None);
        assert_eq!(machine.poll_timeout(), Some(now + RENEW_EVERY));

        // Asked, while a write is on its way too.
        machine.on_seen(now, times(6, 5));
        assert_eq!(machine.poll_action(now), Some(Action::Renew));
        machine.on_failed(now);
        assert_eq!(machine.poll_action(now), None);
        now += Duration::from_millis(5);
        assert_eq!(machine.poll_action(now), Some(Action::Renew));
        machine.on_failed(now);
        assert_eq!(machine.poll_timeout(), Some(now + Duration::from_millis(10)));
        now += Duration::from_millis(10);
        assert_eq!(machine.poll_action(now), Some(Action::Renew));
        machine.on_written(now);
        machine.on_seen(now, times(6, 7));
        assert_eq!(machine.poll_action(now), None, "it has answered");
        now += RENEW_EVERY;
        assert_eq!(machine.poll_action(now), Some(Action::Renew));
        machine.on_written(now);
        machine.on_seen(now, None);
        assert_eq!(machine.poll_action(now), Some(Action::Create));
    }
}
