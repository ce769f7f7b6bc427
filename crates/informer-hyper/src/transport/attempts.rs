//! Sending a request as often as its budget and the server want it.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use informer_transport::RepeatedBySender;

use super::{
    Inner,
    prepared::{Prepared, is_long_running},
};
use crate::{
    Error, ResponseBody,
    connection::now,
    limit::Turn,
    retry::{Budget, Retry},
};

/// A wait for the rate limit that is worth a word (client-go `rest/request.go`, `longThrottleLatency`), and one that is worth a loud one.
const LONG_WAIT: Duration = Duration::from_millis(50);
const VERY_LONG_WAIT: Duration = Duration::from_secs(1);
/// What is left of an answer is read if it is not longer, so that its connection can be used again (`readAndCloseResponseBody`).
const MAX_LEFTOVER: usize = 2 << 10;
const LEFTOVER_WITHIN: Duration = Duration::from_secs(1);

/// Why there was no answer.
#[derive(Debug)]
pub(super) struct NoAnswer {
    pub(super) error: Error,
    /// Sending the request again can do no harm, and may help.
    pub(super) may_repeat: bool,
}

impl From<Error> for NoAnswer {
    fn from(error: Error) -> Self {
        Self {
            error,
            may_repeat: false,
        }
    }
}

impl Inner {
    /// Sends the request, and again where its budget allows what the outcome asks for.
    pub(super) async fn attempts(&self, request: Request<Bytes>) -> Result<Response<ResponseBody>, Error> {
        let is_long_running = is_long_running(request.uri());
        let is_sent_once = is_long_running || request.extensions().get::<RepeatedBySender>().is_some();
        let mut budget = Budget::new(if is_sent_once {
            0
        } else {
            self.settings.max_retries
        });
        loop {
            if !is_long_running {
                self.throttle(request.method()).await;
            }
            budget.spend();
            let outcome = self.attempt(&request).await;
            let retry = match &outcome {
                Ok(response) => budget.after_response(response.status(), response.headers()),
                Err(failed) if failed.may_repeat => budget.after_connection(),
                Err(_) => None,
            };
            let span = tracing::Span::current();
            span.record("attempts", budget.attempts().made);
            match (retry, outcome) {
                (Some(retry), outcome) => self.pause(request.method(), &retry, outcome).await,
                (None, Ok(mut response)) => {
                    span.record("status", response.status().as_u16());
                    response.extensions_mut().insert(budget.attempts());
                    return Ok(response);
                }
                (None, Err(failed)) => return Err(failed.error.after(budget.attempts().made)),
            }
        }
    }

    /// Sends the request once, with the credentials of the moment.
    async fn attempt(&self, request: &Request<Bytes>) -> Result<Response<ResponseBody>, NoAnswer> {
        let settings = &self.settings;
        let authorizer = settings.authorizer.as_deref();
        let prepared = Prepared::new(request, &settings.dialer.server, &settings.headers, authorizer).await?;
        let (response, lease) = self.exchange(&prepared).await?;
        settings.warnings.hear(response.headers());
        if response.status() == StatusCode::UNAUTHORIZED
            && let (Some(issue), Some(authorizer)) = (prepared.issue, authorizer)
        {
            authorizer.rejected(issue);
        }
        Ok(self.decoded(response, lease, &prepared))
    }

    /// Waits before the next attempt, and meanwhile reads what is left of the answer.
    async fn pause(&self, method: &Method, retry: &Retry, outcome: Result<Response<ResponseBody>, NoAnswer>) {
        let (attempts, error) = (retry.attempts, outcome.as_ref().err().map(|failed| &failed.error));
        tracing::debug!(
            server = &*self.url,
            attempt = attempts.made,
            most = attempts.most,
            wait = ?retry.wait,
            reason = ?retry.reason,
            error = error.map(tracing::field::display),
            "The request is sent again"
        );
        self.settings
            .meter
            .tell(|metrics| metrics.retrying(method, retry));
        // Also after no time at all, others have their turn.
        let over = wait_for(retry.wait.max(Duration::from_millis(1)));
        tokio::pin!(over);
        if let Ok(response) = outcome {
            let leftover = Limited::new(response.into_body(), MAX_LEFTOVER).collect();
            // Whatever comes of it.
            let _read = tokio::time::timeout(retry.wait.max(LEFTOVER_WITHIN), leftover).await;
        }
        over.await;
    }

    /// Waits for the turn of a request, where there is a limit.
    async fn throttle(&self, method: &Method) {
        let Some(limit) = &self.settings.limit else {
            return;
        };
        let (turn, wait) = Turn::take(limit, now());
        if wait > Duration::ZERO {
            wait_for(wait).await;
        }
        turn.used();
        self.settings
            .meter
            .tell(|metrics| metrics.throttled(method, wait));
        if wait > VERY_LONG_WAIT {
            tracing::info!(
                server = &*self.url,
                ?wait,
                "The request waited for the client's own rate limit"
            );
        } else if wait > LONG_WAIT {
            tracing::debug!(
                server = &*self.url,
                ?wait,
                "The request waited for the client's own rate limit"
            );
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the edge where time enters")]
fn wait_for(wait: Duration) -> tokio::time::Sleep {
    tokio::time::sleep(wait)
}
