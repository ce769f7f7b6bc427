//! Handlers that join and leave at any moment of a random history: each log begins with what was stored and is gapless after.

use std::collections::BTreeMap;

use informer_sharedinformer::{BacklogPolicy, HandlerOptions, Registration};
use proptest::prelude::*;

use crate::support::{BOTH, Log, assert_gapless, idle, pod_of, tapped};

#[derive(Debug, Clone)]
enum Step {
    /// A watch event of a key.
    Event(u8, u8),
    /// A list of the keys whose bit is set.
    List(u8),
    Join(usize),
    Leave(u8),
    /// Lets other tasks run so often.
    Yield(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0..8_u8, 0..6_u8).prop_map(|(key, what)| Step::Event(key, what)),
        1 => any::<u8>().prop_map(Step::List),
        2 => (0..6_usize).prop_map(Step::Join),
        1 => any::<u8>().prop_map(Step::Leave),
        4 => (1..6_u8).prop_map(Step::Yield),
    ];
    prop::collection::vec(step, 1..120)
}

/// The source's side: what exists, and under which uid.
#[derive(Default)]
struct Server {
    version: u64,
    objects: BTreeMap<u8, (u64, String)>,
}

impl Server {
    fn next(&mut self) -> u64 {
        self.version += 1;
        self.version
    }
}

async fn play(steps: &[Step], queue: usize) {
    let (tap, informer) = tapped(BOTH[queue]());
    let mut server = Server::default();
    let mut joined: Vec<(Log, Registration)> = Vec::new();
    let mut left = Vec::new();
    let running = informer.spawn().unwrap();
    tap.list([], server.next());
    for step in steps {
        match step {
            Step::Event(key, what) => {
                let at = server.next();
                let name = format!("ns/{key}");
                match (server.objects.get(key).cloned(), what) {
                    (Some((_, uid)), 0) => {
                        server.objects.remove(key);
                        tap.delete(pod_of(&name, at, &uid));
                    }
                    (Some((_, uid)), _) => {
                        server.objects.insert(*key, (at, uid.clone()));
                        tap.modify(pod_of(&name, at, &uid));
                    }
                    (None, _) => {
                        let uid = format!("u{at}");
                        server.objects.insert(*key, (at, uid.clone()));
                        tap.add(pod_of(&name, at, &uid));
                    }
                }
            }
            // Between two watches some vanished, some came again as others, the rest is as it was.
            Step::List(mask) => {
                let at = server.next();
                server.objects.retain(|key, _| mask & (1 << key) != 0);
                let lowest = server.objects.keys().next().copied();
                if let Some(key) = lowest.filter(|_| mask % 3 == 0) {
                    server.objects.insert(key, (at, format!("u{at}")));
                }
                let pods = server.objects.iter();
                tap.list(
                    pods.map(|(key, (at, uid))| pod_of(&format!("ns/{key}"), *at, uid)),
                    at,
                );
            }
            Step::Join(limit) => {
                let log = Log::default();
                let options = HandlerOptions::default().backlog(BacklogPolicy::Merge { limit: *limit });
                let handler = informer.add_handler(log.handler(), options).unwrap();
                joined.push((log, handler));
            }
            Step::Leave(which) if !joined.is_empty() => {
                let (log, handler) = joined.remove(usize::from(*which) % joined.len());
                handler.remove();
                left.push((log.len(), log));
            }
            Step::Leave(_) => {}
            Step::Yield(n) => {
                for _ in 0..*n {
                    tokio::task::yield_now().await;
                }
            }
        }
    }
    idle().await;
    let stored: BTreeMap<_, _> = informer
        .store()
        .list()
        .into_iter()
        .map(|entry| (entry.key, entry.stamp))
        .collect();
    assert_eq!(stored.len(), server.objects.len());
    for (log, handler) in &joined {
        assert_eq!(assert_gapless(&log.changes()), stored);
        assert!(handler.has_synced());
    }
    for (at_removal, log) in &left {
        assert_eq!(log.len(), *at_removal, "a call began after the removal");
        assert_gapless(&log.changes());
    }
    running.stop().await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn late_handlers_lose_nothing_and_are_told_nothing_twice(steps in steps(), queue in 0..2_usize) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(play(&steps, queue));
    }
}
