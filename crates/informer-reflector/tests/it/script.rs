//! Runs a text trace through the machine and prints what it does.
//!
//! Blocks are separated by blank lines. A block is input lines, `----`, and the actions that follow. Inputs:
//! `options …` (first block only), `start`, `opened`, `item`, `end VERSION [TOKEN]`, `added|modified|deleted VERSION`,
//! `bookmark VERSION [end]`, `odd`, `ended`, `relist`, `resynced`, `resync-failed MESSAGE`, `fail CLASS [retry=SECONDS] [MESSAGE]`,
//! `wait SECONDS` (time passes, the machine is not told), `timeout` (time passes until the machine wants to be told), `status`. Delays have
//! no jitter in traces.

use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use informer_core::{FailureClass, ListRequest, ResourceVersion, VersionMatch, WatchRequest};
use informer_reflector::{
    FirstVersion, Options, Problem, Start,
    machine::{Action, Failed, Input, Machine, Note, What},
};

#[expect(clippy::disallowed_methods, reason = "any instant will do to count from")]
pub(crate) fn epoch() -> Instant {
    Instant::now()
}

/// Runs `script` and returns it with the actions that were really taken.
pub(crate) fn run(script: &str) -> String {
    let mut runner = Runner {
        machine: None,
        options: plain_options(),
        now: epoch(),
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

fn plain_options() -> Options {
    let mut options = Options::named("trace");
    options.start = Start::List;
    options.backoff.jitter = 0.0;
    options
}

struct Runner {
    machine: Option<Machine>,
    options: Options,
    now: Instant,
}

impl Runner {
    fn line(&mut self, line: &str, out: &mut String) {
        let mut words = line.split_whitespace();
        match words.next().unwrap() {
            "options" => words.for_each(|word| self.option(word)),
            "start" => self.machine = Some(Machine::new(self.options.clone(), 7, self.now)),
            "wait" => self.now += seconds(words.next().unwrap()),
            "timeout" => {
                let machine = self.machine.as_mut().unwrap();
                let wait = machine.poll_timeout().saturating_duration_since(self.now);
                self.now += wait;
                machine.handle_timeout(self.now);
                writeln!(out, "(after {})", rounded(wait)).unwrap();
            }
            "status" => writeln!(out, "{}", self.status()).unwrap(),
            word => {
                let input = input(word, words);
                self.machine.as_mut().unwrap().handle_input(self.now, input);
            }
        }
        if let Some(machine) = &mut self.machine {
            while let Some(action) = machine.poll_action() {
                writeln!(out, "{}", show(&action)).unwrap();
            }
        }
    }

    fn option(&mut self, word: &str) {
        let (name, value) = word.split_once('=').unwrap();
        match name {
            "start" if value == "stream" => self.options.start = Start::StreamingList,
            "first" if value == "any" => self.options.first_version = FirstVersion::Any,
            "page" => self.options.page_size = Some(value.parse().unwrap()),
            "streaming_wait" => self.options.streaming_wait = seconds(value),
            "list_wait" => self.options.list_wait = seconds(value),
            "retry_internal" => self.options.max_internal_error_retry = seconds(value),
            "resync" => self.options.resync_period = Some(seconds(value)),
            _ => panic!("no such option: {word}"),
        }
    }

    fn status(&self) -> String {
        let status = self.machine.as_ref().unwrap().status();
        format!(
            "{:?} synced={} failures={} version={:?} objects={} lists={} watches={} relists={} events={}",
            status.phase,
            status.synced,
            status.failures,
            status.version,
            status.objects,
            status.lists,
            status.watches,
            status.relists,
            status.events
        )
    }
}

fn input<'a>(word: &str, mut words: impl Iterator<Item = &'a str>) -> Input {
    match word {
        "opened" => Input::Opened,
        "item" => Input::Item,
        "end" => Input::ListEnd {
            at: version(words.next()),
            token: words.next().map(Into::into),
        },
        "added" => event(What::Added, words.next()),
        "modified" => event(What::Modified, words.next()),
        "deleted" => event(What::Deleted, words.next()),
        "bookmark" => Input::Bookmark {
            at: version(words.next()),
            end_of_initial: words.next() == Some("end"),
        },
        "odd" => Input::Odd,
        "ended" => Input::Ended,
        "resynced" => Input::Resynced,
        "resync-failed" => Input::ResyncFailed(Failed {
            class: FailureClass::Internal,
            retry_after: None,
            message: words.collect::<Vec<_>>().join(" ").into(),
        }),
        "relist" => Input::Relist,
        "fail" => failed(words),
        _ => panic!("no such input: {word}"),
    }
}

fn event(what: What, at: Option<&str>) -> Input {
    Input::Event {
        what,
        version: version(at),
    }
}

fn failed<'a>(mut words: impl Iterator<Item = &'a str>) -> Input {
    let class = match words.next().unwrap() {
        "expired" => FailureClass::Expired,
        "too-large" => FailureClass::VersionTooLarge,
        "throttled" => FailureClass::Throttled,
        "refused" => FailureClass::Refused,
        "unauthorized" => FailureClass::Unauthorized,
        "forbidden" => FailureClass::Forbidden,
        "not-found" => FailureClass::NotFound,
        "unsupported" => FailureClass::Unsupported,
        "internal" => FailureClass::Internal,
        "transient" => FailureClass::Transient,
        "fatal" => FailureClass::Fatal,
        word => panic!("no such class: {word}"),
    };
    let mut message: Vec<&str> = words.by_ref().collect();
    let retry_after = message
        .first()
        .and_then(|word| word.strip_prefix("retry="))
        .map(seconds);
    if retry_after.is_some() {
        message.remove(0);
    }
    Input::Failed(Failed {
        class,
        retry_after,
        message: message.join(" ").into(),
    })
}

