//! Redirects are answers: they are not followed, to no host at all.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{AUTHORIZATION, LOCATION},
};
use informer_core::BoxFuture;
use informer_hyper::HyperTransport;
use informer_transport::{Authorize, CredentialError, Issue};

use crate::support::{Server, Wire, answer, fetch};

struct Token;

impl Authorize for Token {
    fn authorize<'a>(&'a self, headers: &'a mut HeaderMap) -> BoxFuture<'a, Result<Issue, CredentialError>> {
        Box::pin(async {
            headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer secret"));
            Ok(Issue::default())
        })
    }
}

#[tokio::test]
async fn a_redirect_is_handed_out_and_nobody_else_is_asked() {
    let n_asked = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&n_asked);
    let elsewhere = Server::start(Wire::Http1, move |_| {
        asked.fetch_add(1, Ordering::SeqCst);
        async { answer("caught") }
    })
    .await;
    for status in [301, 302, 303, 307, 308] {
        let location = HeaderValue::try_from(elsewhere.url()).expect("a header");
        let server = Server::start(Wire::Http1, move |_| {
            let mut response = answer("over there");
            *response.status_mut() = StatusCode::from_u16(status).expect("a status");
            response.headers_mut().insert(LOCATION, location.clone());
            async { response }
        })
        .await;
        let transport = HyperTransport::builder(server.url())
            .authorize(Arc::new(Token))
            .build()
            .expect("a transport");
        let response = fetch(&transport, "/api").await.expect("a response");
        assert_eq!(response.status(), status);
        assert_eq!(response.body(), "over there");
    }
    assert_eq!(n_asked.load(Ordering::SeqCst), 0);
    assert_eq!(elsewhere.n_opened(), 0);
}
