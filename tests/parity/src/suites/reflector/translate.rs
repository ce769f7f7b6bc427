//! What our reflector should do where client-go's does this.

use std::collections::VecDeque;

use crate::{
    difference::{Difference, Differences},
    sequence::{Op, Step},
};

/// After so many watches in a row that brought nothing, ours does not trust their version any more.
const MOST_FRUITLESS: u32 = 3;

/// What was told so far.
#[derive(Debug)]
pub(super) struct Told {
    streams: bool,
    has_window: bool,
    page: Option<String>,
    /// The server's refusal of streaming lists was seen.
    refused: bool,
    /// The watch that is open has brought something, in ours.
    fruitful: bool,
    fruitless: u32,
    is_open: bool,
    /// It is told nothing any more.
    stalled: bool,
    version: String,
}

impl Told {
    pub(super) fn new(ops: &[String]) -> Self {
        let start = ops.iter().map(|op| Op::read(op)).find(|op| op.verb == "start");
        let has =
            |word: &str| start.is_some_and(|op| op.args().any(|arg| arg.split('=').next() == Some(word)));
        Self {
            streams: has("stream") && !has("nostream"),
            has_window: has("internal"),
            page: start.and_then(|op| {
                op.args()
                    .find_map(|arg| arg.strip_prefix("page="))
                    .map(str::to_owned)
            }),
            refused: false,
            fruitful: false,
            fruitless: 0,
            is_open: false,
            stalled: false,
            version: String::new(),
        }
    }

    pub(super) fn translate(&mut self, op: &str, step: &Step, met: &mut Differences) -> Step {
        let op = Op::read(op);
        let mut walk = Walk {
            lines: self.remembered(step, met),
            ours: Vec::new(),
            version: self.version.clone(),
            asks_again: false,
            relisted: false,
            is_token_refused: false,
        };
        let was_open = self.is_open;
        match (op.verb, op.arg()) {
            ("end" | "cut", _) if was_open => {
                let is_short = walk.lines.front().is_some_and(|line| line.starts_with("waited"));
                if is_short || op.verb == "cut" && !self.fruitful {
                    self.fruitless(&mut walk, met);
                } else {
                    self.fruitless = 0;
                }
            }
            ("error", "503") if was_open => self.fruitless(&mut walk, met),
            ("error", "500") if was_open && self.has_window => self.again(&mut walk, met),
            _ => {}
        }
        while let Some(line) = walk.lines.pop_front() {
            self.line(line, &mut walk, met);
        }
        self.look(op, step, &walk, was_open);
        Step {
            said: walk.ours,
            seen: step.seen.clone(),
        }
    }

    /// Without what ours does not ask again, because it remembers the refusal.
    fn remembered(&mut self, step: &Step, met: &mut Differences) -> VecDeque<String> {
        let mut lines = VecDeque::new();
        for line in &step.said {
            if line.starts_with("stream ") && line.ends_with(" -> 422") {
                if self.refused {
                    met.met(Difference::StreamMemory);
                    continue;
                }
                self.refused = true;
            }
            lines.push_back(line.clone());
        }
        lines
    }

    /// A request as client-go has made it, and what ours does about the answer.
    fn line(&mut self, line: String, walk: &mut Walk, met: &mut Differences) {
        let (asked, answer) = line.split_once(" -> ").unwrap_or((&line, ""));
        let (kind, query) = asked.split_once(' ').unwrap_or((asked, ""));
        if kind == "list" {
            if answer == "ok" {
                walk.relisted = true;
            }
            let asked = list(query, walk, met);
            walk.is_token_refused = query.contains("continue=") && answer == "410";
            walk.ours.push(format!("{asked} -> {answer}"));
            return;
        }
        let line = if walk.asks_again && kind == "watch" {
            format!("{} -> {answer}", watch(&walk.version))
        } else {
            line.clone()
        };
        walk.ours.push(line);
        if kind != "watch" {
            return;
        }
        let answer = answer.to_owned();
        match answer.as_str() {
            "503" | "401" | "short" | "e503" | "eof" | "timeout" => {
                self.fruitful = false;
                self.fruitless(walk, met);
            }
            "500" | "e500" if self.has_window => self.again(walk, met),
            _ => {}
        }
    }

