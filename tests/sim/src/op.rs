//! What is done to a world, as data: drawn from a seed, printed, read back, left out one by one by the minimiser.

use informer_testkit::Rng;
use serde::{Deserialize, Serialize};

use crate::{
    config::{Config, HandlerConfig, pick},
    mishap::{Mishap, On},
    thing::Color,
};

/// One thing that is done. Numbers are taken modulo what there is, so that every operation fits every world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub(crate) enum Op {
    /// Something changes at the server.
    Write {
        kind: usize,
        slot: u8,
        how: Write,
    },
    /// Much changes at once.
    Burst {
        kind: usize,
        n: u8,
    },
    /// So many tasks are polled.
    Run {
        polls: u16,
    },
    /// Everything runs until nothing is ready.
    Settle,
    /// Virtual time passes.
    Pass {
        ms: u32,
    },
    /// A request to come goes wrong.
    Fault {
        on: On,
        mishap: Mishap,
        skip: u8,
        times: u8,
    },
    /// From now on this share of the requests goes wrong.
    Chaos {
        on: On,
        percent: u8,
        mishaps: Vec<Mishap>,
    },
    /// Requests that are begun from now on do not go wrong.
    Calm,
    /// No request succeeds for so long.
    Outage {
        mishap: Mishap,
        seconds: u32,
    },
    Down,
    Up,
    Restart,
    /// All connections are cut.
    Cut,
    /// All watches are ended by the server.
    EndWatches,
    /// The server forgets all but this many of its latest revisions.
    Compact {
        keep: u16,
    },
    Lag {
        replica: u8,
        revisions: u16,
        ms: u32,
    },
    /// The server's data is restored from a backup of so many revisions ago.
    Restore {
        back: u16,
    },
    /// An item is added to the work queue.
    Add {
        item: u8,
        how: How,
    },
    /// Items of high priority are added to it all the time.
    Flood {
        keys: u8,
        ms: u32,
    },
    /// It is shut down, and another one takes its place. Where it is not drained by then, harder.
    Drain {
        how: Ending,
        deadline_ms: u32,
    },
    /// A candidate of the election is started, stopped or killed.
    Candidate {
        which: u8,
        fate: Fate,
    },
    /// It is cut off from the server of leases.
    CutOff {
        which: u8,
        ms: u32,
    },
    /// Somebody else writes to the lease.
    Touch,
    /// The custom kind ceases to be served, or is served again.
    Unserve,
    Serve,
    AddHandler {
        informer: u8,
        handler: HandlerConfig,
    },
    RemoveHandler {
        informer: u8,
        nth: u8,
    },
    /// The next calls of a handler panic.
    Panic {
        informer: u8,
        nth: u8,
        times: u8,
    },
    /// A client is restarted: its informer stops, orderly or by being dropped, and another one starts.
    RestartClient {
        informer: u8,
        orderly: bool,
    },
    /// Somebody waits until the store has what was written last.
    WaitFor {
        informer: u8,
    },
}

/// How an item is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct How {
    pub(crate) after_ms: u32,
    pub(crate) limited: bool,
    pub(crate) priority: i32,
}

/// How a work queue ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Ending {
    /// What is ready is still worked on.
    Drain,
    /// Only what is in work ends.
    Finish,
    Now,
}

/// What becomes of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Fate {
    Start,
    Stop,
    Kill,
}

/// Between these are all priorities.
pub(crate) const PRIORITIES: (i32, i32) = (-10, 10);

impl How {
    fn draw(rng: &mut Rng) -> Self {
        Self {
            after_ms: pick(rng, &[(6, 0), (2, 1), (2, 50), (2, 700), (1, 20_000)]),
            limited: rng.chance(0.2),
            priority: pick(
                rng,
                &[(4, 0), (1, PRIORITIES.0), (1, -3), (1, 4), (1, PRIORITIES.1)],
            ),
        }
    }
}

/// A change of one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Write {
    /// Created, or written once more.
    Put,
    /// The same in another color, so that it may come into a selector or leave it.
    Red,
    Green,
    Blue,
    Delete,
    /// Deleted and created at once: another uid.
    Recreate,
    /// Written so that no client can decode it.
    Break,
    /// With a finalizer.
    Guard,
    /// Marked for deletion, if there is a finalizer; without one it is gone.
    Release,
}

impl Write {
    fn draw(rng: &mut Rng) -> Self {
        pick(
            rng,
            &[
                (12, Self::Put),
                (2, Self::Red),
                (2, Self::Green),
                (1, Self::Blue),
                (7, Self::Delete),
                (3, Self::Recreate),
                (1, Self::Break),
                (1, Self::Guard),
                (1, Self::Release),
            ],
        )
    }

    pub(crate) fn color(self) -> Option<Color> {
        match self {
            Self::Red => Some(Color::Red),
            Self::Green => Some(Color::Green),
            Self::Blue => Some(Color::Blue),
            _ => None,
        }
    }
}

