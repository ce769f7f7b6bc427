//! What holds for the machine whatever happens.

use std::time::Duration;

use informer_core::{FailureClass, ResourceVersion};
use informer_reflector::{
    Options, Start,
    machine::{Action, Failed, Input, Machine, What},
};
use proptest::prelude::*;

use crate::script::epoch;

#[derive(Debug, Clone)]
enum Step {
    Input(Input),
    Timeout,
    Pass(u64),
}

fn failed() -> impl Strategy<Value = Input> {
    let classes = vec![
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
    (prop::sample::select(classes), prop::option::of(0_u64..u64::MAX)).prop_map(|(class, retry_after)| {
        Input::Failed(Failed {
            class,
            retry_after: retry_after.map(Duration::from_millis),
            message: "no".into(),
        })
    })
}

fn version() -> impl Strategy<Value = ResourceVersion> {
    prop::sample::select(vec!["", "0", "1", "2", "3", "x"]).prop_map(ResourceVersion::from)
}

fn useless() -> impl Strategy<Value = Input> {
    prop_oneof![
        Just(Input::Opened),
        Just(Input::Odd),
        Just(Input::Ended),
        failed(),
        failed(),
    ]
}

fn any_input() -> impl Strategy<Value = Input> {
    let whats = vec![What::Added, What::Modified, What::Deleted];
    prop_oneof![
        3 => useless(),
        1 => Just(Input::Item),
        2 => (version(), prop::option::of("[ab]?")).prop_map(|(at, token)| Input::ListEnd {
            at,
            token: token.map(Into::into),
        }),
        2 => (prop::sample::select(whats), version()).prop_map(|(what, version)| Input::Event { what, version }),
        2 => (version(), any::<bool>()).prop_map(|(at, end_of_initial)| Input::Bookmark { at, end_of_initial }),
    ]
}

fn steps(input: impl Strategy<Value = Input>) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => input.prop_map(Step::Input),
        2 => Just(Step::Timeout),
        1 => (0_u64..200_000).prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 0..120)
}

fn options(streaming: bool) -> Options {
    let mut options = Options::default();
    options.start = if streaming {
        Start::StreamingList
    } else {
        Start::List
    };
    options
}

