//! TLS: whom to trust, client certificates, names, ALPN, and rotation.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use http::Version;
use informer_hyper::{Error, HttpVersion, HyperTransport};
use informer_transport::{CredentialError, Roots, TlsMaterial, TlsSource, Transport};
use tokio::sync::mpsc;

use crate::support::{
    Answer, Authority, Server, Wire, answer, chunk, fetch, get, good_chunk, sentence, streaming, text,
};

const BOTH: &[&str] = &["h2", "http/1.1"];

async fn version(request: http::Request<hyper::body::Incoming>) -> Answer {
    answer(format!("{:?}", request.version()))
}

async fn serve(authority: &Authority, names: &[&str], alpn: &[&str]) -> Server {
    let config = authority.issue(names).for_server(None, alpn);
    Server::start(Wire::Tls(config), version).await
}

fn trusting(server: &Server, material: TlsMaterial) -> Result<HyperTransport, Error> {
    HyperTransport::builder(server.url())
        .tls(Arc::new(material))
        .build()
}

#[tokio::test]
async fn the_server_picks_the_version_unless_one_is_asked_for() {
    let authority = Authority::new("root");
    let table = [
        (BOTH, HttpVersion::Auto, Version::HTTP_2),
        (&["http/1.1"][..], HttpVersion::Auto, Version::HTTP_11),
        (&[][..], HttpVersion::Auto, Version::HTTP_11),
        (BOTH, HttpVersion::Http1, Version::HTTP_11),
        (BOTH, HttpVersion::Http2, Version::HTTP_2),
    ];
    for (alpn, asked, expected) in table {
        let server = serve(&authority, &["127.0.0.1"], alpn).await;
        let transport = HyperTransport::builder(server.url())
            .tls(Arc::new(authority.trusted()))
            .http_version(asked)
            .build()
            .expect("a transport");
        for _ in 0..2 {
            assert_eq!(text(&transport, "/").await, format!("{expected:?}"));
        }
        assert_eq!(server.n_opened(), 1);
    }
}

#[tokio::test]
async fn a_server_without_http_2_is_named_where_it_is_asked_for() {
    let authority = Authority::new("root");
    let server = serve(&authority, &["127.0.0.1"], &[]).await;
    let transport = HyperTransport::builder(server.url())
        .tls(Arc::new(authority.trusted()))
        .http_version(HttpVersion::Http2)
        .build()
        .expect("a transport");
    let error = fetch(&transport, "/").await.expect_err("no HTTP/2");
    assert_eq!(
        error.to_string(),
        format!(
            "{} does not speak HTTP/2, and nothing else was asked for",
            server.url()
        )
    );
}

#[tokio::test]
async fn an_authority_that_did_not_sign_is_a_clear_error() {
    let (signer, other) = (Authority::new("signer"), Authority::new("other"));
    let server = serve(&signer, &["127.0.0.1"], BOTH).await;
    let transport = trusting(&server, other.trusted()).expect("a transport");
    let error = fetch(&transport, "/").await.expect_err("not trusted");
    assert!(error.is_tls() && error.is_connect());
    assert_eq!(
        sentence(&error),
        format!(
            "the certificate of {} is not signed by an authority that is trusted here: invalid peer certificate: UnknownIssuer",
            server.url()
        )
    );
}

#[tokio::test]
async fn an_authority_that_serves_itself_is_a_clear_error() {
    let authority = Authority::new("root");
    let config = authority.identity().for_server(None, BOTH);
    let server = Server::start(Wire::Tls(config), version).await;
    let transport = trusting(&server, authority.trusted()).expect("a transport");
    let error = fetch(&transport, "/")
        .await
        .expect_err("no certificate for servers");
    assert_eq!(
        error.to_string(),
        format!(
            "the certificate of {} is that of an authority, not one that an authority signed for a server",
            server.url()
        )
    );
}

