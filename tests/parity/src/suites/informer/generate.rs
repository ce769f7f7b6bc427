//! Random lives of an informer.

use std::collections::{BTreeMap, BTreeSet};

use crate::random::Random;

const KEYS: [&str; 6] = ["a/x", "a/y", "b/x", "a-b/x", "b/z", "c"];
const VALUES: [&str; 4] = ["p", "q", "r", "s"];

pub(super) struct Generator<'a> {
    random: &'a mut Random,
    /// What exists, and under which uid.
    exists: BTreeMap<&'static str, usize>,
    /// What it holds.
    values: BTreeMap<&'static str, String>,
    n_uids: usize,
    n_handlers: usize,
    joined: Vec<Member>,
    started: bool,
    synced: bool,
    down: bool,
    /// The informer resyncs; then the watch never breaks, as the time of a list that follows is by chance.
    resyncs: bool,
    /// Handlers filter. Then every end is that of the last state that was seen, and no object takes another's name unseen: client-go asks
    /// a filter about whatever it was told last, and joins two objects before it asks.
    filters: bool,
    /// There is one handler, from the start, and nothing is done about it.
    one_handler: bool,
    gone_unseen: BTreeSet<&'static str>,
}

struct Member {
    name: String,
    held: bool,
    /// It surely had its initial adds.
    settled: bool,
}

impl<'a> Generator<'a> {
    pub(super) fn new(random: &'a mut Random) -> Self {
        Self {
            random,
            exists: BTreeMap::new(),
            values: BTreeMap::new(),
            n_uids: 0,
            n_handlers: 0,
            joined: Vec::new(),
            started: false,
            synced: false,
            down: false,
            resyncs: false,
            filters: false,
            one_handler: false,
            gone_unseen: BTreeSet::new(),
        }
    }

    pub(super) fn of_one_handler(mut self) -> Self {
        self.one_handler = true;
        self
    }

    pub(super) fn ops(mut self) -> Vec<String> {
        let mut ops = Vec::new();
        if self.random.once_in(4) {
            self.resyncs = true;
            ops.push(format!("new {}", 1000 * (self.random.below(20) + 1)));
        }
        self.filters = self.random.once_in(4) && !self.one_handler;
        if self.random.once_in(4) && !self.one_handler {
            ops.push("transform drop".to_owned());
        }
        for _ in 0..self.random.below(6) {
            let op = self.op(&[
                (3, "change"),
                (3, "join"),
                (1, "leave"),
                (1, "cut"),
                (1, "index"),
                (1, "hold"),
            ]);
            ops.extend(op);
        }
        ops.push("start".to_owned());
        self.started = true;
        self.synced = !self.down;
        for _ in 0..self.random.below(30) + 5 {
            let op = self.op(&[
                (14, "change"),
                (4, "burst"),
                (1, "swap"),
                (3, "join"),
                (1, "leave"),
                (2, "hold"),
                (3, "release"),
                (2, "cut"),
                (3, "heal"),
                (1, "panic"),
                (1, "index"),
                (if self.resyncs { 8 } else { 1 }, "wait"),
            ]);
            ops.extend(op);
        }
        if self.random.once_in(3) {
            ops.push("stop".to_owned());
            for _ in 0..self.random.below(4) {
                ops.extend(self.op(&[(2, "change"), (1, "join"), (1, "leave"), (1, "wait")]));
            }
        }
        ops
    }

