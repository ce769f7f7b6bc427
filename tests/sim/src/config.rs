//! The parameters of a world, all of them drawn from a seed.

use informer_testkit::Rng;
use serde::{Deserialize, Serialize};

use crate::{
    net::Quality,
    thing::{KINDS, Which},
};

/// What a world is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Config {
    /// What is random while the world runs comes from here.
    pub(crate) seed: u64,
    /// Kinds that there are.
    #[serde(default = "all_kinds")]
    pub(crate) kinds: usize,
    /// How often in a hundred something that is done is a write.
    #[serde(default = "some_writes")]
    pub(crate) write_percent: u8,
    /// Objects that exist before any client starts, and places for objects, of each kind.
    pub(crate) initial: u8,
    pub(crate) slots: u8,
    /// Changes that the server remembers.
    pub(crate) history: u16,
    pub(crate) bookmark_s: u16,
    pub(crate) streaming_lists: bool,
    pub(crate) replicas: u8,
    pub(crate) network: Quality,
    pub(crate) informers: Vec<InformerConfig>,
    /// A controller on the first informer.
    pub(crate) controller: Option<ControllerConfig>,
    /// A work queue with workers, of nobody but the world.
    #[serde(default)]
    pub(crate) mill: Option<MillConfig>,
    /// Three candidates for a lease.
    #[serde(default)]
    pub(crate) election: Option<ElectionConfig>,
}

/// An election.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ElectionConfig {
    pub(crate) lease_ms: u32,
    pub(crate) renew_ms: u32,
    pub(crate) retry_ms: u32,
    pub(crate) release: bool,
    pub(crate) post: PostConfig,
    pub(crate) candidates: Vec<CandidateConfig>,
}

/// A candidate's clocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CandidateConfig {
    /// How fast they go, in thousandths.
    pub(crate) rate: u32,
    /// How far its monotonic clock is ahead of the world's, and what its wall clock shows at the beginning.
    pub(crate) ahead_s: u32,
    pub(crate) wall_s: u32,
}

/// How good the way to the server of leases is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PostConfig {
    pub(crate) latency_ms: u32,
    /// How often in a hundred a request is refused, comes late by seconds, or is carried out and not answered.
    pub(crate) refused_percent: u8,
    pub(crate) late_percent: u8,
    pub(crate) lost_percent: u8,
}

fn all_kinds() -> usize {
    KINDS
}

fn some_writes() -> u8 {
    45
}

/// A work queue and who works on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MillConfig {
    pub(crate) workers: u8,
    pub(crate) slow_ms: u32,
    /// Delayed copies are absorbed, as in a controller's queue.
    pub(crate) absorb: bool,
    /// What a level of priority is worth in waiting; 0 is strict.
    pub(crate) level_worth_ms: u32,
    /// The limiter: exponential from this to that.
    pub(crate) base_ms: u32,
    pub(crate) max_ms: u32,
    pub(crate) retry_percent: u8,
    pub(crate) retry_after_percent: u8,
    /// Leases that are dropped instead of finished.
    pub(crate) drop_percent: u8,
}

/// An informer, the same after each restart of its client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InformerConfig {
    pub(crate) kind: usize,
    pub(crate) which: Which,
    pub(crate) streaming: bool,
    /// The first list may be as old as the server likes.
    pub(crate) any_version: bool,
    pub(crate) page: Option<u8>,
    pub(crate) coalescing: bool,
    pub(crate) batch: u16,
    pub(crate) high_water: u16,
    pub(crate) resync_s: Option<u16>,
    pub(crate) internal_retry_s: u16,
    /// How often in a hundred an index function fails, or panics.
    #[serde(default)]
    pub(crate) index_fail_percent: u8,
    #[serde(default)]
    pub(crate) index_panic_percent: u8,
    /// How often in a hundred a poll of it comes late, and by how many milliseconds at most.
    pub(crate) stutter_percent: u8,
    pub(crate) stutter_ms: u32,
    /// Handlers beside the one that is always there.
    pub(crate) handlers: Vec<HandlerConfig>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HandlerConfig {
    pub(crate) style: Style,
    /// How many milliseconds a call takes at most, where it can await.
    pub(crate) slow_ms: u32,
    pub(crate) policy: Policy,
    pub(crate) limit: u16,
    pub(crate) resync: bool,
    /// How often in a hundred a call panics.
    pub(crate) panic_percent: u8,
}

