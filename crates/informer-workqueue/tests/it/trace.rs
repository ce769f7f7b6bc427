//! Text scripts for the machine: commands, `----`, what they print.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use informer_workqueue::{
    AddOptions, Config, DelayedCopy, Fifo, ItemExponential, Machine, Outcome, Priority, Shutdown, Ticket,
};

use crate::support::epoch;

#[test]
fn traces_print_what_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/traces");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() >= 6, "{files:?}");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let printed = run(&text);
        assert!(printed == text, "{}: it printed\n{printed}", file.display());
    }
}

/// Runs the commands of a script and returns the script with what they printed.
fn run(text: &str) -> String {
    let mut script = Script::default();
    let mut printed = String::new();
    let mut in_output = false;
    for line in text.lines() {
        if line.is_empty() {
            in_output = false;
            printed.push('\n');
        } else if line == "----" {
            in_output = true;
            printed.push_str("----\n");
            printed.push_str(&std::mem::take(&mut script.output));
        } else if !in_output {
            printed.push_str(line);
            printed.push('\n');
            if !line.starts_with('#') {
                script.command(line);
            }
        }
    }
    printed
}

struct Script {
    machine: Machine<String>,
    start: Instant,
    now: Instant,
    running: BTreeMap<String, (Ticket, i32)>,
    ended: BTreeMap<String, Ticket>,
    output: String,
}

impl Default for Script {
    fn default() -> Self {
        let now = epoch();
        Self {
            machine: Machine::new(config("")),
            start: now,
            now,
            running: BTreeMap::new(),
            ended: BTreeMap::new(),
            output: String::new(),
        }
    }
}

fn config(words: &str) -> Config<String> {
    let mut config = Config::default().limiter(ItemExponential::default());
    for word in words.split_whitespace() {
        config = match word {
            "absorb" => config.delayed_copy(DelayedCopy::Absorb),
            "fifo" => config.order(Fifo::default()),
            "strict" => config.order(Priority::strict()),
            _ => panic!("no such part: {word}"),
        };
    }
    config
}

impl Script {
    fn command(&mut self, line: &str) {
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        match command {
            "queue" => {
                self.machine = Machine::new(config(rest));
                self.running.clear();
            }
            "add" => self.add(rest),
            "take" => self.take(),
            "done" => self.done(rest),
            "advance" => self.now += duration(rest),
            "forget" => self.machine.forget(&rest.to_owned()),
            "failures" => {
                let failures = self.machine.failures(&rest.to_owned());
                self.print(&format!("{failures}"));
            }
            "shutdown" => self.shut_down(rest),
            "show" => self.show(),
            _ => panic!("no such command: {line}"),
        }
    }

    fn add(&mut self, rest: &str) {
        let mut words = rest.split(' ');
        let item = words.next().unwrap().to_owned();
        let mut how = AddOptions::default();
        for word in words {
            match word.split_once('=') {
                Some(("after", delay)) => how.after = Some(duration(delay)),
                Some(("priority", priority)) => how.priority = priority.parse().unwrap(),
                _ if word == "limited" => how.rate_limited = true,
                _ => panic!("no such option: {word}"),
            }
        }
        if self.machine.add(self.now, item, how) {
            self.print("wake");
        }
    }

    fn take(&mut self) {
        match self.machine.take(self.now) {
            None if self.machine.is_closed() => self.print("closed"),
            None => self.print("nothing"),
            Some(taken) => {
                let mut line = taken.item.clone();
                if taken.priority != 0 {
                    write!(line, " priority={}", taken.priority).unwrap();
                }
                if taken.failures != 0 {
                    write!(line, " failures={}", taken.failures).unwrap();
                }
                self.print(&line);
                let before = self.running.insert(taken.item, (taken.ticket, taken.priority));
                assert!(before.is_none(), "handed out twice");
            }
        }
    }

    fn done(&mut self, rest: &str) {
        let mut words = rest.split(' ');
        let item = words.next().unwrap().to_owned();
        let outcome = match words.next() {
            None => Outcome::Done,
            Some("forget") => Outcome::Forget,
            Some("retry") => Outcome::Retry,
            Some(after) => Outcome::RetryAfter(duration(after.strip_prefix("after=").unwrap())),
        };
        // Of an item that is not in work: its last ticket, or one that never was.
        let (ticket, priority) = self
            .running
            .remove(&item)
            .unwrap_or_else(|| (self.ended.get(&item).copied().unwrap_or(Ticket(u64::MAX)), 0));
        self.ended.insert(item, ticket);
        if self.machine.done(self.now, ticket, priority, outcome) {
            self.print("wake");
        }
    }

    fn shut_down(&mut self, how: &str) {
        let how = match how {
            "now" => Shutdown::Now,
            "drain" => Shutdown::Drain { queued: true },
            "drain running" => Shutdown::Drain { queued: false },
            _ => panic!("no such way: {how}"),
        };
        let left = self.machine.shut_down(self.now, how);
        self.print(&format!("left {left:?}"));
    }

    fn show(&mut self) {
        let stats = self.machine.stats(self.now);
        let mut line = format!(
            "ready={} delayed={} running={}",
            stats.ready, stats.delayed, stats.running
        );
        if let Some(at) = self.machine.poll_timeout() {
            write!(line, " due={:?}", at.saturating_duration_since(self.start)).unwrap();
        }
        if self.machine.is_drained() {
            line.push_str(" drained");
        }
        self.print(&line);
    }

    fn print(&mut self, line: &str) {
        self.output.push_str(line);
        self.output.push('\n');
    }
}

fn duration(text: &str) -> Duration {
    let digits = text.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    let n: u64 = digits.parse().unwrap();
    match &text[digits.len()..] {
        "ms" => Duration::from_millis(n),
        "s" => Duration::from_secs(n),
        "h" => Duration::from_secs(n * 3600),
        "y" => Duration::from_secs(n * 365 * 24 * 3600),
        unit => panic!("no such unit: {unit}"),
    }
}
