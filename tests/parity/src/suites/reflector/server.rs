//! The server: `tests/reference/oracle/server.go`, rule by rule.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Write as _,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Request, Response};
use informer_core::{Clock as _, TokioClock};
use informer_transport::Transport;
use tokio::sync::{Notify, mpsc};

use super::answer::{Body, cut, failure, refusal, response};
use crate::sequence::Op;

/// After these a watch is not enough.
const MUST_LIST: [&str; 7] = ["410", "gone", "large", "large-old", "500", "403", "404"];

/// A shared handle of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Server {
    state: Arc<Mutex<State>>,
    opened: Arc<Notify>,
}

/// How it is, from the words behind `start`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Manner {
    pub(super) refuses_streams: bool,
    pub(super) has_cache: bool,
    pub(super) precise: bool,
    pub(super) spread: bool,
}

#[derive(Debug)]
struct State {
    manner: Manner,
    version: u64,
    objects: BTreeMap<String, Happened>,
    history: Vec<Happened>,
    answers: BTreeMap<String, VecDeque<String>>,
    said: Vec<String>,
    must_list: bool,
    since: Option<Instant>,
    /// The watch that is open is told no more.
    stalled: bool,
    open: Option<mpsc::UnboundedSender<io::Result<Bytes>>>,
}

#[derive(Debug, Clone)]
struct Happened {
    kind: &'static str,
    key: String,
    version: u64,
    /// The object cannot be decoded.
    garbled: bool,
}

impl Default for State {
    fn default() -> Self {
        Self {
            manner: Manner::default(),
            version: 10,
            objects: BTreeMap::new(),
            history: Vec::new(),
            answers: BTreeMap::new(),
            said: Vec::new(),
            must_list: false,
            since: None,
            stalled: false,
            open: None,
        }
    }
}

impl Server {
    pub(super) fn set(&self, manner: Manner) {
        self.lock().manner = manner;
    }

    /// Reads what the requests that follow are answered.
    pub(super) fn prepare(&self, op: Op<'_>) {
        let mut state = self.lock();
        state.answers = op
            .args()
            .filter_map(|arg| arg.split_once('='))
            .map(|(kind, answers)| (kind.to_owned(), answers.split(',').map(str::to_owned).collect()))
            .collect();
        state.must_list = matches!(op.verb, "start" | "error");
        state.since = Some(TokioClock.now());
    }

    /// Something changes, and the watch tells. Once a change is lost, that watch tells nothing any more.
    pub(super) fn change(&self, op: Op<'_>) {
        let (op, lost) = match op.verb {
            "lose" => (Op::read(op.rest), true),
            _ => (op, false),
        };
        let kind = match op.verb {
            "create" => "ADDED",
            "modify" | "garble" => "MODIFIED",
            "delete" => "DELETED",
            "bookmark" => "BOOKMARK",
            other => panic!("no operation {other:?}"),
        };
        let mut state = self.lock();
        state.version += 1;
        let happened = Happened {
            kind,
            key: op.arg().to_owned(),
            version: state.version,
            garbled: op.verb == "garble",
        };
        match op.verb {
            "create" | "modify" | "garble" => {
                state.objects.insert(happened.key.clone(), happened.clone());
            }
            "delete" => drop(state.objects.remove(&happened.key)),
            _ => {}
        }
        state.stalled |= lost;
        if let (Some(open), false) = (&state.open, state.stalled) {
            // One that nobody reads any more is found closed when it is looked at.
            let _ = open.send(Ok(happened.frame().into()));
        }
        state.history.push(happened);
    }

    /// Ends the watch that is open.
    pub(super) fn end(&self, verb: &str) {
        let open = self.lock().open.take();
        if let (Some(open), "cut") = (open, verb) {
            let _ = open.send(Err(io::ErrorKind::UnexpectedEof.into()));
        }
    }

    /// Ends the watch that is open with an error.
    pub(super) fn fail(&self, answer: &str) {
        if let Some(open) = self.lock().open.take() {
            let _ = open.send(Ok(failure(answer).into()));
        }
    }