    /// A watch failed in a way that says nothing of its version: ours watches again, a few times, where client-go lists.
    fn fruitless(&mut self, walk: &mut Walk, met: &mut Differences) {
        if self.fruitful {
            self.fruitful = false;
            self.fruitless = 0;
            walk.lines.pop_front_if(|line| line.starts_with("waited"));
            self.instead(walk, met);
            return;
        }
        self.fruitless += 1;
        if walk.lines.front().is_some_and(|line| line.starts_with("waited")) {
            walk.ours.extend(walk.lines.pop_front());
        } else {
            met.met(Difference::WatchFirst);
            walk.ours.push("waited".to_owned());
        }
        if self.fruitless < MOST_FRUITLESS {
            self.instead(walk, met);
            return;
        }
        self.fruitless = 0;
        // The REST client of client-go asks again by itself after some of them; ours has seen three failures.
        if walk.lines.front().is_some_and(|line| line.starts_with("watch ")) {
            met.met(Difference::WatchFirst);
            self.list_first(walk);
        }
    }

    /// An internal error within the time for which they are retried: ours waits, and does not list.
    fn again(&mut self, walk: &mut Walk, met: &mut Differences) {
        self.fruitful = false;
        if walk.lines.front().is_some_and(|line| line.starts_with("waited")) {
            walk.ours.extend(walk.lines.pop_front());
        } else {
            met.met(Difference::InternalAtOnce);
            walk.ours.push("waited".to_owned());
        }
        self.instead(walk, met);
    }

    /// Leaves out that client-go takes the whole state before it watches again.
    fn instead(&self, walk: &mut Walk, met: &mut Differences) {
        while let Some(line) = walk.lines.pop_front_if(|line| !line.starts_with("watch ")) {
            met.met(Difference::WatchFirst);
            walk.asks_again = true;
            if line.starts_with("stream ") && line.ends_with(" -> ok") {
                walk.lines.push_front(format!("{} -> ok", watch(&walk.version)));
            }
        }
    }

    /// The list, or the streaming list, that ours takes before the watch.
    fn list_first(&self, walk: &mut Walk) {
        let version = &walk.version;
        if self.streams {
            walk.lines.pop_front();
            walk.lines.push_front(format!(
                "stream allowWatchBookmarks=true&resourceVersion={version}&resourceVersionMatch=NotOlderThan\
                 &sendInitialEvents=true&timeoutSeconds=300..600&watch=true -> ok"
            ));
            return;
        }
        let limit = self
            .page
            .as_ref()
            .map(|page| format!("limit={page}&"))
            .unwrap_or_default();
        walk.lines
            .push_front(format!("list {limit}resourceVersion={version} -> ok"));
    }

    /// How it is after the step.
    fn look(&mut self, op: Op<'_>, step: &Step, walk: &Walk, was_open: bool) {
        let last = walk.ours.iter().rev().find(|line| !line.starts_with("waited"));
        if let Some(last) = last {
            self.is_open = !last.starts_with("list ") && last.ends_with(" -> ok");
            self.fruitful = self.is_open && last.starts_with("stream ");
            self.stalled = false;
        }
        let version = step.seen.get("version");
        let is_new = version.is_some_and(|version| *version != self.version);
        if let Some(version) = version {
            self.version.clone_from(version);
        }
        let told =
            matches!(op.verb, "create" | "modify" | "delete" | "bookmark") && was_open && !self.stalled;
        self.stalled |= op.verb == "lose";
        if is_new && !walk.relisted || told {
            self.fruitful = true;
            self.fruitless = 0;
        }
    }
}

/// The lines of a step, client-go's on the left, ours on the right.
struct Walk {
    lines: VecDeque<String>,
    ours: Vec<String>,
    /// What ours has seen last.
    version: String,
    /// Ours has taken no whole state where client-go has.
    asks_again: bool,
    /// Both have.
    relisted: bool,
    /// A later page was refused just now.
    is_token_refused: bool,
}

fn watch(version: &str) -> String {
    format!("watch allowWatchBookmarks=true&resourceVersion={version}&timeoutSeconds=300..600&watch=true")
}

/// A list as ours asks for it.
fn list(query: &str, walk: &mut Walk, met: &mut Differences) -> String {
    if query.is_empty() && !walk.is_token_refused {
        met.met(Difference::WholeQuorumList);
        return "list limit=500".to_owned();
    }
    let mut query = query.to_owned();
    if walk.asks_again && !query.contains("continue=") {
        let parts: Vec<String> = query
            .split('&')
            .map(|part| match part.strip_prefix("resourceVersion=") {
                Some(_) => format!("resourceVersion={}", walk.version),
                None => part.to_owned(),
            })
            .collect();
        query = parts.join("&");
        walk.asks_again = false;
    }
    let has_version = query.contains("resourceVersion=") && !query.contains("resourceVersion=0");
    if has_version && query.contains("limit=") {
        met.met(Difference::ExactPages);
        query.push_str("&resourceVersionMatch=NotOlderThan");
    }
    format!("list {query}")
}