/// How a handler is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Style {
    Sync,
    Async,
    Stream,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Policy {
    Merge,
    Unbounded,
    Block,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ControllerConfig {
    pub(crate) workers: u8,
    pub(crate) slow_ms: u32,
    pub(crate) fail_percent: u8,
    pub(crate) panic_percent: u8,
    pub(crate) requeue_percent: u8,
}

/// One of several with the weight beside it.
pub(crate) fn pick<T: Copy>(rng: &mut Rng, choices: &[(u64, T)]) -> T {
    let all = choices.iter().map(|(weight, _)| weight).sum();
    let mut at = rng.range(0..all);
    for (weight, choice) in choices {
        if at < *weight {
            return *choice;
        }
        at -= weight;
    }
    choices[0].1
}

impl Config {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let slots = pick(rng, &[(2, 3), (4, 8), (2, 20), (1, 40)]);
        let n_informers = pick(rng, &[(4, 1), (4, 2), (2, 3)]);
        let kinds = pick(rng, &[(1, 1), (2, 2), (3, KINDS)]);
        Self {
            seed: rng.bits(),
            kinds,
            write_percent: pick(rng, &[(1, 15), (3, 45), (1, 75)]),
            initial: pick(rng, &[(1, 0), (3, slots / 2), (2, slots)]),
            slots,
            history: pick(rng, &[(1, 3), (2, 12), (2, 60), (3, 1000)]),
            bookmark_s: pick(rng, &[(1, 1), (2, 10), (2, 60)]),
            streaming_lists: rng.chance(0.8),
            replicas: pick(rng, &[(3, 1), (2, 2), (2, 3)]),
            network: network(rng),
            informers: (0..n_informers)
                .map(|_| InformerConfig::draw(rng, kinds))
                .collect(),
            controller: rng.chance(0.4).then(|| ControllerConfig::draw(rng)),
            mill: rng.chance(0.35).then(|| MillConfig::draw(rng)),
            election: rng.chance(0.2).then(|| ElectionConfig::draw(rng)),
        }
    }
}

fn network(rng: &mut Rng) -> Quality {
    Quality {
        latency_us: pick(rng, &[(3, 0), (3, 2_000), (2, 300_000)]),
        held_percent: pick(rng, &[(4, 0), (2, 5), (1, 40)]),
        held_ms: pick(rng, &[(3, 20), (2, 2_000), (1, 40_000)]),
        split_percent: pick(rng, &[(3, 0), (2, 20), (1, 90)]),
        bookmark_percent: pick(rng, &[(2, 0), (1, 10)]),
    }
}

impl InformerConfig {
    fn draw(rng: &mut Rng, kinds: usize) -> Self {
        let batch = pick(rng, &[(2, 1), (2, 3), (4, 1000)]);
        let unsure = pick(rng, &[(5, 0), (1, 2), (1, 15)]);
        let panics = rng.chance(0.4);
        Self {
            kind: rng.index(kinds),
            which: pick(rng, &[(5, Which::All), (3, Which::Red), (2, Which::NamespaceA)]),
            streaming: rng.chance(0.6),
            any_version: rng.chance(0.2),
            page: pick(rng, &[(3, None), (1, Some(1)), (2, Some(3)), (1, Some(10))]),
            coalescing: rng.chance(0.35),
            batch,
            high_water: pick(rng, &[(1, batch), (2, batch.saturating_mul(2)), (1, 5000)]),
            resync_s: pick(rng, &[(4, None), (1, Some(2)), (2, Some(30)), (1, Some(300))]),
            internal_retry_s: pick(rng, &[(2, 0), (1, 10), (1, 120)]),
            index_fail_percent: if panics { 0 } else { unsure },
            index_panic_percent: if panics { unsure } else { 0 },
            stutter_percent: pick(rng, &[(3, 0), (2, 5), (1, 40)]),
            stutter_ms: pick(rng, &[(2, 1), (2, 20), (1, 50)]),
            handlers: (0..pick(rng, &[(2, 0), (3, 1), (2, 2)]))
                .map(|_| HandlerConfig::draw(rng))
                .collect(),
        }
    }
}

