//! The variables of the environment, in a process of their own.

use std::{env, process::Command, sync::Arc};

use http::Version;
use informer_hyper::{HttpVersion, HyperTransport};
use informer_transport::Transport;

use crate::support::{Authority, Server, Wire, answer, get};

/// What the server is asked in, over TLS where it speaks both.
async fn version(set: Option<HttpVersion>) -> Version {
    let authority = Authority::new("ours");
    let server = Server::start(
        Wire::Tls(
            authority
                .issue(&["127.0.0.1"])
                .for_server(None, &["h2", "http/1.1"]),
        ),
        |_| async { answer("ok") },
    )
    .await;
    let mut builder = HyperTransport::builder(server.url()).tls(Arc::new(authority.trusted()));
    if let Some(version) = set {
        builder = builder.http_version(version);
    }
    let transport = builder.build().expect("a transport");
    transport.send(get("/")).await.expect("a response").version()
}

#[tokio::test]
async fn http_2_can_be_disabled_from_outside_unless_the_program_says_otherwise() {
    const NAME: &str = "variables::http_2_can_be_disabled_from_outside_unless_the_program_says_otherwise";
    if env::var_os("DISABLE_HTTP2").is_some() {
        assert_eq!(version(None).await, Version::HTTP_11);
        assert_eq!(version(Some(HttpVersion::Http2)).await, Version::HTTP_2);
        return;
    }
    assert_eq!(version(None).await, Version::HTTP_2);
    let this = env::current_exe().expect("a program");
    let run = Command::new(this)
        .args(["--exact", NAME])
        .env("DISABLE_HTTP2", "1")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("1 passed"), "{said}");
}
