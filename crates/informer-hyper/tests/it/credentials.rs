//! Credentials: where they go, where not, and what a 401 does.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, StatusCode, header::AUTHORIZATION};
use http_body_util::BodyExt;
use informer_core::BoxFuture;
use informer_hyper::{Error, HyperTransport};
use informer_transport::{Authorize, CredentialError, Endpoint, Issue, TlsMaterial, TlsSource, Transport};

use crate::support::{Server, Wire, answer, fetch, get, sentence, text};

/// A token that changes with each refusal.
#[derive(Default)]
struct Token {
    n_refused: AtomicUsize,
}

impl Authorize for Token {
    fn authorize<'a>(&'a self, headers: &'a mut HeaderMap) -> BoxFuture<'a, Result<Issue, CredentialError>> {
        Box::pin(async {
            let n_refused = self.n_refused.load(Ordering::Relaxed);
            let token = format!("Bearer t{n_refused}");
            headers.insert(AUTHORIZATION, HeaderValue::from_str(&token).expect("a header"));
            Ok(Issue::new(n_refused as u64))
        })
    }

    fn rejected(&self, issue: Issue) {
        let n_refused = self.n_refused.fetch_add(1, Ordering::Relaxed);
        assert_eq!(
            issue,
            Issue::new(n_refused as u64),
            "of the request that was refused"
        );
    }
}

/// A server that lets in one token, and says which it got.
async fn wanting(token: &'static str) -> Server {
    Server::start(Wire::Http1, move |request| async move {
        let got = request
            .headers()
            .get(AUTHORIZATION)
            .map_or(&b"none"[..], HeaderValue::as_bytes)
            .to_vec();
        let is_right = got == token.as_bytes();
        let mut response = answer(got);
        if !is_right {
            *response.status_mut() = StatusCode::UNAUTHORIZED;
        }
        response
    })
    .await
}

#[tokio::test]
async fn a_token_goes_with_each_request_and_a_refusal_is_heard() {
    let server = wanting("Bearer t1").await;
    let token = Arc::new(Token::default());
    let transport = HyperTransport::builder(server.url())
        .authorize(token.clone())
        .build()
        .expect("a transport");
    let refused = fetch(&transport, "/").await.expect("a response");
    assert_eq!(
        (refused.status(), &**refused.body()),
        (StatusCode::UNAUTHORIZED, &b"Bearer t0"[..])
    );
    let accepted = fetch(&transport, "/").await.expect("a response");
    assert_eq!(
        (accepted.status(), &**accepted.body()),
        (StatusCode::OK, &b"Bearer t1"[..])
    );
    assert_eq!(token.n_refused.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_request_s_own_credentials_are_left_alone_and_their_refusal_is_its_own() {
    let server = wanting("Bearer t0").await;
    let token = Arc::new(Token::default());
    let transport = HyperTransport::builder(server.url())
        .authorize(token.clone())
        .build()
        .expect("a transport");
    let request = Request::get("/")
        .header(AUTHORIZATION, "Bearer mine")
        .body(Bytes::new())
        .expect("a request");
    let response = transport.send(request).await.expect("a response");
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(
        response.into_body().collect().await.expect("a body").to_bytes(),
        "Bearer mine"
    );
    assert_eq!(token.n_refused.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn without_an_authorizer_nothing_is_sent() {
    let server = wanting("none").await;
    assert_eq!(
        text(
            &HyperTransport::builder(server.url())
                .build()
                .expect("a transport"),
            "/"
        )
        .await,
        "none"
    );
}

fn elsewhere() -> informer_hyper::Builder {
    // An address that is kept for documents; the request fails before anything is sent, or times out at once.
    HyperTransport::builder("http://192.0.2.1:1").connect_timeout(Duration::ZERO)
}

#[tokio::test]
async fn credentials_are_not_sent_to_another_machine_in_the_clear() {
    let refused = |error: &Error| error.is_credentials();
    let transport = elsewhere()
        .authorize(Arc::new(Token::default()))
        .build()
        .expect("a transport");
    let error = transport.send(get("/")).await.expect_err("in the clear");
    assert!(refused(&error));
    assert_eq!(
        error.to_string(),
        "credentials are not sent to http://192.0.2.1:1 over plain HTTP"
    );

    let allowed = elsewhere()
        .authorize(Arc::new(Token::default()))
        .allow_plain_credentials(true);
    let anonymous = elsewhere();
    for builder in [allowed, anonymous] {
        let error = builder
            .build()
            .expect("a transport")
            .send(get("/"))
            .await
            .expect_err("nobody is there");
        assert!(!refused(&error) && error.is_connect(), "{error}");
    }
}

struct Broken;

impl Authorize for Broken {
    fn authorize<'a>(&'a self, _: &'a mut HeaderMap) -> BoxFuture<'a, Result<Issue, CredentialError>> {
        Box::pin(async { Err(CredentialError::new("/token: cannot be read").caused_by("gone")) })
    }
}

#[tokio::test]
async fn credentials_that_cannot_be_had_are_an_error() {
    let transport = HyperTransport::builder("https://s")
        .authorize(Arc::new(Broken))
        .build();
    // Without platform roots the transport is not built, which is not what this is about.
    let Ok(transport) = transport else { return };
    let error = transport.send(get("/")).await.expect_err("no credentials");
    assert!(error.is_credentials());
    assert_eq!(
        sentence(&error),
        "no credentials for https://s: /token: cannot be read: gone"
    );
}

/// A configuration that says everything it can.
struct Configured(String);

impl Endpoint for Configured {
    fn server(&self) -> &str {
        &self.0
    }

    fn authorizer(&self) -> Arc<dyn Authorize> {
        Arc::new(Token::default())
    }

    fn tls(&self) -> Arc<dyn TlsSource> {
        Arc::new(TlsMaterial::default())
    }

    fn accepts_compression(&self) -> bool {
        false
    }

    fn request_timeout(&self) -> Option<Duration> {
        Some(Duration::from_millis(50))
    }
}

#[tokio::test]
async fn what_an_endpoint_says_is_done() {
    let server = Server::start(Wire::Http1, |request| async move {
        if request.uri().path() == "/hangs" {
            std::future::pending::<()>().await;
        }
        let header = |name| {
            request
                .headers()
                .get(name)
                .map(|value| value.to_str().expect("text"))
        };
        answer(format!(
            "{:?} {:?}",
            header("authorization"),
            header("accept-encoding")
        ))
    })
    .await;
    let transport = HyperTransport::of(&Configured(server.url()))
        .build()
        .expect("a transport");
    assert_eq!(text(&transport, "/").await, r#"Some("Bearer t0") None"#);
    let error = fetch(&transport, "/hangs").await.expect_err("too late");
    assert_eq!(
        error.to_string(),
        format!("no response from {} within 50ms", server.url())
    );
}
