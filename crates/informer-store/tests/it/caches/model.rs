//! Random own writes, commits and news above a store, against the plain rules.

use std::{collections::BTreeMap, time::Duration};

use informer_core::Store;
use proptest::{collection::vec, prelude::*, sample::select};

use super::mutation::rig;
use crate::support::key;

#[derive(Debug, Clone)]
enum Step {
    /// The server's next state of a key, and who hears of it: the program itself, the store, the handler.
    Write {
        name: &'static str,
        ends: bool,
        told: bool,
    },
    /// The store, or its handler, catches up by one.
    Store,
    Handler,
    Later(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (select(&["a", "b", "c"][..]), prop::bool::weighted(0.3), any::<bool>())
            .prop_map(|(name, ends, told)| Step::Write { name, ends, told }),
        4 => Just(Step::Store),
        4 => Just(Step::Handler),
        1 => (0..400_u64).prop_map(Step::Later),
    ]
}

/// One change at the server: version, key, uid, and whether it is the end.
type Event = (usize, &'static str, usize, bool);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn an_answer_is_never_older_than_the_stores_and_never_one_whose_end_the_handler_saw(
        include_adds in any::<bool>(),
        steps in vec(step(), 0..32),
    ) {
        let mut rig = rig(include_adds, 100);
        let mut history: Vec<Event> = Vec::new();
        let (mut n_stored, mut n_handled) = (0, 0);
        // Incarnations: the number of each key's, and whether it is there.
        let mut lives: BTreeMap<&str, (usize, bool)> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Write { name, ends, told } => {
                    let (life, is_there) = lives.entry(name).or_default();
                    let ends = ends && *is_there;
                    *life += usize::from(!*is_there);
                    *is_there = !ends;
                    let version = history.len() + 1;
                    history.push((version, name, *life, ends));
                    if told && !ends {
                        rig.mutation(&format!("{name}@{version}#u{life}"));
                    }
                }
                Step::Store => if let Some((version, name, life, ends)) = history.get(n_stored) {
                    let state = format!("{name}@{version}#u{life}");
                    if *ends { rig.remove(&state); } else { rig.store(&state); }
                    n_stored += 1;
                },
                // A handler hears of what the store has already.
                Step::Handler => if n_handled < n_stored {
                    let (version, name, life, ends) = history[n_handled];
                    let state = format!("{name}@{version}#u{life}");
                    if ends { rig.on_delete(&state); } else { rig.on_add_or_update(&state); }
                    n_handled += 1;
                },
                Step::Later(seconds) => rig.later(Duration::from_secs(seconds)),
            }
            let all = rig.own.by_index(rig.now, "tag", "pod").unwrap();
            for name in ["a", "b", "c"] {
                let stored = rig.reader().get(&key(name)).map(|it| it.stamp.version.as_str().parse::<usize>().unwrap());
                let answer = rig.get(name).map(|it| it.parse::<usize>().unwrap());
                let listed = all.iter().find(|it| it.key == key(name)).map(|it| it.stamp.version.to_string());
                prop_assert_eq!(listed, answer.map(|it| it.to_string()), "the index says the same");
                if let Some(stored) = stored {
                    prop_assert!(answer.is_some_and(|answer| answer >= stored), "{:?} of {}", answer, stored);
                } else if !include_adds {
                    prop_assert_eq!(answer, None);
                }
                if let Some(answer) = answer {
                    let (_, of, life, ends) = history[answer - 1];
                    prop_assert!(of == name && !ends, "the server had that state");
                    let is_over = history[..n_handled].iter().any(|it| it.1 == name && it.2 == life && it.3);
                    prop_assert!(!is_over || stored == Some(answer), "{} is known to be over", answer);
                }
            }
        }
    }
}
