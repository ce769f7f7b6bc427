//! `EventHandler`, and the witness that checks who calls one.

use std::{
    sync::{
        Arc, Mutex,
        mpsc::{channel, sync_channel},
    },
    thread::ThreadId,
    time::Duration,
};

use conformance_tests::{Diary, Ledger, Line, Numbers, Sections, pump, shelf};
use informer_core::{
    Batch, Cause, Change, Delta, DeltaQueue, DeltaSink, Entry, EventHandler, ObjectKey, Stamp, Store,
    StoreWriter,
};
use informer_deltafifo::{Coalescing, InOrder, Options};
use informer_sharedinformer::{HandlerOptions, QueueKind, SharedInformer, Sink};
use informer_testkit::{
    Rng,
    conformance::{Samples, Thing, Things, Witness, event_handler::Suite},
};

use crate::{
    store::sides,
    wrong::{all_catch, caught},
};

type Q = ObjectKey;
type K = Thing;

/// Ours is what makes a handler of a closure.
pub(crate) fn ours() -> Suite {
    Suite::new("a closure", || {
        let (queue, keys) = channel();
        let handler = move |change: &Change<Q, K>| queue.send(change.key().clone()).unwrap();
        (handler, move || keys.try_iter().collect())
    })
}

#[test]
fn ours_conforms() {
    ours().run().assert_conforms();
    Suite::silent(Things, "Witness", Witness::new)
        .run()
        .assert_conforms();
}

#[test]
fn a_diary_conforms() {
    let diary = || {
        let diary = Diary::new();
        (diary.clone(), move || diary.tear_out())
    };
    Suite::new("Diary", diary).run().assert_conforms();
    Suite::over(Numbers, "Diary of numbers", || {
        let diary = Diary::new();
        (diary.clone(), move || diary.tear_out())
    })
    .run()
    .assert_conforms();
}

/// A handler of a closure over keys it heard.
struct Wrong<F>(Arc<Mutex<Vec<Q>>>, F);

impl<F: FnMut(&mut Vec<Q>, &Change<Q, K>) + Send> EventHandler<Q, K> for Wrong<F> {
    fn on_change(&mut self, change: &Change<Q, K>) {
        self.1(&mut self.0.lock().unwrap(), change);
    }
}