#[tokio::test]
async fn of_a_bundle_any_authority_counts() {
    let (signer, other) = (Authority::new("signer"), Authority::new("other"));
    let server = serve(&signer, &["127.0.0.1"], BOTH).await;
    let mut material = TlsMaterial::default();
    let broken = "-----BEGIN CERTIFICATE-----\n%%%\n-----END CERTIFICATE-----\n";
    material.roots = Roots::Pem(
        format!("{}{broken}{}", other.pem(), signer.pem())
            .into_bytes()
            .into(),
    );
    assert_eq!(
        text(&trusting(&server, material).expect("a transport"), "/").await,
        "HTTP/2.0"
    );
}

#[tokio::test]
async fn the_name_is_checked_and_can_be_another() {
    let authority = Authority::new("root");
    let server = serve(&authority, &["api.internal"], BOTH).await;
    let transport = trusting(&server, authority.trusted()).expect("a transport");
    let error = fetch(&transport, "/").await.expect_err("another name");
    assert_eq!(
        error.to_string(),
        format!(
            "the certificate of {} is not valid for the name \"127.0.0.1\"",
            server.url()
        )
    );
    let mut material = authority.trusted();
    material.server_name = Some("api.internal".into());
    assert_eq!(
        text(&trusting(&server, material).expect("a transport"), "/").await,
        "HTTP/2.0"
    );
}

#[tokio::test]
async fn anybody_is_trusted_only_when_that_is_asked_for() {
    let server = serve(&Authority::new("root"), &["somebody"], BOTH).await;
    let mut material = TlsMaterial::default();
    material.roots = Roots::Insecure;
    assert_eq!(
        text(&trusting(&server, material).expect("a transport"), "/").await,
        "HTTP/2.0"
    );
}

#[tokio::test]
async fn a_client_certificate_lets_in_and_none_does_not() {
    let authority = Authority::new("root");
    let config = authority.issue(&["127.0.0.1"]).for_server(Some(&authority), BOTH);
    let server = Server::start(Wire::Tls(config), version).await;
    let mut material = authority.trusted();
    let error = fetch(&trusting(&server, material.clone()).expect("a transport"), "/")
        .await
        .expect_err("nobody");
    assert!(
        sentence(&error).contains("CertificateRequired"),
        "{}",
        sentence(&error)
    );
    assert!(error.to_string().contains(&server.url()));
    material.client = Some(authority.issue(&["ada"]).for_client());
    assert_eq!(
        text(&trusting(&server, material).expect("a transport"), "/").await,
        "HTTP/2.0"
    );
}

#[tokio::test]
async fn useless_material_is_refused_when_the_transport_is_built() {
    let authority = Authority::new("root");
    let (one, two) = (authority.issue(&["one"]), authority.issue(&["two"]));
    let refused = |change: &dyn Fn(&mut TlsMaterial)| {
        let mut material = authority.trusted();
        change(&mut material);
        let error = HyperTransport::builder("https://s")
            .tls(Arc::new(material))
            .build()
            .expect_err("useless");
        assert!(error.is_configuration());
        error.to_string()
    };
    assert_eq!(
        refused(&|material| material.roots = Roots::Pem(b"nothing".as_slice().into())),
        "TLS for https://s: the certificate authority holds no usable certificate"
    );
    assert_eq!(
        refused(&|material| {
            let mut pair = one.for_client();
            pair.key = two.for_client().key;
            material.client = Some(pair);
        }),
        "TLS for https://s: the client certificate and its key cannot be used"
    );
    assert_eq!(
        refused(&|material| {
            let mut pair = one.for_client();
            pair.key = b"nothing".as_slice().into();
            material.client = Some(pair);
        }),
        "TLS for https://s: the client key is malformed"
    );
}

/// A source whose material tests change.
struct Changing(Mutex<TlsMaterial>);

impl TlsSource for Changing {
    fn current(&self) -> Result<TlsMaterial, CredentialError> {
        Ok(self.0.lock().expect("lock").clone())
    }
}