    fn op(&mut self, of: &[(usize, &'static str)]) -> Option<String> {
        let verb = self.random.weighted(of);
        if self.one_handler && ["join", "leave", "hold", "release", "panic"].contains(&verb) {
            return None;
        }
        let op = match verb {
            "change" => self.change(),
            "burst" => {
                let n = self.random.below(5) + 2;
                let changes: Vec<String> = (0..n).map(|_| self.change()).collect();
                format!("burst {}", changes.join("; "))
            }
            "swap" if !self.filters => self.swap()?,
            "join" if self.n_handlers < 6 => self.join(),
            "leave" if !self.joined.is_empty() => {
                let at = self.random.below(self.joined.len());
                format!("leave {}", self.joined.remove(at).name)
            }
            "hold" | "release" => self.hold(verb == "hold")?,
            "cut" if !self.down && !self.resyncs => {
                self.down = true;
                verb.to_owned()
            }
            "heal" if self.down => {
                self.down = false;
                self.gone_unseen.clear();
                self.synced |= self.started;
                verb.to_owned()
            }
            "panic" => self.panic()?,
            "index" => format!("index {}", self.random.pick(&["first", "each", "more"])),
            "wait" => format!("wait {}", [400, 1000, 2500, 5000, 12_000][self.random.below(5)]),
            _ => return None,
        };
        if self.synced {
            for member in &mut self.joined {
                member.settled |= !member.held;
            }
        }
        Some(op)
    }

    fn change(&mut self) -> String {
        let free: Vec<&'static str> = KEYS
            .into_iter()
            .filter(|key| !self.gone_unseen.contains(key))
            .collect();
        let key = *self.random.pick(&free);
        let lost = if !self.filters && self.random.once_in(7) {
            "lose "
        } else {
            ""
        };
        let n = self.random.below(3);
        let values: Vec<&str> = (0..n).map(|_| *self.random.pick(&VALUES)).collect();
        let mut values = values.join(",");
        let (verb, uid) = match self.exists.get(key) {
            Some(uid) if free.len() > 1 && self.random.once_in(3) => ("delete", *uid),
            Some(uid) => ("modify", *uid),
            None => {
                self.n_uids += 1;
                ("create", self.n_uids)
            }
        };
        if verb == "delete" {
            self.exists.remove(key);
            if self.filters {
                values = self.values.remove(key).unwrap_or_default();
                if self.down {
                    self.gone_unseen.insert(key);
                }
            }
        } else {
            self.exists.insert(key, uid);
            self.values.insert(key, values.clone());
        }
        format!("{lost}{verb} {key}@#u{uid}[{values}]")
    }

    /// One object takes another's name, and nobody sees it.
    fn swap(&mut self) -> Option<String> {
        let there: Vec<(&'static str, usize)> = self.exists.iter().map(|(key, uid)| (*key, *uid)).collect();
        let (key, old) = (!there.is_empty()).then(|| *self.random.pick(&there))?;
        self.n_uids += 1;
        let new = self.n_uids;
        self.exists.insert(key, new);
        Some(format!(
            "burst lose delete {key}@#u{old}[]; lose create {key}@#u{new}[]"
        ))
    }

    fn join(&mut self) -> String {
        self.n_handlers += 1;
        let name = format!("h{}", self.n_handlers);
        self.joined.push(Member {
            name: name.clone(),
            held: false,
            settled: false,
        });
        if self.filters && self.random.once_in(2) {
            return format!("filter {name} {}", self.random.pick(&VALUES));
        }
        match self.random.below(4) {
            0 => format!("join {name} 0"),
            1 | 2 if self.resyncs => format!("join {name} {}", 500 * (self.random.below(40) + 1)),
            _ => format!("join {name}"),
        }
    }

    fn hold(&mut self, hold: bool) -> Option<String> {
        let mut others: Vec<&mut Member> = self.joined.iter_mut().filter(|it| it.held != hold).collect();
        let at = (!others.is_empty()).then(|| self.random.below(others.len()))?;
        others[at].held = hold;
        let verb = if hold { "hold" } else { "release" };
        Some(format!("{verb} {}", others[at].name))
    }

    /// An initial add that panics is a difference with a trace of its own.
    fn panic(&mut self) -> Option<String> {
        let others: Vec<&Member> = self.joined.iter().filter(|it| it.settled).collect();
        let at = (!others.is_empty() && !self.resyncs).then(|| self.random.below(others.len()))?;
        Some(format!("panic {} {}", others[at].name, self.random.pick(&KEYS)))
    }
}