impl HandlerConfig {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        Self {
            style: pick(rng, &[(3, Style::Sync), (4, Style::Async), (2, Style::Stream)]),
            slow_ms: pick(rng, &[(2, 0), (3, 20), (2, 400), (1, 4_000)]),
            policy: pick(
                rng,
                &[(4, Policy::Merge), (2, Policy::Unbounded), (1, Policy::Block)],
            ),
            limit: pick(rng, &[(1, 1), (2, 3), (2, 10), (1, 1024)]),
            resync: rng.chance(0.6),
            panic_percent: pick(rng, &[(4, 0), (1, 10), (1, 60)]),
        }
    }

    /// The handler that every informer has: quick, patient, told of everything.
    pub(crate) fn reference() -> Self {
        Self {
            style: Style::Sync,
            slow_ms: 0,
            policy: Policy::Unbounded,
            limit: 0,
            resync: true,
            panic_percent: 0,
        }
    }
}

impl ControllerConfig {
    fn draw(rng: &mut Rng) -> Self {
        Self {
            workers: pick(rng, &[(2, 1), (2, 3), (1, 8)]),
            slow_ms: pick(rng, &[(1, 0), (2, 30), (2, 1_000)]),
            fail_percent: pick(rng, &[(2, 0), (2, 15), (1, 50)]),
            panic_percent: pick(rng, &[(3, 0), (1, 10)]),
            requeue_percent: pick(rng, &[(2, 0), (1, 15)]),
        }
    }
}

impl MillConfig {
    fn draw(rng: &mut Rng) -> Self {
        let base_ms = pick(rng, &[(2, 5), (1, 200)]);
        Self {
            workers: pick(rng, &[(3, 1), (2, 2), (1, 5)]),
            slow_ms: pick(rng, &[(1, 0), (3, 40), (2, 400)]),
            absorb: rng.chance(0.5),
            level_worth_ms: pick(rng, &[(2, 10), (3, 100), (1, 0)]),
            base_ms,
            max_ms: pick(rng, &[(2, base_ms * 8), (1, 60_000)]),
            retry_percent: pick(rng, &[(2, 0), (2, 15), (1, 50)]),
            retry_after_percent: pick(rng, &[(2, 0), (1, 10)]),
            drop_percent: pick(rng, &[(3, 0), (1, 20)]),
        }
    }
}

impl ElectionConfig {
    fn draw(rng: &mut Rng) -> Self {
        let (lease_ms, renew_ms, retry_ms) = pick(
            rng,
            &[
                (3, (15_000, 10_000, 2_000)),
                (1, (60_000, 40_000, 5_000)),
                (1, (4_000, 3_000, 700)),
            ],
        );
        // The rates are apart by less than the lease duration over the renew deadline.
        let slowest = pick(rng, &[(2, 1000), (1, 700)]);
        let fastest = slowest * lease_ms / renew_ms - 1;
        let mut rate = || {
            pick(
                rng,
                &[(2, slowest), (1, u32::midpoint(slowest, fastest)), (2, fastest)],
            )
        };
        let rates = [rate(), rate(), rate()];
        Self {
            lease_ms,
            renew_ms,
            retry_ms,
            release: rng.chance(0.6),
            post: PostConfig {
                latency_ms: pick(rng, &[(1, 0), (2, 40), (2, 1_500)]),
                refused_percent: pick(rng, &[(2, 0), (1, 5), (1, 30)]),
                late_percent: pick(rng, &[(2, 0), (1, 5), (2, 40)]),
                lost_percent: pick(rng, &[(2, 0), (1, 5), (1, 30)]),
            },
            candidates: rates
                .into_iter()
                .map(|rate| CandidateConfig {
                    rate,
                    ahead_s: pick(rng, &[(1, 0), (1, 3_600)]),
                    wall_s: pick(rng, &[(1, 1_767_225_600), (1, 1_767_222_000), (1, 1_767_311_999)]),
                })
                .collect(),
        }
    }
}