#[tokio::test]
async fn another_generation_gets_new_connections_and_a_useless_one_changes_nothing() {
    let authority = Authority::new("root");
    for alpn in [BOTH, &["http/1.1"]] {
        let server = serve(&authority, &["127.0.0.1"], alpn).await;
        let source = Arc::new(Changing(Mutex::new(authority.trusted())));
        let transport = HyperTransport::builder(server.url())
            .tls(source.clone())
            .build()
            .expect("a transport");
        fetch(&transport, "/").await.expect("a response");
        fetch(&transport, "/").await.expect("a response");
        assert_eq!(server.n_opened(), 1);

        source.0.lock().expect("lock").generation = 1;
        fetch(&transport, "/").await.expect("a response");
        assert_eq!(server.n_opened(), 2);
        server.wait_for(|connections| connections.n_closed == 1).await;

        let mut useless = TlsMaterial::default();
        useless.roots = Roots::Pem(b"half a file".as_slice().into());
        useless.generation = 2;
        *source.0.lock().expect("lock") = useless;
        fetch(&transport, "/").await.expect("a response");
        assert_eq!(server.n_opened(), 2);
    }
}

/// Who must not go by a certificate that was taken away does so for five minutes at most; then what runs is cut, and can be resumed.
#[tokio::test]
async fn what_runs_with_old_certificates_is_cut_after_a_while() {
    let authority = Authority::new("root");
    for alpn in [BOTH, &["http/1.1"]] {
        let (send, mut feeds) = mpsc::unbounded_channel();
        let config = authority.issue(&["127.0.0.1"]).for_server(None, alpn);
        let server = Server::start(Wire::Tls(config), move |_| {
            let (response, feed) = streaming();
            feed.send("open");
            send.send(feed).expect("the test listens");
            async { response }
        })
        .await;
        let source = Arc::new(Changing(Mutex::new(authority.trusted())));
        let transport = HyperTransport::builder(server.url())
            .tls(source.clone())
            .build()
            .expect("a transport");
        let open = async || {
            let response = transport.send(get("/watch?watch=true")).await;
            let mut body = response.expect("a response").into_body();
            assert_eq!(good_chunk(&mut body).await, "open");
            body
        };
        let mut old = open().await;
        source.0.lock().expect("lock").generation = 1;
        let mut new = open().await;
        assert_eq!(server.n_opened(), 2);
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(299)).await;
        tokio::time::resume();
        let (of_old, of_new) = (
            feeds.recv().await.expect("a feed"),
            feeds.recv().await.expect("a feed"),
        );
        of_old.send("still open");
        assert_eq!(good_chunk(&mut old).await, "still open");
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(2)).await;
        tokio::time::resume();
        let error = chunk(&mut old).await.expect("no clean end").expect_err("cut");
        assert!(error.is_body(), "{error}");
        of_new.send("untouched");
        assert_eq!(good_chunk(&mut new).await, "untouched");
    }
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "measures the virtual time")]
async fn a_handshake_that_nobody_answers_is_given_up_before_the_connection_would_be() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let url = format!("https://{}", listener.local_addr().expect("an address"));
    let authority = Authority::new("root");
    let transport = HyperTransport::builder(url.clone())
        .tls(Arc::new(authority.trusted()))
        .build()
        .expect("a transport");
    let sending = fetch(&transport, "/");
    tokio::pin!(sending);
    let _open = tokio::select! {
        _ = &mut sending => panic!("nobody answers"),
        accepted = listener.accept() => accepted.expect("a connection"),
    };
    tokio::time::pause();
    let since = tokio::time::Instant::now();
    let error = sending.await.expect_err("nobody answers");
    assert!(error.is_tls());
    assert_eq!(error.to_string(), format!("TLS handshake with {url} failed"));
    let n_seconds = since.elapsed().as_secs();
    assert!((9..=10).contains(&n_seconds), "given up after {n_seconds} s");
}
