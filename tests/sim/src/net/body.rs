//! A body on its way: held up, split, and read along with, so that it is known which versions the client has seen.

use std::{
    collections::VecDeque,
    fmt, io, mem,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame};
use informer_core::{BoxFuture, Clock};
use informer_testkit::{ApiBody, ManualClock};
use serde::Deserialize;

use super::{AskKind, Open};
use crate::fact::Fact;

/// A body between server and client.
pub(crate) struct WireBody {
    inner: Pin<Box<ApiBody<ManualClock>>>,
    open: Open,
    generation: u64,
    /// `None`: the body of a failure.
    kind: Option<AskKind>,
    /// A streaming list's end mark has passed.
    marked: bool,
    pieces: VecDeque<Bytes>,
    held: Option<(BoxFuture<'static, ()>, Bytes)>,
    /// What was handed over since the last whole line, or the whole of a list.
    text: Vec<u8>,
    /// The last version that was handed over and may not have been read yet.
    handed: Option<u64>,
}

impl fmt::Debug for WireBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WireBody")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// What a line of a watch says of versions.
#[derive(Deserialize)]
struct Line {
    r#type: String,
    #[serde(default)]
    object: Object,
}

#[derive(Default, Deserialize)]
struct Object {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    #[serde(default)]
    resource_version: String,
    #[serde(default)]
    r#continue: String,
    annotations: Option<serde_json::Map<String, serde_json::Value>>,
}

const END_MARK: &str = "k8s.io/initial-events-end";

impl WireBody {
    pub(super) fn new(inner: ApiBody<ManualClock>, open: Open, kind: Option<AskKind>) -> Self {
        Self {
            inner: Box::pin(inner),
            generation: open.0.network.generation(),
            open,
            kind,
            marked: false,
            pieces: VecDeque::new(),
            held: None,
            text: Vec::new(),
            handed: None,
        }
    }

    /// The client asks for more: it has read what it was handed.
    fn read(&mut self) {
        if let Some(version) = self.handed.take() {
            let informer = self.open.0.informer;
            self.open.0.note(Fact::Read { informer, version });
        }
    }

    /// Reads along with what is handed over.
    fn hand(&mut self, piece: &Bytes) {
        match self.kind {
            None => {}
            Some(AskKind::List { .. }) => self.text.extend_from_slice(piece),
            Some(AskKind::Watch | AskKind::StreamingList) => {
                self.text.extend_from_slice(piece);
                while let Some(end) = self.text.iter().position(|byte| *byte == b'\n') {
                    let rest = self.text.split_off(end + 1);
                    let line = mem::replace(&mut self.text, rest);
                    self.line(&line);
                }
            }
        }
    }

    fn line(&mut self, line: &[u8]) {
        let Ok(line) = serde_json::from_slice::<Line>(line) else {
            return;
        };
        let metadata = line.object.metadata;
        let informer = self.open.0.informer;
        if line.r#type == "ERROR" {
            self.open.0.note(Fact::Refused { informer });
            return;
        }
        let Ok(version) = metadata.resource_version.parse() else {
            return;
        };
        if self.kind == Some(AskKind::StreamingList) && !self.marked {
            let mark = metadata.annotations.is_some_and(|it| it.contains_key(END_MARK));
            if line.r#type != "BOOKMARK" || !mark {
                return;
            }
            self.marked = true;
            self.open.0.note(Fact::Whole { informer, version });
        }
        self.handed = Some(version);
        self.open.0.note(Fact::Handed { informer, version });
    }

    /// A list's body has ended.
    fn list_ended(&mut self) {
        #[derive(Deserialize)]
        struct List {
            metadata: Metadata,
        }
        let Some(AskKind::List { .. }) = self.kind else {
            return;
        };
        let Ok(List { metadata }) = serde_json::from_slice(&mem::take(&mut self.text)) else {
            return;
        };
        let informer = self.open.0.informer;
        if let Ok(version) = metadata.resource_version.parse() {
            self.open.0.note(if metadata.r#continue.is_empty() {
                Fact::Whole { informer, version }
            } else {
                Fact::Paged { informer, version }
            });
        }
    }

    /// A chunk from the server: held up, split, or as it is.
    fn arrive(&mut self, chunk: Bytes) {
        let quality = self.open.0.network.quality.clone();
        let mut rng = self.open.0.random().fork();
        let percent = |rng: &mut informer_testkit::Rng, percent: u8| rng.range(0..100) < u64::from(percent);
        let mut pieces = VecDeque::new();
        let streams = self.kind == Some(AskKind::StreamingList) && !self.marked;
        if streams && percent(&mut rng, quality.bookmark_percent) {
            pieces.extend(unmarked_bookmark(&chunk));
        }
        if chunk.len() > 1 && percent(&mut rng, quality.split_percent) {
            let at = 1 + rng.index(chunk.len() - 1);
            pieces.push_back(chunk.slice(..at));
            pieces.push_back(chunk.slice(at..));
        } else {
            pieces.push_back(chunk);
        }
        if percent(&mut rng, quality.held_percent)
            && let Some(first) = pieces.pop_front()
        {
            let clock = self.open.0.network.api.clock().clone();
            let at = clock.now() + Duration::from_millis(rng.range(1..u64::from(quality.held_ms).max(2)));
            self.held = Some((Box::pin(async move { clock.sleep_until(at).await }), first));
        }
        self.pieces = pieces;
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        loop {
            if let Some((sleep, _)) = &mut self.held {
                ready!(sleep.as_mut().poll(cx));
                if let Some((_, piece)) = self.held.take() {
                    self.pieces.push_front(piece);
                }
            }
            if self.generation != self.open.0.network.generation() {
                self.pieces.clear();
                return Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into())));
            }
            if let Some(piece) = self.pieces.pop_front() {
                return Poll::Ready(Some(Ok(piece)));
            }
            match ready!(self.inner.as_mut().poll_frame(cx)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                Some(Ok(frame)) => {
                    if let Ok(chunk) = frame.into_data() {
                        self.arrive(chunk);
                    }
                }
            }
        }
    }
}

/// A bookmark at the version of an initial event, such as a server may send at any time: it marks no end.
fn unmarked_bookmark(line: &[u8]) -> Option<Bytes> {
    #[derive(Deserialize)]
    struct Event {
        r#type: String,
        object: Typed,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Typed {
        kind: String,
        api_version: String,
        metadata: Metadata,
    }
    let Event { r#type, object } = serde_json::from_slice(line).ok()?;
    if r#type != "ADDED" {
        return None;
    }
    let bookmark = serde_json::json!({
        "type": "BOOKMARK",
        "object": {
            "kind": object.kind,
            "apiVersion": object.api_version,
            "metadata": {"resourceVersion": object.metadata.resource_version},
        },
    });
    Some(format!("{bookmark}\n").into())
}

impl Body for WireBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = &mut *self;
        this.read();
        match ready!(this.poll_piece(cx)) {
            None => {
                this.list_ended();
                Poll::Ready(None)
            }
            Some(Err(error)) => Poll::Ready(Some(Err(error))),
            Some(Ok(piece)) => {
                this.hand(&piece);
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
        }
    }
}