fn wrong<F>(make: impl Fn() -> F + 'static) -> Suite
where
    F: FnMut(&mut Vec<Q>, &Change<Q, K>) + Send + 'static,
{
    Suite::new("a wrong one", move || {
        let heard: Arc<Mutex<Vec<Q>>> = Arc::default();
        let handler = Wrong(heard.clone(), make());
        (handler, move || std::mem::take(&mut *heard.lock().unwrap()))
    })
}

#[test]
fn wrong_ones_are_found_out() {
    let deaf_to_the_end = || {
        |heard: &mut Vec<Q>, change: &Change<Q, K>| {
            if !matches!(change, Change::Removed { observed: false, .. }) {
                heard.push(change.key().clone());
            }
        }
    };
    let check = "every_kind_of_change";
    caught(check, &wrong(deaf_to_the_end).only(check).run());

    // The latest first.
    let check = "in_order";
    let backward = || |heard: &mut Vec<Q>, change: &Change<Q, K>| heard.insert(0, change.key().clone());
    caught(check, &wrong(backward).only(check).run());

    let check = "on_one_thread_or_another";
    let faithful = || {
        let mut first: Option<ThreadId> = None;
        move |heard: &mut Vec<Q>, change: &Change<Q, K>| {
            let here = std::thread::current().id();
            if *first.get_or_insert(here) == here {
                heard.push(change.key().clone());
            }
        }
    };
    caught(check, &wrong(faithful).only(check).run());

    let check = "it_returns";
    let blocking = Suite::new("blocking", || {
        let (queue, keys) = sync_channel(100);
        let handler = move |change: &Change<Q, K>| queue.send(change.key().clone()).unwrap();
        (handler, move || keys.try_iter().collect())
    });
    caught(check, &blocking.only(check).run());

    all_catch(
        &ours().run(),
        &[
            "every_kind_of_change",
            "in_order",
            "on_one_thread_or_another",
            "it_returns",
        ],
    );
}

/// Some deltas of a small world, lists among them.
fn story(rng: &mut Rng) -> Vec<Delta<Q, K>> {
    let entry = |n: u32, version: u32| {
        let stamp = Stamp::new(&*version.to_string(), format!("uid-{n}-{}", version / 40));
        Entry::new(Things.key(n), stamp, Arc::new(Things.object(n, version % 5)))
    };
    let mut deltas = vec![Delta::Replace {
        items: vec![entry(0, 1), entry(1, 2)],
        unreadable: Vec::new(),
        at: "5".into(),
        may_rewind: false,
    }];
    for version in 10..150 {
        let n = u32::try_from(rng.index(5)).unwrap();
        deltas.push(match rng.index(10) {
            0 | 1 => Delta::Delete {
                key: Things.key(n),
                stamp: entry(n, version).stamp,
                last: None,
                observed: true,
            },
            2 => Delta::Replace {
                items: (0..5)
                    .filter(|_| rng.chance(0.6))
                    .map(|n| entry(n, version))
                    .collect(),
                unreadable: vec![Things.key(n)],
                at: (&*version.to_string()).into(),
                may_rewind: false,
            },
            3 => Delta::Resync,
            4 => Delta::Unreadable {
                key: Things.key(n),
                stamp: entry(n, version).stamp,
            },
            _ => Delta::Upsert(entry(n, version), Cause::Modified),
        });
    }
    deltas
}

#[test]
fn the_witness_has_nothing_to_say_of_a_foreign_pump() {
    for seed in 0..20 {
        let (ours, ours_reader) = sides::<Q, K>(Vec::new());
        let (theirs, theirs_reader) = shelf::<Q, K>(Vec::new());
        let ours_reader: Arc<dyn Store<Q, K>> = Arc::new(ours_reader);
        let theirs_reader: Arc<dyn Store<Q, K>> = Arc::new(theirs_reader);
        let rooms: [(Box<dyn StoreWriter<Q, K>>, _); 2] =
            [(Box::new(ours), ours_reader), (Box::new(theirs), theirs_reader)];
        for (mut writer, reader) in rooms {
            let queues: [Box<dyn DeltaQueue<Q, K>>; 4] = [
                Box::new(InOrder::new(Options::default())),
                Box::new(Coalescing::new(reader.clone(), Options::default())),
                Box::new(Line::new(100)),
                Box::new(Sections::new(reader.clone(), 100)),
            ];
            let witness = Witness::new().reading(reader.clone());
            // One queue after the other in front of the same store: a restart of the client.
            for mut queue in queues {
                let mut rng = Rng::new(seed);
                for delta in story(&mut rng) {
                    queue.push(delta);
                    if rng.chance(0.3) {
                        pump(&mut *queue, &mut *writer, &mut witness.clone());
                    }
                }
                pump(&mut *queue, &mut *writer, &mut witness.clone());
            }
            witness.report("pump").assert_conforms();
            assert!(witness.n_heard() > 100);
            let (held, stored) = (witness.current(), reader.list());
            let stamps =
                |entries: &[Entry<Q, K>]| entries.iter().map(|it| it.stamp.clone()).collect::<Vec<_>>();
            assert_eq!(stamps(&held), stamps(&stored));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_witness_has_nothing_to_say_of_a_shared_informer() {
    for queue in [
        || QueueKind::InOrder,
        || QueueKind::Coalescing,
        || QueueKind::custom(Line::new(10)),
    ] {
        let source = |mut sink: Sink<Q, K>| async move {
            for delta in story(&mut Rng::new(7)) {
                sink.push(delta);
                tokio::task::yield_now().await;
            }
        };
        let informer = SharedInformer::fed_by(source).queue(queue()).build().unwrap();
        let options = HandlerOptions::default();
        let early = Witness::new().reading(informer.store());
        informer.add_handler(early.clone(), options.clone()).unwrap();
        let running = informer.spawn().unwrap();
        informer.wait_synced(Duration::from_secs(60)).await.unwrap();
        let late = Witness::new().reading(informer.store());
        informer.add_handler(late.clone(), options).unwrap();
        tokio::time::advance(Duration::from_secs(1)).await;
        for _ in 0..2000 {
            tokio::task::yield_now().await;
        }
        let name = format!("a shared informer, {:?}", queue());
        for witness in [early, late] {
            witness.report(&name).assert_conforms();
            let (held, stored) = (witness.current(), informer.store().list());
            assert_eq!(held.len(), stored.len(), "{name}");
            assert!(witness.n_heard() >= stored.len());
        }
        running.stop().await;
    }
}

/// A witness told a short story.
fn told(changes: Vec<Change<u32, String>>) -> Vec<&'static str> {
    let mut witness = Witness::new();
    changes.iter().for_each(|change| witness.on_change(change));
    witness.report("a teller").broken()
}

#[test]
fn a_wrong_chain_is_found_out() {
    let entry =
        |version: &str, uid: &str| Entry::new(1_u32, Stamp::new(version, uid), Arc::new(String::new()));
    let (one, two, reborn) = (entry("1", "u"), entry("2", "u"), entry("3", "v"));
    let added = |new: &Entry<_, _>| Change::Added {
        new: new.clone(),
        initial: false,
    };
    let updated = |old: &Entry<_, _>, new: &Entry<_, _>| Change::Updated {
        old: old.clone(),
        new: new.clone(),
    };
    let removed = |last: &Entry<_, _>| Change::Removed {
        last: last.clone(),
        observed: true,
    };
    let resynced = |current: &Entry<_, _>| Change::Resynced {
        current: current.clone(),
    };

    let right = vec![
        added(&one),
        updated(&one, &two),
        resynced(&two),
        removed(&two),
        added(&reborn),
    ];
    assert!(told(right).is_empty());
    let wrong = [
        vec![added(&one), added(&two)],
        vec![updated(&one, &two)],
        vec![removed(&one)],
        vec![resynced(&one)],
        vec![added(&one), updated(&two, &one)],
        vec![added(&one), updated(&one, &one)],
        vec![added(&two), updated(&two, &reborn)],
        vec![added(&two), removed(&reborn)],
        vec![added(&one), updated(&one, &two), resynced(&one)],
    ];
    for changes in wrong {
        let shown = format!("{changes:?}");
        assert_eq!(told(changes), ["a_gapless_chain"], "{shown}");
    }
}

#[test]
fn a_store_that_comes_later_is_found_out() {
    let (mut writer, reader) = Ledger::open(Vec::new());
    let mut witness = Witness::new().reading(Arc::new(reader));
    let entry = |version: &str| Entry::new(1_u32, Stamp::new(version, "u"), Arc::new(String::new()));
    let first = Delta::Upsert(entry("1"), Cause::Added);
    let mut changes = Vec::new();
    writer.commit(&mut Batch::of(first, false), &mut changes).unwrap();
    changes.drain(..).for_each(|change| witness.on_change(&change));
    assert!(witness.report("store first").conforms());
    witness.on_change(&Change::Updated {
        old: entry("1"),
        new: entry("2"),
    });
    assert!(
        witness
            .report("handler first")
            .broken()
            .contains(&"the_store_first")
    );
}
