//! What the server says, as bytes.

use informer_reflector::Start;
use informer_testkit::{Answer, Expect, ScriptedTransport};
use serde_json::{Value, json};

/// The collection that the cases watch.
pub const PATH: &str = "/api/v1/namespaces/ns/configmaps";

/// A ConfigMap in namespace `ns`; the uid is that of the name.
#[must_use]
pub fn config_map(name: &str, version: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "ns", "resourceVersion": version, "uid": format!("uid-of-{name}")},
    })
}

/// A whole list.
#[must_use]
pub fn list(items: &[Value], version: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMapList", "metadata": {"resourceVersion": version}, "items": items})
}

/// A line of a watch.
#[must_use]
pub fn event(kind: &str, object: &Value) -> String {
    json!({"type": kind, "object": object}).to_string()
}

/// A bookmark with nothing but a version.
#[must_use]
pub fn bookmark(version: &str) -> String {
    event(
        "BOOKMARK",
        &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"resourceVersion": version}}),
    )
}

/// The bookmark that ends the initial part of a streaming list.
#[must_use]
pub fn end_of_initial(version: &str) -> String {
    let annotations = json!({"k8s.io/initial-events-end": "true"});
    let metadata = json!({"resourceVersion": version, "annotations": annotations});
    event(
        "BOOKMARK",
        &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}),
    )
}

fn status(code: u16, reason: &str) -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": format!("the server says {reason}"), "reason": reason, "code": code,
    })
}

/// An error inside a watch.
#[must_use]
pub fn status_error(code: u16, reason: &str) -> String {
    event("ERROR", &status(code, reason))
}

/// A request that fails with a Status.
#[must_use]
pub fn failure(code: u16, reason: &str) -> Answer {
    Answer::status(code).chunk(status(code, reason).to_string())
}

/// How the whole state travels: the cases that are not about it run in both forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// LIST, then WATCH.
    List,
    /// A streaming list, which goes on as the watch.
    Streaming,
}

impl Mode {
    /// Both.
    pub const ALL: [Self; 2] = [Self::List, Self::Streaming];

    /// The option of the reflector.
    #[must_use]
    pub fn start(self) -> Start {
        match self {
            Self::List => Start::List,
            Self::Streaming => Start::StreamingList,
        }
    }
}

/// The changes of a watch, and whether it ends after them.
#[derive(Debug, Clone, Default)]
pub struct Stream {
    chunks: Vec<String>,
    closes: bool,
}

impl Stream {
    /// A watch that stays open, with these lines first.
    #[must_use]
    pub fn open(lines: &[String]) -> Self {
        Self {
            chunks: lines.iter().map(|line| format!("{line}\n")).collect(),
            closes: false,
        }
    }

    /// A watch that ends cleanly after these lines.
    #[must_use]
    pub fn closing(lines: &[String]) -> Self {
        Self {
            closes: true,
            ..Self::open(lines)
        }
    }

    /// The same without the newline of its last line.
    #[must_use]
    pub fn unterminated(mut self) -> Self {
        if let Some(last) = self.chunks.last_mut() {
            last.truncate(last.trim_end().len());
        }
        self
    }

    fn answer(self, first: impl IntoIterator<Item = String>) -> Answer {
        let chunks = first
            .into_iter()
            .map(|line| format!("{line}\n"))
            .chain(self.chunks);
        let answer = chunks.fold(Answer::status(200), Answer::chunk);
        if self.closes { answer } else { answer.then_hang() }
    }
}

/// The script of a server, in one of both forms.
#[derive(Debug, Clone)]
pub struct Script {
    /// The transport that plays it.
    pub transport: ScriptedTransport,
    mode: Mode,
}

impl Script {
    /// An empty script.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self {
            transport: ScriptedTransport::new(),
            mode,
        }
    }

    /// Answers one request for the whole state, asked at this version, with items at `version` and the watch that follows.
    pub fn state(&self, asked: Option<&str>, items: &[Value], version: &str, then: Stream) -> &Self {
        let at = |expect: Expect| match asked {
            Some(asked) => expect.with("resourceVersion", asked),
            None => expect.without("resourceVersion"),
        };
        match self.mode {
            Mode::List => {
                self.transport
                    .on(at(Expect::list(PATH)), Answer::json(&list(items, version)));
                self.watch(version, then);
            }
            Mode::Streaming => {
                let added = items.iter().map(|item| event("ADDED", item));
                let answer = then.answer(added.chain([end_of_initial(version)]));
                self.transport
                    .on(at(Expect::watch(PATH).with("sendInitialEvents", "true")), answer);
            }
        }
        self
    }

    /// Answers one plain watch from this version.
    pub fn watch(&self, version: &str, stream: Stream) -> &Self {
        let expect = Expect::watch(PATH)
            .with("resourceVersion", version)
            .without("sendInitialEvents")
            .without("resourceVersionMatch");
        self.transport.on(expect, stream.answer([]));
        self
    }

    /// Plain watches that were asked from this version.
    #[must_use]
    pub fn n_watches_from(&self, version: &str) -> usize {
        let requests = self.transport.requests();
        let plain = requests
            .iter()
            .filter(|it| it.is_watch() && it.param("sendInitialEvents").is_none());
        plain
            .filter(|it| it.param("resourceVersion") == Some(version))
            .count()
    }

    /// Requests for the whole state, in whichever form.
    #[must_use]
    pub fn n_states(&self) -> usize {
        let requests = self.transport.requests();
        requests
            .iter()
            .filter(|it| !it.is_watch() || it.param("sendInitialEvents").is_some())
            .count()
    }
}