    /// Lets time pass until a watch is open and all is quiet, or for long.
    pub(super) async fn settle(&self) {
        const LONG: Duration = Duration::from_secs(300);
        pass(Duration::from_millis(1)).await;
        let deadline = TokioClock.now() + LONG;
        while !self.is_open() && TokioClock.now() < deadline {
            let opened = self.opened.notified();
            if self.is_open() {
                break;
            }
            // The time is looked at above.
            let _ = tokio::time::timeout_at(deadline.into(), opened).await;
        }
        pass(Duration::from_millis(1)).await;
    }

    pub(super) fn lines(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().said)
    }

    fn is_open(&self) -> bool {
        self.lock().open.as_ref().is_some_and(|open| !open.is_closed())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets virtual time pass; it moves on only when nothing else does.
pub(super) async fn pass(time: Duration) {
    TokioClock.sleep_until(TokioClock.now() + time).await;
}

impl Transport for Server {
    type Body = Body;
    type Error = io::Error;

    async fn send(&self, request: Request<Bytes>) -> io::Result<Response<Body>> {
        let query = query(request.uri().query().unwrap_or_default());
        let answer = self.lock().answer(&query);
        if self.is_open() {
            self.opened.notify_one();
        }
        answer
    }
}

type Query = BTreeMap<String, String>;

fn query(text: &str) -> Query {
    text.split('&')
        .filter_map(|part| part.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn named<'a>(query: &'a Query, name: &str) -> &'a str {
    query.get(name).map_or("", String::as_str)
}

impl State {
    fn answer(&mut self, query: &Query) -> io::Result<Response<Body>> {
        let kind = match (named(query, "sendInitialEvents"), named(query, "watch")) {
            ("", "") => "list",
            ("", _) => "watch",
            _ => "stream",
        };
        let prepared = self
            .answers
            .get_mut(kind)
            .filter(|_| kind == "watch" || self.must_list);
        let mut answer = prepared.and_then(VecDeque::pop_front);
        if kind == "stream" && self.manner.refuses_streams {
            answer = Some("422".to_owned());
        }
        let answer = answer
            .filter(|answer| self.fits(answer, kind, query))
            .map_or_else(
                || "ok".to_owned(),
                |answer| answer.trim_start_matches('!').to_owned(),
            );
        self.say(kind, query, &answer);
        self.must_list |= kind == "watch" && MUST_LIST.contains(&answer.as_str());
        match answer.as_str() {
            "refused" => return Err(io::ErrorKind::ConnectionRefused.into()),
            "eof" => return Err(io::ErrorKind::UnexpectedEof.into()),
            "timeout" => return Err(io::ErrorKind::TimedOut.into()),
            "ok" | "short" | "cut" | "mute" => {}
            _ => {
                return Ok(match answer.strip_prefix('e') {
                    Some(word) => response(200, failure(word)),
                    None => refusal(&answer),
                });
            }
        }
        Ok(match (kind, answer.as_str()) {
            ("list", _) => response(200, self.list(query)),
            (_, "short") => response(200, ""),
            (_, "cut") => cut(self.initial()),
            _ => self.watch(kind, query, &answer),
        })
    }

    fn say(&mut self, kind: &str, query: &Query, answer: &str) {
        let now = TokioClock.now();
        let gap = self
            .since
            .map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        if gap >= Duration::from_millis(5) {
            self.said.push(self.manner.waited(gap));
        }
        self.since = Some(now);
        let mut shown = query.clone();
        if let Some(timeout) = shown.get_mut("timeoutSeconds")
            && timeout
                .parse()
                .is_ok_and(|seconds| (300..=600).contains(&seconds))
        {
            "300..600".clone_into(timeout);
        }
        let shown: Vec<String> = shown
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        self.said.push(format!("{kind} {} -> {answer}", shown.join("&")));
    }

    /// Whether a request can be answered so.
    fn fits(&self, answer: &str, kind: &str, query: &Query) -> bool {
        let is_named = !matches!(named(query, "resourceVersion"), "" | "0");
        match answer {
            "410" | "e410" => is_named || query.contains_key("continue"),
            "gone" => is_named,
            "large" | "large-old" => is_named,
            "eof" | "429-2" => !query.contains_key("continue"),
            "cut" => kind == "stream" && !self.objects.is_empty(),
            "short" | "e429" | "e500" | "e503" => kind != "list",
            _ => true,
        }
    }

    fn list(&self, query: &Query) -> String {
        let token = named(query, "continue").split_once('-');
        let (version, begin) = token.map_or((self.version, 0), |(version, begin)| {
            let is_own = "it is one of ours";
            (version.parse().expect(is_own), begin.parse().expect(is_own))
        });
        let from_cache = self.manner.has_cache && query.contains_key("resourceVersion");
        let limit = named(query, "limit").parse().ok().filter(|_| !from_cache);
        let limit = limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX);
        let mut rest = self.objects.values().skip(begin);
        let items: Vec<String> = rest.by_ref().take(limit).map(Happened::object).collect();
        let token = if rest.next().is_some() {
            format!(",\"continue\":\"{version}-{}\"", begin + limit)
        } else {
            String::new()
        };
        format!(
            "{{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{{\"resourceVersion\":\"{version}\"{token}}},\"items\":[{}]}}",
            items.join(",")
        )
    }

    /// The state as the beginning of a watch.
    fn initial(&self) -> String {
        let frames = self.objects.values().map(|it| {
            let mut it = it.clone();
            it.kind = "ADDED";
            it.frame()
        });
        frames.collect()
    }

    fn watch(&mut self, kind: &str, query: &Query, answer: &str) -> Response<Body> {
        let mut first = String::new();
        if answer == "mute" {
            first = self.initial();
        } else if kind == "stream" {
            first = self.initial();
            let _ = writeln!(
                first,
                "{{\"type\":\"BOOKMARK\",\"object\":{{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{{\"resourceVersion\":\"{}\",\
                 \"annotations\":{{\"k8s.io/initial-events-end\":\"true\"}}}}}}}}",
                self.version
            );
        } else {
            let from = named(query, "resourceVersion").parse().unwrap_or(0);
            let missed = self.history.iter().filter(|it| it.version > from);
            missed.for_each(|it| first.push_str(&it.frame()));
        }
        let (sender, receiver) = mpsc::unbounded_channel();
        (self.open, self.stalled) = (Some(sender), false);
        let mut response = response(200, first);
        response.body_mut().rest = Some(receiver);
        response
    }
}

impl Manner {
    /// Says a wait as the sequence wants it.
    fn waited(&self, time: Duration) -> String {
        if self.precise {
            return format!("waited {}", (time.as_millis() + 5) / 10 * 10);
        }
        if !self.spread {
            return "waited".to_owned();
        }
        if time >= Duration::from_millis(25_600) {
            return "waited long".to_owned();
        }
        format!("waited 2^{}", (time.as_secs_f64() / 0.8).log2().floor())
    }
}

impl Happened {
    fn frame(&self) -> String {
        let object = if self.kind == "BOOKMARK" {
            let version = self.version;
            format!(
                "{{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{{\"resourceVersion\":\"{version}\"}}}}"
            )
        } else {
            self.object()
        };
        format!("{{\"type\":\"{}\",\"object\":{object}}}\n", self.kind)
    }

    fn object(&self) -> String {
        let Self { key, version, .. } = self;
        let (namespace, name) = key.split_once('/').unwrap_or_default();
        let data = if self.garbled { ",\"data\":7" } else { "" };
        format!(
            "{{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{{\"namespace\":\"{namespace}\",\"name\":\"{name}\",\
             \"resourceVersion\":\"{version}\",\"uid\":\"{key}\"}}{data}}}"
        )
    }
}