impl Op {
    /// What is done, and how much of it is seen before the next.
    pub(crate) fn draw(rng: &mut Rng, config: &Config, ops: &mut Vec<Self>) {
        let act = Self::act(rng, config);
        let calm = matches!(act, Self::Write { .. });
        ops.push(act);
        let long = if calm { 1 } else { 4 };
        match rng.range(0..10) {
            0..=2 => ops.push(Self::Run {
                polls: pick(rng, &[(3, 1), (2, 3), (2, 10), (1, 40)]),
            }),
            3..=4 => ops.push(Self::Settle),
            5..=8 => ops.push(Self::Pass {
                ms: pick(
                    rng,
                    &[
                        (6, 1),
                        (6, 50),
                        (5, 1_000),
                        (long, 10_000),
                        (long, 70_000),
                        (1, 700_000),
                    ],
                ),
            }),
            _ => {}
        }
    }

    fn act(rng: &mut Rng, config: &Config) -> Self {
        let informer = u8::try_from(rng.range(0..8)).unwrap_or_default();
        if config.mill.is_some() && rng.chance(0.3) {
            return Self::at_mill(rng);
        }
        if config.election.is_some() && rng.chance(0.3) {
            return Self::at_election(rng);
        }
        if rng.range(0..100) < u64::from(config.write_percent) {
            return Self::Write {
                kind: kind(rng, config),
                slot: slot(rng, config),
                how: Write::draw(rng),
            };
        }
        match rng.range(43..100) {
            43..=44 => Self::Restore {
                back: pick(rng, &[(2, 1), (2, 4), (2, 20)]),
            },
            45..=49 => Self::Burst {
                kind: kind(rng, config),
                n: pick(rng, &[(2, 5), (2, 20), (1, 60)]),
            },
            50..=59 => Self::Fault {
                on: On::draw(rng),
                mishap: Mishap::draw(rng),
                skip: pick(rng, &[(3, 0), (1, 1), (1, 3)]),
                times: pick(rng, &[(5, 1), (2, 2), (1, 6)]),
            },
            60..=62 => Self::Chaos {
                on: On::draw(rng),
                percent: pick(rng, &[(2, 10), (2, 40), (1, 80)]),
                mishaps: (0..=rng.range(0..4)).map(|_| Mishap::draw(rng)).collect(),
            },
            63..=65 => Self::Calm,
            66 => Self::Down,
            67..=68 => Self::Up,
            69..=70 => Self::Restart,
            71..=73 => Self::Cut,
            74..=75 => Self::EndWatches,
            76..=78 => Self::Compact {
                keep: pick(rng, &[(2, 0), (1, 2), (1, 10)]),
            },
            79..=82 => Self::Lag {
                replica: u8::try_from(rng.range(0..4)).unwrap_or_default(),
                revisions: pick(rng, &[(1, 1), (2, 5), (2, 50)]),
                ms: pick(rng, &[(2, 500), (2, 5_000), (1, 60_000)]),
            },
            83 => Self::Unserve,
            84..=85 => Self::Serve,
            86..=88 => Self::AddHandler {
                informer,
                handler: HandlerConfig::draw(rng),
            },
            89..=90 => Self::RemoveHandler {
                informer,
                nth: u8::try_from(rng.range(0..4)).unwrap_or_default(),
            },
            91..=92 => Self::Panic {
                informer,
                nth: u8::try_from(rng.range(0..4)).unwrap_or_default(),
                times: pick(rng, &[(2, 1), (1, 5)]),
            },
            93..=95 => Self::RestartClient {
                informer,
                orderly: rng.chance(0.6),
            },
            _ => Self::WaitFor { informer },
        }
    }
}

impl Op {
    fn at_election(rng: &mut Rng) -> Self {
        let which = u8::try_from(rng.range(0..3)).unwrap_or_default();
        match rng.range(0..10) {
            0..=4 => Self::Candidate {
                which,
                fate: pick(rng, &[(4, Fate::Start), (4, Fate::Stop), (1, Fate::Kill)]),
            },
            5..=7 => Self::CutOff {
                which,
                ms: pick(rng, &[(2, 3_000), (3, 14_000), (1, 60_000)]),
            },
            _ => Self::Touch,
        }
    }

    fn at_mill(rng: &mut Rng) -> Self {
        let item = u8::try_from(rng.range(0..12)).unwrap_or_default();
        match rng.range(0..20) {
            0..=16 => Self::Add {
                item,
                how: How::draw(rng),
            },
            17 => Self::Flood {
                keys: pick(rng, &[(1, 2), (2, 6)]),
                ms: pick(rng, &[(1, 500), (2, 6_000)]),
            },
            _ => Self::Drain {
                how: pick(rng, &[(4, Ending::Drain), (2, Ending::Finish), (1, Ending::Now)]),
                deadline_ms: pick(rng, &[(1, 0), (2, 100), (2, 10_000)]),
            },
        }
    }
}

/// More often than not a kind that somebody watches.
fn kind(rng: &mut Rng, config: &Config) -> usize {
    if rng.chance(0.85) {
        config.informers[rng.index(config.informers.len())].kind
    } else {
        rng.index(config.kinds)
    }
}

fn slot(rng: &mut Rng, config: &Config) -> u8 {
    u8::try_from(rng.range(0..config.slots.into())).unwrap_or_default()
}