proptest! {
    /// One request at a time; objects are kept while a state is taken and delivered after one was published; something is always due.
    #[test]
    fn keeps_its_order(streaming in any::<bool>(), seed in any::<u64>(), steps in steps(any_input())) {
        let mut now = epoch();
        let mut machine = Machine::new(options(streaming), seed, now);
        let (mut taking, mut published, mut kept) = (false, false, 0_usize);
        for step in steps {
            while let Some(action) = machine.poll_action() {
                match action {
                    Action::OpenList(request) => {
                        prop_assert!(request.token.is_none() || request.version.is_none());
                        prop_assert!(request.token.is_some() || kept == 0, "kept objects of a state that was given up");
                        taking = true;
                    }
                    Action::OpenWatch(request) => {
                        prop_assert!(request.bookmarks);
                        prop_assert!(kept == 0);
                        taking = request.initial_events;
                        prop_assert!(taking || request.version.is_some(), "a watch from nowhere");
                    }
                    Action::Keep => {
                        prop_assert!(taking);
                        kept += 1;
                    }
                    Action::Forget => kept = 0,
                    Action::Publish { at, .. } => {
                        prop_assert!(taking && !at.is_none());
                        (taking, published, kept) = (false, true, 0);
                    }
                    Action::Deliver | Action::Bookmark(_) => prop_assert!(published && !taking),
                    Action::Resync | Action::Close | Action::Report { .. } | Action::Note(_) => {}
                }
            }
            prop_assert_eq!(machine.status().synced, published);
            match step {
                Step::Input(input) => machine.handle_input(now, input),
                Step::Pass(millis) => {
                    now += Duration::from_millis(millis);
                    machine.handle_timeout(now);
                }
                Step::Timeout => {
                    now = now.max(machine.poll_timeout());
                    machine.handle_timeout(now);
                }
            }
        }
    }

    /// Nothing that brings nothing makes it ask more than a handful of times without a wait.
    #[test]
    fn never_spins(streaming in any::<bool>(), synced in any::<bool>(), inputs in prop::collection::vec(useless(), 0..300)) {
        let mut now = epoch();
        let mut machine = Machine::new(options(streaming), 1, now);
        if synced {
            machine.handle_input(now, Input::Failed(Failed {
                class: FailureClass::Internal,
                retry_after: None,
                message: "no".into(),
            }));
            machine.handle_input(now, Input::ListEnd { at: ResourceVersion::new("5"), token: None });
        }
        let mut requests = 0;
        for input in inputs {
            while let Some(action) = machine.poll_action() {
                requests += usize::from(matches!(action, Action::OpenList(_) | Action::OpenWatch(_)));
            }
            prop_assert!(requests <= 8, "{requests} requests without a wait");
            if machine.status().next_attempt.is_some() {
                requests = 0;
                now = machine.poll_timeout();
                machine.handle_timeout(now);
            } else {
                machine.handle_input(now, input);
            }
        }
    }

    /// The same seed and the same inputs, the same actions.
    #[test]
    fn is_deterministic(streaming in any::<bool>(), seed in any::<u64>(), steps in steps(any_input())) {
        let run = |steps: &[Step]| {
            let start = epoch();
            let mut now = start;
            let mut machine = Machine::new(options(streaming), seed, now);
            let mut actions = Vec::new();
            for step in steps {
                match step.clone() {
                    Step::Input(input) => machine.handle_input(now, input),
                    Step::Pass(millis) => now += Duration::from_millis(millis),
                    Step::Timeout => {
                        now = now.max(machine.poll_timeout());
                        machine.handle_timeout(now);
                    }
                }
                actions.extend(std::iter::from_fn(|| machine.poll_action()));
                actions.push(Action::Report {
                    problem: informer_reflector::Problem::Odd,
                    message: "clock".into(),
                    retry_in: now - start,
                });
            }
            actions
        };
        prop_assert_eq!(run(&steps), run(&steps));
    }
}

#[test]
fn options_without_sense_do_no_harm() {
    let mut options = options(true);
    options.min_watch_timeout = Duration::MAX;
    options.streaming_wait = Duration::MAX;
    options.list_wait = Duration::MAX;
    options.resync_period = Some(Duration::ZERO);
    options.page_size = Some(0);
    options.backoff.cap = Duration::MAX;
    options.backoff.initial = Duration::MAX;
    let mut now = epoch();
    let mut machine = Machine::new(options, 1, now);
    for _ in 0..3 {
        machine.handle_input(now, Input::Opened);
        machine.handle_input(
            now,
            Input::Bookmark {
                at: ResourceVersion::new("1"),
                end_of_initial: true,
            },
        );
        machine.handle_input(now, Input::Ended);
        machine.handle_input(
            now,
            Input::Failed(Failed {
                class: FailureClass::Forbidden,
                retry_after: Some(Duration::MAX),
                message: "no".into(),
            }),
        );
        now += Duration::from_secs(1);
        machine.handle_timeout(now);
        assert!(machine.poll_timeout() >= now);
    }
}

/// client-go `Reflector.startResync`: the timer is made anew when a resync has returned.
#[test]
fn there_is_no_other_resync_before_the_last_is_done() {
    let mut options = options(false);
    options.resync_period = Some(Duration::from_secs(90));
    let mut now = epoch();
    let mut machine = Machine::new(options, 1, now);
    let end = Input::ListEnd {
        at: ResourceVersion::new("1"),
        token: None,
    };
    for input in [Input::Opened, end, Input::Opened] {
        machine.handle_input(now, input);
    }
    now += Duration::from_secs(90);
    assert_eq!(machine.poll_timeout(), now);
    machine.handle_timeout(now);
    assert_eq!(
        std::iter::from_fn(|| machine.poll_action()).last(),
        Some(Action::Resync)
    );
    now += Duration::from_secs(100);
    machine.handle_timeout(now);
    assert_eq!(machine.poll_action(), None);
    machine.handle_input(now, Input::Resynced);
    assert_eq!(machine.poll_timeout(), now + Duration::from_secs(90));
}
