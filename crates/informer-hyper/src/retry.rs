//! When a request is sent again, and after how long: a pure budget.

use std::time::Duration;

use http::{HeaderMap, StatusCode, header::RETRY_AFTER};

/// How many attempts a response took. Among the extensions of each response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempts {
    /// How often the request was sent. 1 as a rule.
    pub made: u32,
    /// How often it would have been sent at most.
    pub most: u32,
}

/// Why a request is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetryReason {
    /// The server answered 429 or 5xx, and said when to come back.
    Status(StatusCode),
    /// The connection ended, or the server refused the stream, before there was an answer.
    Connection,
}

/// A request that is about to be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retry {
    /// How often it has been sent so far, and how often it is at most.
    pub attempts: Attempts,
    /// For how long it waits now.
    pub wait: Duration,
    /// Why.
    pub reason: RetryReason,
}

impl Retry {
    /// As a transport would tell it, for tests of what hears it: the request was sent so often of so many times.
    #[must_use]
    pub fn new(made: u32, most: u32, wait: Duration, reason: RetryReason) -> Self {
        Self {
            attempts: Attempts { made, most },
            wait,
            reason,
        }
    }
}

/// More retries than these are not made unless a builder says otherwise (client-go `rest/request.go`, `NewRequest`).
pub(crate) const MAX_RETRIES: u32 = 10;
/// The pause after an answer that was lost (client-go `rest/with_retry.go`, `retryAfterResponse`).
const AFTER_CONNECTION: Duration = Duration::from_secs(1);

/// What is left of the attempts of one request (client-go `rest/with_retry.go`, `withRetry`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget(Attempts);

impl Budget {
    pub(crate) fn new(max_retries: u32) -> Self {
        Self(Attempts {
            made: 0,
            most: max_retries.saturating_add(1),
        })
    }

    pub(crate) fn attempts(&self) -> Attempts {
        self.0
    }

    /// The request is sent.
    pub(crate) fn spend(&mut self) {
        self.0.made += 1;
    }

    /// Whether the answer asks for the request to be sent again, and may be obeyed. The server decides about any method: it has refused
    /// this one. A date instead of seconds is no answer that client-go obeys either (`rest/request.go`, `retryAfterSeconds`).
    pub(crate) fn after_response(&self, status: StatusCode, headers: &HeaderMap) -> Option<Retry> {
        if status != StatusCode::TOO_MANY_REQUESTS && !status.is_server_error() {
            return None;
        }
        let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
        self.retry(Duration::from_secs(seconds), RetryReason::Status(status))
    }

    /// No answer came, and sending the request again is known to be safe.
    pub(crate) fn after_connection(&self) -> Option<Retry> {
        self.retry(AFTER_CONNECTION, RetryReason::Connection)
    }

    fn retry(&self, wait: Duration, reason: RetryReason) -> Option<Retry> {
        (self.0.made < self.0.most).then_some(Retry {
            attempts: self.0,
            wait,
            reason,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::{HeaderMap, HeaderValue, StatusCode, header::RETRY_AFTER};

    use super::{Budget, RetryReason};

    fn headers(value: Option<&'static str>) -> HeaderMap {
        let value = value.map(|value| (RETRY_AFTER, HeaderValue::from_static(value)));
        value.into_iter().collect()
    }

    #[test]
    fn only_throttling_and_server_errors_that_name_a_time_are_obeyed() {
        let mut budget = Budget::new(1);
        budget.spend();
        for (status, value, expected) in [
            (429, Some("3"), Some(3)),
            (500, Some("0"), Some(0)),
            (503, Some(" 1 "), Some(1)),
            (504, Some("1"), Some(1)),
            (429, None, None),
            (503, Some("Wed, 21 Oct 2026 07:28:00 GMT"), None),
            (503, Some("-1"), None),
            (404, Some("1"), None),
            (200, Some("1"), None),
            (301, Some("1"), None),
        ] {
            let code = StatusCode::from_u16(status).expect("a status");
            let retry = budget.after_response(code, &headers(value));
            assert_eq!(
                retry.map(|retry| retry.wait.as_secs()),
                expected,
                "{status} {value:?}"
            );
        }
    }

    #[test]
    fn a_budget_ends() {
        let mut budget = Budget::new(2);
        let mut waits = Vec::new();
        loop {
            budget.spend();
            let Some(retry) = budget.after_connection() else {
                break;
            };
            waits.push((retry.attempts.made, retry.wait, retry.reason));
        }
        let second = Duration::from_secs(1);
        assert_eq!(
            waits,
            [
                (1, second, RetryReason::Connection),
                (2, second, RetryReason::Connection)
            ]
        );
        assert_eq!((budget.attempts().made, budget.attempts().most), (3, 3));
    }

    #[test]
    fn without_retries_there_are_none() {
        let mut budget = Budget::new(0);
        budget.spend();
        assert_eq!(budget.after_connection(), None);
        assert_eq!(
            budget.after_response(StatusCode::TOO_MANY_REQUESTS, &headers(Some("1"))),
            None
        );
    }
}
