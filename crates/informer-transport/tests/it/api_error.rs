//! Answers that are failures.

use std::time::Duration;

use http::{Response, header::RETRY_AFTER, response::Parts};
use informer_core::{
    Classify,
    FailureClass::{self, *},
};
use informer_transport::{ApiError, Asked, Status};

fn parts(code: u16) -> Parts {
    Response::builder().status(code).body(()).unwrap().into_parts().0
}

fn error(code: u16, body: &str, asked: Asked) -> ApiError {
    ApiError::from_response(&parts(code), body.as_bytes(), asked)
}

fn class_in_stream(status: Status) -> FailureClass {
    ApiError::from_status(status, Asked::Watch).class()
}

#[test]
fn codes_have_classes() {
    use Asked::*;
    for (code, asked, class) in [
        (410, List, Expired),
        (410, Watch, Expired),
        (429, Watch, Throttled),
        (401, List, Unauthorized),
        (403, List, Forbidden),
        (404, Watch, NotFound),
        (500, List, Internal),
        (502, List, Transient),
        (503, Watch, Transient),
        (504, List, Transient),
        (409, Object, Transient),
        (405, Watch, Unsupported),
        (405, List, Unsupported),
        (400, StreamingList, Unsupported),
        (422, StreamingList, Unsupported),
        (405, StreamingList, Unsupported),
        (501, StreamingList, Unsupported),
        (403, StreamingList, Forbidden),
        (429, StreamingList, Throttled),
        (400, List, Unsupported),
        (400, Watch, Transient),
        (422, Watch, Transient),
    ] {
        assert_eq!(error(code, "", asked).class(), class, "{code} to {asked:?}");
    }
}

#[test]
fn reasons_count_where_a_stream_gives_no_code() {
    for (reason, class) in [
        ("Expired", Expired),
        ("Gone", Expired),
        ("TooManyRequests", Throttled),
        ("Unauthorized", Unauthorized),
        ("Forbidden", Forbidden),
        ("InternalError", Internal),
        ("Whatever", Transient),
    ] {
        assert_eq!(class_in_stream(Status::failure(0, reason, "")), class, "{reason}");
    }
}

#[test]
fn versions_that_are_too_large_are_told_by_cause_or_by_old_sentences() {
    let by_cause = r#"{"kind":"Status","message":"Too large resource version: 9, current: 5","reason":"Timeout","code":504,
        "details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1}}"#;
    let by_cause_sentence = r#"{"kind":"Status","message":"Timeout: x","reason":"Timeout","code":504,
        "details":{"causes":[{"message":"Too large resource version"}]}}"#;
    let by_sentence = r#"{"kind":"Status","message":"Timeout: Too large resource version: 9, current: 5","reason":"Timeout","code":504}"#;
    let other = r#"{"kind":"Status","message":"Timeout: request did not complete","reason":"Timeout","code":504,"details":{"causes":null}}"#;
    for (body, class) in [
        (by_cause, VersionTooLarge),
        (by_cause_sentence, VersionTooLarge),
        (by_sentence, VersionTooLarge),
        (other, Transient),
    ] {
        assert_eq!(error(504, body, Asked::List).class(), class, "{body}");
    }
    let same_words =
        r#"{"kind":"Status","message":"Too large resource version","reason":"BadRequest","code":400}"#;
    assert_eq!(error(400, same_words, Asked::Watch).class(), Transient);
}

#[test]
fn retry_after_comes_from_header_or_details() {
    let body = r#"{"kind":"Status","code":429,"details":{"retryAfterSeconds":3}}"#;
    assert_eq!(
        error(429, body, Asked::List).retry_after(),
        Some(Duration::from_secs(3))
    );
    let mut head = parts(429);
    head.headers.insert(RETRY_AFTER, "2".parse().unwrap());
    let with_header = ApiError::from_response(&head, body.as_bytes(), Asked::List);
    assert_eq!(with_header.retry_after(), Some(Duration::from_secs(2)));
    head.headers
        .insert(RETRY_AFTER, "Wed, 21 Oct 2015 07:28:00 GMT".parse().unwrap());
    let with_date = ApiError::from_response(&head, b"", Asked::List);
    assert_eq!(with_date.retry_after(), None);
}

#[test]
fn bodies_give_one_sentence() {
    for (code, body, sentence) in [
        (
            403,
            r#"{"kind":"Status","message":"pods is forbidden"}"#,
            "pods is forbidden",
        ),
        (
            404,
            "404 page not found\n",
            "the server answered 404 Not Found: page not found",
        ),
        (
            502,
            "\n  upstream is down  \nmore",
            "the server answered 502 Bad Gateway: upstream is down",
        ),
        (
            503,
            "<html><body>busy</body></html>",
            "the server answered 503 Service Unavailable",
        ),
        (500, "", "the server answered 500 Internal Server Error"),
        (
            500,
            r#"{"error":"other"}"#,
            "the server answered 500 Internal Server Error",
        ),
        (
            409,
            r#"{"kind":"Status","reason":"Conflict"}"#,
            "the server answered 409 Conflict",
        ),
    ] {
        assert_eq!(error(code, body, Asked::Object).to_string(), sentence);
    }
    let pretty =
        "{\n  \"kind\": \"Status\",\n  \"metadata\": {},\n  \"message\": \"no\",\n  \"code\": 403\n}\n";
    assert_eq!(error(403, pretty, Asked::Watch).to_string(), "no");
    let long = "x".repeat(5000);
    assert!(error(500, &long, Asked::Object).to_string().len() < 300);
}

#[test]
fn the_status_line_counts_before_the_body() {
    let body = r#"{"kind":"Status","code":200,"message":"odd"}"#;
    assert_eq!(error(503, body, Asked::List).code(), 503);
}

#[test]
fn a_status_is_written_as_it_is_read() {
    let status = Status::failure(410, "Expired", "too old");
    let text = serde_json::to_string(&status).unwrap();
    assert_eq!(serde_json::from_str::<Status>(&text).unwrap(), status);
    let fresh: Status = serde_json::from_str(
        r#"{"metadata":{"continue":"t2"},"details":{"causes":null},"status":"Failure"}"#,
    )
    .unwrap();
    assert_eq!(fresh.metadata.continue_token.as_deref(), Some("t2"));
}
