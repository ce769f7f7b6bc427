//! Text scripts for the machine: commands, `----`, what they print.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use informer_events::{Event, Grouping, Machine, MicroTime, Options, Refusal, SeriesId, Verb};

use crate::support::{epoch, event, pod, secs};

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
    let mut script = Script::new("");
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
    machine: Machine,
    start: Instant,
    now: Instant,
    n_events: u32,
    under_way: BTreeMap<String, SeriesId>,
    output: String,
}

impl Script {
    fn new(options: &str) -> Self {
        let now = epoch();
        Self {
            machine: Machine::new(parse_options(options), 7),
            start: now,
            now,
            n_events: 0,
            under_way: BTreeMap::new(),
            output: String::new(),
        }
    }

    fn command(&mut self, line: &str) {
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        match command {
            "machine" => {
                *self = Self {
                    output: std::mem::take(&mut self.output),
                    ..Self::new(rest)
                };
            }
            "event" => self.event(rest),
            "answer" => self.answer(rest),
            "advance" => {
                self.now += duration(rest);
                self.machine.handle_timeout(self.now);
            }
            "writes" => self.writes(),
            "show" => self.show(),
            "stop" => self.machine.stop(),
            "abandon" => {
                let left = self.machine.abandon();
                self.print(&format!("abandoned {left}"));
            }
            _ => panic!("no such command: {line}"),
        }
    }

    /// `REASON [note=..] [action=..] [pod=..] [related=..] [times=..]`; the events are called e1, e2, ...
    fn event(&mut self, rest: &str) {
        let mut words = rest.split(' ');
        let mut template = event("web", words.next().unwrap(), "a-note");
        let mut times = 1;
        for word in words {
            match word.split_once('=').unwrap() {
                ("note", note) => note.clone_into(&mut template.note),
                ("action", action) => action.clone_into(&mut template.action),
                ("pod", name) => template.regarding = pod(name),
                ("related", name) => template.related = Some(pod(name)),
                ("times", n_times) => times = n_times.parse().unwrap(),
                _ => panic!("no such part: {word}"),
            }
        }
        let mut fates = Vec::new();
        for _ in 0..times {
            self.n_events += 1;
            let mut event = Event::clone(&template);
            event.metadata.name = format!("e{}", self.n_events);
            event.event_time = MicroTime::since_epoch(self.now - self.start);
            let fate = format!("{:?}", self.machine.handle_event(self.now, event));
            match fates.last_mut() {
                Some((last, count)) if *last == fate => *count += 1,
                _ => fates.push((fate, 1)),
            }
        }
        let fates = fates.into_iter().map(|(fate, count)| match count {
            1 => fate,
            count => format!("{count} {fate}"),
        });
        let line = fates.collect::<Vec<_>>().join(", ");
        self.print(&line);
    }

    fn writes(&mut self) {
        let mut any = false;
        while let Some(write) = self.machine.poll_write() {
            any = true;
            let verb = match write.verb {
                Verb::Create => "create",
                Verb::Patch => "patch",
            };
            let event = write.event;
            let mut line = format!("{verb} {} {}", event.metadata.name, event.reason);
            if event.note != "a-note" {
                write!(line, " note={}", event.note).unwrap();
            }
            if let Some(series) = event.series {
                let last =
                    Duration::from_micros(u64::try_from(series.last_observed_time.as_micros()).unwrap());
                write!(line, " count={} last={last:?}", series.count).unwrap();
            }
            self.print(&line);
            let before = self.under_way.insert(event.metadata.name, write.id);
            assert!(before.is_none(), "two writes of one event at once");
        }
        if !any {
            self.print("none");
        }
    }

    fn answer(&mut self, rest: &str) {
        let (name, answer) = rest.split_once(' ').unwrap();
        let result = match answer.split_once('=').unwrap_or((answer, "")) {
            ("ok", _) => Ok(()),
            ("gone", _) => Err(Refusal::Gone),
            ("exists", _) => Err(Refusal::Exists),
            ("rejected", _) => Err(Refusal::Rejected),
            ("unavailable", "") => Err(Refusal::Unavailable { retry_after: None }),
            ("unavailable", after) => Err(Refusal::Unavailable {
                retry_after: Some(duration(after)),
            }),
            _ => panic!("no such answer: {answer}"),
        };
        let id = self.under_way.remove(name).expect("it is under way");
        let written = self.machine.handle_written(self.now, id, result);
        self.print(&written.map_or_else(|| "unknown".to_owned(), |written| format!("{written:?}")));
        assert_eq!(self.machine.handle_written(self.now, id, result), None);
    }

    fn show(&mut self) {
        let mut line = format!(
            "writes={} series={}",
            self.machine.n_writes(),
            self.machine.n_series()
        );
        if let Some(at) = self.machine.poll_timeout() {
            write!(line, " due={:?}", at.saturating_duration_since(self.start)).unwrap();
        }
        self.print(&line);
    }

    fn print(&mut self, line: &str) {
        self.output.push_str(line);
        self.output.push('\n');
    }
}

fn parse_options(words: &str) -> Options {
    let mut options = Options::default();
    options.retry_jitter = 0.0;
    for word in words.split_whitespace() {
        match word.split_once('=').unwrap_or((word, "")) {
            ("notes", _) => options.grouping = Grouping::Notes,
            ("queue", n) => options.queue = n.parse().unwrap(),
            ("burst", n) => options.burst = n.parse().unwrap(),
            ("in_flight", n) => options.in_flight = n.parse().unwrap(),
            ("tries", n) => options.max_tries = n.parse().unwrap(),
            ("memory", n) => options.memory = n.parse().unwrap(),
            ("jitter", n) => options.retry_jitter = n.parse().unwrap(),
            _ => panic!("no such option: {word}"),
        }
    }
    options
}

fn duration(text: &str) -> Duration {
    let (number, unit) = text.split_at(text.len() - 1);
    let number: u64 = number.parse().unwrap();
    match unit {
        "s" => secs(number),
        "m" => secs(60 * number),
        _ => panic!("no such unit: {text}"),
    }
}
