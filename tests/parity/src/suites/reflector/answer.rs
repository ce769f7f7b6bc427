//! What the server answers, in bytes.

use std::{io, time::Duration};

use bytes::Bytes;
use http::Response;
use serde_json::json;
use tokio::sync::mpsc;

/// A body: what is there, then what comes, then its end.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) first: Option<Bytes>,
    pub(super) rest: Option<mpsc::UnboundedReceiver<io::Result<Bytes>>>,
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<io::Result<http_body::Frame<Bytes>>>> {
        if let Some(first) = self.first.take() {
            return std::task::Poll::Ready(Some(Ok(http_body::Frame::data(first))));
        }
        match &mut self.rest {
            Some(rest) => rest
                .poll_recv(cx)
                .map(|chunk| chunk.map(|chunk| chunk.map(http_body::Frame::data))),
            None => std::task::Poll::Ready(None),
        }
    }
}

/// A whole answer.
pub(super) fn response(code: u16, body: impl Into<Bytes>) -> Response<Body> {
    let body = Body {
        first: Some(body.into()).filter(|body: &Bytes| !body.is_empty()),
        rest: None,
    };
    Response::builder()
        .status(code)
        .header("content-type", "application/json")
        .body(body)
        .expect("a status and a header that are known")
}

/// An answer that breaks off.
pub(super) fn cut(body: String) -> Response<Body> {
    let (sender, receiver) = mpsc::unbounded_channel();
    // The other end is at hand.
    let _ = sender.send(Err(io::ErrorKind::UnexpectedEof.into()));
    let mut response = response(200, body);
    response.body_mut().rest = Some(receiver);
    response
}

/// What a refusal of that name is.
pub(super) fn refusal(answer: &str) -> Response<Body> {
    let (code, body) = status(answer);
    let mut response = response(code, body);
    if let Some(seconds) = answer.strip_prefix("429-") {
        let seconds = Duration::from_secs(seconds.parse().expect("a number of seconds"));
        response
            .headers_mut()
            .insert("retry-after", seconds.as_secs().into());
    }
    response
}

/// An error in a watch.
pub(super) fn failure(answer: &str) -> String {
    format!("{{\"type\":\"ERROR\",\"object\":{}}}\n", status(answer).1)
}

fn status(answer: &str) -> (u16, String) {
    let mut message = "told to";
    let mut details = json!({});
    let (code, reason) = match answer {
        "410" => (410, "Expired"),
        "gone" => (410, "Gone"),
        "large" => {
            let cause = json!({"reason": "ResourceVersionTooLarge", "message": "Too large resource version"});
            details = json!({"causes": [cause]});
            (504, "Timeout")
        }
        "large-old" => {
            message = "Too large resource version: 9, current: 3";
            (504, "Timeout")
        }
        _ => {
            let code = answer.split('-').next().unwrap_or_default();
            let reason = match code {
                "401" => "Unauthorized",
                "403" => "Forbidden",
                "404" => "NotFound",
                "422" => "Invalid",
                "429" => "TooManyRequests",
                "500" => "InternalError",
                "503" => "ServiceUnavailable",
                _ => panic!("no answer {answer:?}"),
            };
            (code.parse().expect("it is one of these"), reason)
        }
    };
    let body = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "code": code, "reason": reason, "message": message, "details": details,
    });
    (code, body.to_string())
}
