//! Runs a text trace through the machine and prints what it does.
//!
//! Blocks are separated by blank lines. A block is input lines, `----`, and the actions that follow. Inputs: `options …` (first block only),
//! `start`, `read none` or `read RECORD`, `written` (the last write goes through), `conflict`, `fail`, `stop`, `work-ended`, `wait SECONDS`
//! (time passes, the machine is not told), `timeout` (time passes until the machine wants to be told), `status`. A record is
//! `HOLDER DURATION VERSION [transitions=N] [renewed=N] [strategy=S] [preferred=S]`, `-` for no holder.

use std::{
    fmt::Write,
    sync::Arc,
    time::{Duration, Instant},
};

use informer_core::ResourceVersion;
use informer_leaderelection::{Action, Failure, Input, Machine, MicroTime, Observed, Options, Record};

#[expect(clippy::disallowed_methods, reason = "any instant will do to count from")]
pub(crate) fn epoch() -> Instant {
    Instant::now()
}

/// Runs `script` and returns it with the actions that were really taken.
pub(crate) fn run(script: &str) -> String {
    let start = epoch();
    let mut options = Options::new("a");
    options.release_on_cancel = true;
    let mut runner = Runner {
        machine: None,
        options,
        start,
        now: start,
        sent: None,
        version: 100,
    };
    let mut out = String::new();
    for block in script.split("\n\n") {
        let inputs = block.split("----").next().unwrap_or_default().trim_end();
        if inputs.trim().is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        let inputs = inputs.trim_start_matches('\n');
        writeln!(out, "{inputs}").unwrap();
        if inputs.lines().all(|line| line.starts_with('#')) {
            continue;
        }
        writeln!(out, "----").unwrap();
        for line in inputs.lines().filter(|line| !line.starts_with('#')) {
            runner.line(line, &mut out);
        }
    }
    out
}

struct Runner {
    machine: Option<Machine>,
    options: Options,
    start: Instant,
    now: Instant,
    /// The last write, as it was sent.
    sent: Option<Record>,
    version: u32,
}

impl Runner {
    fn line(&mut self, line: &str, out: &mut String) {
        let mut words = line.split_whitespace();
        match words.next().unwrap() {
            "options" => words.for_each(|word| self.option(word)),
            "start" => self.machine = Some(Machine::new(self.options.clone(), 7, self.now).unwrap()),
            "wait" => self.now += seconds(words.next().unwrap()),
            "timeout" => {
                let at = self
                    .machine()
                    .poll_timeout()
                    .expect("the machine wants to be told");
                let wait = at.saturating_duration_since(self.now);
                self.now += wait;
                let now = self.now;
                self.machine().handle_timeout(now);
                writeln!(
                    out,
                    "(after {:?})",
                    Duration::from_millis(wait.as_millis() as u64)
                )
                .unwrap();
            }
            "status" => writeln!(out, "{}", self.status()).unwrap(),
            word => {
                let input = self.input(word, words);
                let now = self.now;
                self.machine().handle_input(now, input);
            }
        }
        while let Some(action) = self.machine.as_mut().and_then(Machine::poll_action) {
            let line = self.show(action);
            writeln!(out, "{line}").unwrap();
        }
    }

    fn machine(&mut self) -> &mut Machine {
        self.machine.as_mut().expect("`start` comes first")
    }

    fn option(&mut self, word: &str) {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        match name {
            "lease" => self.options.lease_duration = seconds(value),
            "renew" => self.options.renew_deadline = seconds(value),
            "retry" => self.options.retry_period = seconds(value),
            "call" => self.options.call_timeout = Some(seconds(value)),
            "keep" => self.options.release_on_cancel = false,
            "coordinated" => self.options.coordinated = true,
            _ => panic!("no such option: {word}"),
        }
    }

    fn input<'a>(&mut self, word: &str, mut words: impl Iterator<Item = &'a str>) -> Input {
        match word {
            "read" => match words.next().unwrap() {
                "none" => Input::Read(None),
                holder => Input::Read(Some(observed(holder, words))),
            },
            "written" => {
                self.version += 1;
                let version = ResourceVersion::new(self.version.to_string());
                let record = self.sent.clone().expect("a write was sent");
                Input::Written(Observed { record, version })
            }
            "conflict" => Input::Failed(Failure::Conflict),
            "fail" => Input::Failed(Failure::Other),
            "stop" => Input::Stop,
            "work-ended" => Input::WorkEnded,
            _ => panic!("no such input: {word}"),
        }
    }

    fn show(&mut self, action: Action) -> String {
        match action {
            Action::Create(record) => format!("create {}", self.send(record)),
            Action::Update { record, at } => format!("update at {}: {}", at.as_str(), self.send(record)),
            Action::Release { record, at } => format!("release at {}: {}", at.as_str(), self.send(record)),
            Action::StartedLeading(term) => format!("started leading, term {term}"),
            Action::StoppedLeading(why) => format!("stopped leading: {why:?}"),
            Action::NewLeader(holder) => format!("new leader: {holder:?}"),
            Action::Ended(end) => format!("ended: {end:?}"),
            other => format!("{other:?}").to_lowercase(),
        }
    }

    /// Stamps it with the time since the start, and shows it.
    fn send(&mut self, mut record: Record) -> String {
        let wall = (self.now - self.start).as_micros();
        record.stamp(MicroTime::from_micros(i64::try_from(wall).unwrap()));
        let text = show(&record);
        self.sent = Some(record);
        text
    }

    fn status(&mut self) -> String {
        let now = self.now;
        let machine = self.machine();
        let until = machine
            .leads_until()
            .map(|until| until.saturating_duration_since(now));
        format!(
            "leader={:?} term={} leads for {:?}",
            machine.leader().map_or("", |leader| leader),
            machine
                .term(now)
                .map_or_else(|| "-".to_owned(), ToString::to_string),
            until.map(|until| Duration::from_millis(until.as_millis() as u64)),
        )
    }
}

fn show(record: &Record) -> String {
    let time = |time: Option<MicroTime>| time.map_or(-1.0, |time| time.as_micros() as f64 / 1e6);
    let mut text = format!(
        "{} {} transitions={} acquired={:.2} renewed={:.2}",
        if record.is_free() { "-" } else { &record.holder },
        record.duration_seconds,
        record.transitions,
        time(record.acquired),
        time(record.renewed),
    );
    for (name, value) in [
        ("strategy", &record.strategy),
        ("preferred", &record.preferred_holder),
    ] {
        if let Some(value) = value {
            write!(text, " {name}={value}").unwrap();
        }
    }
    text
}

fn observed<'a>(holder: &str, mut words: impl Iterator<Item = &'a str>) -> Observed {
    let mut record = Record {
        holder: Arc::from(holder.trim_start_matches('-')),
        duration_seconds: words.next().unwrap().parse().unwrap(),
        ..Record::default()
    };
    let version = ResourceVersion::new(words.next().expect("a version"));
    for word in words {
        let (name, value) = word.split_once('=').unwrap();
        match name {
            "transitions" => record.transitions = value.parse().unwrap(),
            "renewed" => {
                record.renewed = Some(MicroTime::from_micros(value.parse::<i64>().unwrap() * 1_000_000))
            }
            "strategy" => record.strategy = Some(value.into()),
            "preferred" => record.preferred_holder = Some(value.into()),
            _ => panic!("no such field: {word}"),
        }
    }
    Observed { record, version }
}

fn seconds(text: &str) -> Duration {
    Duration::from_secs_f64(text.parse().unwrap())
}
