//! Many reflectors in one outage: each keeps to its rate, and when the server is back they do not all come at once.

use std::time::{Duration, Instant};

use informer_core::FailureClass;
use informer_reflector::{
    Options, Start,
    machine::{Action, Failed, Input, Machine},
};

const OUTAGE: Duration = Duration::from_secs(600);

/// A reflector that fails from the beginning, and the times at which it asked.
struct Failing {
    machine: Machine,
    class: FailureClass,
    asked: Vec<Duration>,
    /// Starts that no wait of its own came before.
    rounds: u32,
}

impl Failing {
    fn new(start: Start, class: FailureClass, seed: u64, now: Instant) -> Self {
        let mut options = Options::default();
        options.start = start;
        Self {
            machine: Machine::new(options, seed, now),
            class,
            asked: Vec::new(),
            rounds: 0,
        }
    }

    /// Lets it ask, and fail, until it waits.
    fn fail(&mut self, began: Instant, now: Instant) {
        let mut asked = 0;
        while let Some(action) = self.machine.poll_action() {
            if matches!(action, Action::OpenList(_) | Action::OpenWatch(_)) {
                asked += 1;
                self.asked.push(now - began);
                let failed = Failed {
                    class: self.class,
                    retry_after: None,
                    message: "it is away".into(),
                };
                self.machine.handle_input(now, Input::Failed(failed));
            }
        }
        self.rounds += u32::from(asked > 0);
        assert!(asked <= 4, "{asked} requests in a round of {:?}", self.class);
    }

    /// Up to this time after the beginning.
    fn live(&mut self, began: Instant, until: Duration) {
        self.fail(began, began);
        while self.machine.poll_timeout() <= began + until {
            let now = self.machine.poll_timeout();
            self.machine.handle_timeout(now);
            self.fail(began, now);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "an `Instant` can be had no other way")]
fn some_time() -> Instant {
    Instant::now()
}

#[test]
fn in_ten_minutes_of_failure_there_are_at_most_25_rounds() {
    let began = some_time();
    let classes = [
        FailureClass::Expired,
        FailureClass::VersionTooLarge,
        FailureClass::Throttled,
        FailureClass::Refused,
        FailureClass::Unauthorized,
        FailureClass::Forbidden,
        FailureClass::NotFound,
        FailureClass::Unsupported,
        FailureClass::Internal,
        FailureClass::Transient,
        FailureClass::Fatal,
    ];
    for class in classes {
        for start in [Start::StreamingList, Start::List] {
            for seed in 0..200 {
                let mut it = Failing::new(start, class, seed, began);
                it.live(began, OUTAGE);
                let rounds = it.rounds;
                assert!(
                    (5..=25).contains(&rounds),
                    "{class:?} {start:?} {seed}: {rounds} rounds"
                );
            }
        }
    }
}

#[test]
fn when_the_server_is_back_they_do_not_come_all_at_once() {
    const REFLECTORS: u64 = 500;
    let began = some_time();
    // How many come back in each second after the outage.
    let mut seconds = vec![0_u64; 61];
    for seed in 0..REFLECTORS {
        let mut it = Failing::new(Start::StreamingList, FailureClass::Refused, seed, began);
        it.live(began, OUTAGE + Duration::from_secs(61));
        let back = it.asked.iter().find(|at| **at > OUTAGE);
        let back = back.unwrap_or_else(|| panic!("{seed} is not back within a minute"));
        seconds[usize::try_from((*back - OUTAGE).as_secs()).unwrap()] += 1;
    }
    let most = seconds.iter().max().unwrap();
    assert!(
        *most < REFLECTORS / 10,
        "{most} of {REFLECTORS} in one second: {seconds:?}"
    );
}
