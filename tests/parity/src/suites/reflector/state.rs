//! What the server holds, and how it answers.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Write as _,
    io,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::Response;
use informer_core::{Clock as _, TokioClock};
use tokio::sync::mpsc;

use super::{
    answer::{Body, cut, failure, refusal, response},
    server::Manner,
};

/// After these a watch is not enough.
const MUST_LIST: [&str; 7] = ["410", "gone", "large", "large-old", "500", "403", "404"];

#[derive(Debug)]
pub(super) struct State {
    pub(super) manner: Manner,
    pub(super) version: u64,
    pub(super) objects: BTreeMap<String, Happened>,
    pub(super) history: Vec<Happened>,
    pub(super) answers: BTreeMap<String, VecDeque<String>>,
    pub(super) said: Vec<String>,
    pub(super) must_list: bool,
    pub(super) since: Option<Instant>,
    /// The watch that is open is told no more.
    pub(super) stalled: bool,
    pub(super) open: Option<mpsc::UnboundedSender<io::Result<Bytes>>>,
}

#[derive(Debug, Clone)]
pub(super) struct Happened {
    pub(super) kind: &'static str,
    pub(super) key: String,
    pub(super) version: u64,
    /// The object cannot be decoded.
    pub(super) garbled: bool,
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

pub(super) type Query = BTreeMap<String, String>;

pub(super) fn query(text: &str) -> Query {
    text.split('&')
        .filter_map(|part| part.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn named<'a>(query: &'a Query, name: &str) -> &'a str {
    query.get(name).map_or("", String::as_str)
}

impl State {
    pub(super) fn answer(&mut self, query: &Query) -> io::Result<Response<Body>> {
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

impl Happened {
    pub(super) fn frame(&self) -> String {
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
