//! `ScriptedTransport`: a transport that answers from a script.

use std::{
    collections::BTreeMap,
    fmt, io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use informer_transport::Transport;

use super::body::{BodyHandle, ScriptedBody, pair};
use crate::http::parse_query;

/// What a request must look like for a step to answer it. Everything that is not named may be anything.
#[derive(Debug, Clone, Default)]
pub struct Expect {
    method: Option<Method>,
    path: Option<String>,
    query: BTreeMap<String, Option<String>>,
}

impl Expect {
    /// Any request.
    #[must_use]
    pub fn any() -> Self {
        Self::default()
    }

    /// A GET of this path.
    #[must_use]
    pub fn get(path: impl Into<String>) -> Self {
        Self::method(Method::GET, path)
    }

    /// A request of this method and path.
    #[must_use]
    pub fn method(method: Method, path: impl Into<String>) -> Self {
        Self {
            method: Some(method),
            path: Some(path.into()),
            query: BTreeMap::new(),
        }
    }

    /// A list of this collection: a GET that is no watch.
    #[must_use]
    pub fn list(path: impl Into<String>) -> Self {
        Self::get(path).without("watch")
    }

    /// A watch of this collection, streaming list or not.
    #[must_use]
    pub fn watch(path: impl Into<String>) -> Self {
        let mut expect = Self::get(path);
        expect.query.insert("watch".into(), Some("1|true".into()));
        expect
    }

    /// With this query parameter.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.query.insert(name.into(), Some(value.into()));
        self
    }

    /// Without this query parameter.
    #[must_use]
    pub fn without(mut self, name: impl Into<String>) -> Self {
        self.query.insert(name.into(), None);
        self
    }

    fn matches(&self, request: &Recorded) -> bool {
        let query = |(name, value): (&String, &Option<String>)| {
            let found = request.query.get(name);
            match (value.as_deref(), found.map(String::as_str)) {
                (None, found) => found.is_none(),
                (Some("1|true"), Some(found)) => found == "1" || found == "true",
                (Some(value), found) => found == Some(value),
            }
        };
        self.method
            .as_ref()
            .is_none_or(|method| *method == request.method)
            && self.path.as_ref().is_none_or(|path| *path == request.path)
            && self.query.iter().all(query)
    }
}

#[derive(Debug, Clone)]
enum End {
    Close,
    Hang,
    Fail(io::ErrorKind),
}

#[derive(Debug, Clone)]
enum Kind {
    Head {
        status: StatusCode,
        headers: HeaderMap,
        chunks: Vec<Bytes>,
        end: End,
    },
    /// The request fails before a head arrives.
    Fail(io::ErrorKind),
    /// No head ever arrives.
    Hang,
}

/// One answer of a script.
#[derive(Debug, Clone)]
pub struct Answer {
    kind: Kind,
}

impl Answer {
    /// A head of this status and no body yet. The body ends cleanly after the chunks unless told otherwise.
    ///
    /// # Panics
    /// When the status is no HTTP status.
    #[must_use]
    pub fn status(status: u16) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(
            http::header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        Self {
            kind: Kind::Head {
                status: StatusCode::from_u16(status).expect("a script names a valid status"),
                headers,
                chunks: Vec::new(),
                end: End::Close,
            },
        }
    }

    /// 200 with this JSON.
    #[must_use]
    pub fn json(body: &serde_json::Value) -> Self {
        Self::status(200).chunk(body.to_string())
    }

    /// 200 with these lines, each a chunk of its own, and a clean end.
    #[must_use]
    pub fn lines<I: IntoIterator<Item = S>, S: fmt::Display>(lines: I) -> Self {
        lines.into_iter().fold(Self::status(200), |answer, line| {
            answer.chunk(format!("{line}\n"))
        })
    }

    /// The connection is refused.
    #[must_use]
    pub fn refused() -> Self {
        Self::failed(io::ErrorKind::ConnectionRefused)
    }

    /// The request fails like this before a head arrives.
    #[must_use]
    pub fn failed(kind: io::ErrorKind) -> Self {
        Self {
            kind: Kind::Fail(kind),
        }
    }

    /// No head ever arrives.
    #[must_use]
    pub fn silence() -> Self {
        Self { kind: Kind::Hang }
    }

    /// And this header.
    ///
    /// # Panics
    /// When name or value is no valid header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Kind::Head { headers, .. } = &mut self.kind {
            headers.insert(
                HeaderName::try_from(name).expect("a script names a valid header"),
                HeaderValue::try_from(value).expect("a script names a valid header value"),
            );
        }
        self
    }

    /// And this chunk of body.
    #[must_use]
    pub fn chunk(mut self, chunk: impl Into<Bytes>) -> Self {
        if let Kind::Head { chunks, .. } = &mut self.kind {
            chunks.push(chunk.into());
        }
        self
    }

    /// After the chunks nothing happens: neither more data nor an end, until the [`BodyHandle`] says so.
    #[must_use]
    pub fn then_hang(self) -> Self {
        self.ending(End::Hang)
    }

    /// After the chunks the connection fails.
    #[must_use]
    pub fn then_fail(self, kind: io::ErrorKind) -> Self {
        self.ending(End::Fail(kind))
    }

    fn ending(mut self, ending: End) -> Self {
        if let Kind::Head { end, .. } = &mut self.kind {
            *end = ending;
        }
        self
    }
}