fn version(word: Option<&str>) -> ResourceVersion {
    match word {
        None | Some("-") => ResourceVersion::none(),
        Some(word) => ResourceVersion::new(word),
    }
}

fn seconds(word: &str) -> Duration {
    Duration::from_secs_f64(word.trim_end_matches('s').parse().unwrap())
}

fn show(action: &Action) -> String {
    match action {
        Action::OpenList(request) => show_list(request),
        Action::OpenWatch(request) => show_watch(request),
        Action::Close => "close".to_owned(),
        Action::Keep => "keep".to_owned(),
        Action::Forget => "forget".to_owned(),
        Action::Publish { at, may_rewind } => {
            format!("publish {at:?}{}", if *may_rewind { " may rewind" } else { "" })
        }
        Action::Deliver => "deliver".to_owned(),
        Action::Bookmark(at) => format!("bookmark {at:?}"),
        Action::Resync => "resync".to_owned(),
        Action::Report {
            problem,
            message,
            retry_in,
        } => format!(
            "report {}: {message:?}, again after {}",
            show_problem(*problem),
            rounded(*retry_in)
        ),
        Action::Note(note) => format!("note {}", show_note(note)),
    }
}

fn show_list(request: &ListRequest) -> String {
    let mut text = "LIST".to_owned();
    if let Some(version) = &request.version {
        write!(text, " {version:?}").unwrap();
    }
    if let Some(limit) = request.limit {
        write!(text, " limit={limit}").unwrap();
    }
    if let Some(token) = &request.token {
        write!(text, " continue={token}").unwrap();
    }
    match request.version_match {
        None => {}
        Some(VersionMatch::NotOlderThan) => text.push_str(" or newer"),
        other => panic!("no list asks so: {other:?}"),
    }
    text
}

/// Every watch asks for bookmarks and for an end within five to ten minutes.
fn show_watch(request: &WatchRequest) -> String {
    assert!(request.bookmarks);
    let timeout = request.timeout.unwrap();
    assert!((300..600).contains(&timeout.as_secs()), "{timeout:?}");
    let mut text = if request.initial_events {
        "STREAM".to_owned()
    } else {
        "WATCH".to_owned()
    };
    if let Some(version) = &request.version {
        write!(text, " {version:?}").unwrap();
    }
    text
}

fn show_problem(problem: Problem) -> String {
    match problem {
        Problem::List(class) => format!("list {class}"),
        Problem::StreamingList(class) => format!("stream {class}"),
        Problem::Watch(class) => format!("watch {class}"),
        other => format!("{other:?}"),
    }
}

fn show_note(note: &Note) -> String {
    match note {
        Note::Attempt => "attempt".to_owned(),
        Note::Populated { objects, at, first } => {
            let what = if *first { "synced" } else { "populated anew" };
            format!("{what} {at:?} with {objects} objects")
        }
        Note::WatchExpired => "watch expired".to_owned(),
        Note::RelistWanted => "relist wanted".to_owned(),
        Note::VersionRefused { class } => format!("version refused: {class}"),
        Note::TokenExpired => "token expired".to_owned(),
        Note::StreamingFellBack { why, for_good } => {
            format!(
                "streaming fell back{}: {why}",
                if *for_good { " for good" } else { "" }
            )
        }
        Note::StreamingCut => "streaming cut".to_owned(),
        Note::StreamingSilent { silent_for } => format!("streaming silent for {}", rounded(*silent_for)),
    }
}

/// Watch timeouts are chance: longer times are printed by their range.
fn rounded(wait: Duration) -> String {
    match wait.as_secs() {
        330..630 => "the watch timeout".to_owned(),
        _ => format!("{wait:?}"),
    }
}
