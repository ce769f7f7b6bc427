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
        Self {
            seed: rng.bits(),
            initial: pick(rng, &[(1, 0), (3, slots / 2), (2, slots)]),
            slots,
            history: pick(rng, &[(1, 3), (2, 12), (2, 60), (3, 1000)]),
            bookmark_s: pick(rng, &[(1, 1), (2, 10), (2, 60)]),
            streaming_lists: rng.chance(0.8),
            replicas: pick(rng, &[(3, 1), (2, 2), (2, 3)]),
            network: network(rng),
            informers: (0..n_informers).map(|_| InformerConfig::draw(rng)).collect(),
            controller: rng.chance(0.4).then(|| ControllerConfig::draw(rng)),
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
    fn draw(rng: &mut Rng) -> Self {
        let batch = pick(rng, &[(2, 1), (2, 3), (4, 1000)]);
        Self {
            kind: rng.index(KINDS),
            which: pick(rng, &[(5, Which::All), (3, Which::Red), (2, Which::NamespaceA)]),
            streaming: rng.chance(0.6),
            any_version: rng.chance(0.2),
            page: pick(rng, &[(3, None), (1, Some(1)), (2, Some(3)), (1, Some(10))]),
            coalescing: rng.chance(0.35),
            batch,
            high_water: pick(rng, &[(1, batch), (2, batch.saturating_mul(2)), (1, 5000)]),
            resync_s: pick(rng, &[(4, None), (1, Some(2)), (2, Some(30)), (1, Some(300))]),
            internal_retry_s: pick(rng, &[(2, 0), (1, 10), (1, 120)]),
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
