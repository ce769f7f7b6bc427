//! Whether anything still comes over a connection: a pure memory of what is due and of what came.

use std::time::{Duration, Instant};

/// What is known of the other side of one connection.
///
/// Silence alone says nothing: a quiet watch is silent for minutes. Silence while an answer is due says that the connection may be dead, so
/// that no other request should wait behind it. It may as well be a slow answer; the next byte proves that.
#[derive(Debug)]
pub(crate) struct Liveness {
    heard: Instant,
    n_due: usize,
    /// Since when something is due and nothing came. What was given up stays due until there is a sign of life.
    due_since: Option<Instant>,
}

impl Liveness {
    /// A connection that was just opened, which takes an answer.
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            heard: now,
            n_due: 0,
            due_since: None,
        }
    }

    /// A request goes out.
    pub(crate) fn asked(&mut self, now: Instant) {
        self.n_due += 1;
        self.due_since.get_or_insert(now);
    }

    /// Something came, whatever it was.
    pub(crate) fn heard(&mut self, now: Instant) {
        self.heard = now;
        self.due_since = (self.n_due > 0).then_some(now);
    }

    /// The answer to the request of that moment came.
    pub(crate) fn answered(&mut self) {
        self.n_due -= 1;
        if self.n_due == 0 {
            self.due_since = None;
        }
    }

    /// Nobody waits any more for the answer to the request of that moment.
    pub(crate) fn given_up(&mut self, asked: Instant) {
        self.n_due -= 1;
        if self.n_due == 0 && self.heard > asked {
            self.due_since = None;
        }
    }

    /// Whether something is due and nothing came for so long.
    pub(crate) fn is_silent(&self, now: Instant, patience: Duration) -> bool {
        self.due_since
            .is_some_and(|since| now.saturating_duration_since(since) >= patience)
    }

    /// When something came last.
    pub(crate) fn last_heard(&self) -> Instant {
        self.heard
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Liveness;

    const PATIENCE: Duration = Duration::from_secs(5);

    #[expect(
        clippy::disallowed_methods,
        reason = "an `Instant` can only be had from the clock; this one then stands still"
    )]
    fn start() -> (Liveness, impl Fn(u64) -> Instant) {
        let begun = Instant::now();
        (Liveness::new(begun), move |seconds| {
            begun + Duration::from_secs(seconds)
        })
    }

    #[test]
    fn a_quiet_connection_is_trusted_until_an_answer_is_late() {
        let (mut liveness, at) = start();
        assert!(!liveness.is_silent(at(1000), PATIENCE), "nothing is due");
        liveness.asked(at(1000));
        assert!(!liveness.is_silent(at(1004), PATIENCE));
        assert!(liveness.is_silent(at(1005), PATIENCE));
        liveness.heard(at(1006));
        assert!(!liveness.is_silent(at(1010), PATIENCE), "it was only slow");
        assert!(
            liveness.is_silent(at(1011), PATIENCE),
            "and the answer is still due"
        );
        liveness.answered();
        assert!(!liveness.is_silent(at(9999), PATIENCE));
    }

    #[test]
    fn giving_up_is_no_sign_of_life() {
        let (mut liveness, at) = start();
        liveness.asked(at(1));
        liveness.given_up(at(1));
        assert!(
            liveness.is_silent(at(6), PATIENCE),
            "who asks next need not find out again"
        );
        liveness.heard(at(7));
        assert!(!liveness.is_silent(at(9999), PATIENCE));

        liveness.asked(at(10_000));
        liveness.heard(at(10_001));
        liveness.given_up(at(10_000));
        assert!(
            !liveness.is_silent(at(99_999), PATIENCE),
            "something came since it was sent"
        );
    }

    #[test]
    fn one_answer_does_not_make_up_for_another() {
        let (mut liveness, at) = start();
        liveness.asked(at(0));
        liveness.asked(at(3));
        liveness.heard(at(4));
        liveness.answered();
        assert_eq!(liveness.last_heard(), at(4));
        assert!(!liveness.is_silent(at(8), PATIENCE));
        assert!(liveness.is_silent(at(9), PATIENCE));
    }
}