/// A request as it was received.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Recorded {
    /// The method.
    pub method: Method,
    /// The path, without query.
    pub path: String,
    /// The query, decoded.
    pub query: BTreeMap<String, String>,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// Whether a step of the script answered it.
    pub expected: bool,
    /// Writes to the body of the answer, where it had one.
    pub answer: Option<BodyHandle>,
}

impl Recorded {
    /// A query parameter.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// Whether it asks for a watch.
    #[must_use]
    pub fn is_watch(&self) -> bool {
        matches!(self.param("watch"), Some("1" | "true"))
    }

    /// `timeoutSeconds`, where it is given.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.param("timeoutSeconds")?
            .parse()
            .ok()
            .map(Duration::from_secs)
    }
}

#[derive(Debug)]
struct Step {
    expect: Expect,
    answer: Answer,
    repeat: bool,
}

#[derive(Debug, Default)]
struct State {
    steps: Vec<Step>,
    recorded: Vec<Recorded>,
}

/// A transport without a network: the first unused step whose expectation fits answers a request. Clones share the script.
///
/// A request that no step fits fails, and stays in [`unexpected`](Self::unexpected) for the test to look at.
#[derive(Debug, Clone, Default)]
pub struct ScriptedTransport {
    state: Arc<Mutex<State>>,
}

impl ScriptedTransport {
    /// A transport with an empty script.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a step, used once.
    pub fn on(&self, expect: Expect, answer: Answer) -> &Self {
        self.add(expect, answer, false)
    }

    /// Adds a step that answers every time, after the steps before it are used up.
    pub fn always(&self, expect: Expect, answer: Answer) -> &Self {
        self.add(expect, answer, true)
    }

    /// What was asked so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        self.lock().recorded.clone()
    }

    /// What was asked and no step answered.
    #[must_use]
    pub fn unexpected(&self) -> Vec<Recorded> {
        let state = self.lock();
        state.recorded.iter().filter(|it| !it.expected).cloned().collect()
    }

    /// How many steps are still to be used; those that answer every time do not count.
    #[must_use]
    pub fn n_left(&self) -> usize {
        self.lock().steps.iter().filter(|step| !step.repeat).count()
    }

    /// Writes to the body of the latest answer that is still read.
    #[must_use]
    pub fn open_body(&self) -> Option<BodyHandle> {
        let state = self.lock();
        let mut answers = state.recorded.iter().rev().filter_map(|it| it.answer.as_ref());
        answers.find(|body| !body.is_dropped()).cloned()
    }

    fn add(&self, expect: Expect, answer: Answer, repeat: bool) -> &Self {
        self.lock().steps.push(Step {
            expect,
            answer,
            repeat,
        });
        self
    }

    fn answer(&self, request: Request<Bytes>) -> Option<Result<Response<ScriptedBody>, io::Error>> {
        let (parts, body) = request.into_parts();
        let mut recorded = Recorded {
            method: parts.method,
            path: parts.uri.path().to_owned(),
            query: parse_query(parts.uri.query().unwrap_or("")),
            headers: parts.headers,
            body,
            expected: true,
            answer: None,
        };
        let mut state = self.lock();
        let found = state.steps.iter().position(|step| step.expect.matches(&recorded));
        let Some(index) = found else {
            let message = format!("no step of the script fits {} {}", recorded.method, parts.uri);
            recorded.expected = false;
            state.recorded.push(recorded);
            return Some(Err(io::Error::other(message)));
        };
        let answer = if state.steps[index].repeat {
            state.steps[index].answer.clone()
        } else {
            state.steps.remove(index).answer
        };
        let reply = match answer.kind {
            Kind::Hang => None,
            Kind::Fail(kind) => Some(Err(kind.into())),
            Kind::Head {
                status,
                headers,
                chunks,
                end,
            } => {
                let (handle, body) = pair();
                chunks.into_iter().for_each(|chunk| handle.push(chunk));
                match end {
                    End::Close => handle.close(),
                    End::Fail(kind) => handle.fail(kind),
                    End::Hang => {}
                }
                recorded.answer = Some(handle);
                let mut response = Response::new(body);
                *response.status_mut() = status;
                *response.headers_mut() = headers;
                Some(Ok(response))
            }
        };
        state.recorded.push(recorded);
        reply
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for ScriptedTransport {
    type Body = ScriptedBody;
    type Error = io::Error;

    async fn send(&self, request: Request<Bytes>) -> Result<Response<ScriptedBody>, io::Error> {
        match self.answer(request) {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }

    fn is_refused(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::ConnectionRefused
    }
}
