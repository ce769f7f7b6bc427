//! Asks an API server for its version: here one that answers from this same program, on loopback.
//!
//! ```text
//! cargo run -p informer-hyper --example get_version
//! ```
#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

use std::{convert::Infallible, error::Error, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use informer_hyper::HyperTransport;
use informer_transport::Transport;
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::select! {
        served = serve(listener) => served,
        asked = ask(url) => asked,
    }
}

async fn ask(url: String) -> Result<(), Box<dyn Error>> {
    let transport = HyperTransport::builder(url)
        .user_agent("get-version/1.0")
        .connect_timeout(Duration::from_secs(5))
        .build()?;
    let response = transport
        .send(Request::get("/version").body(Bytes::new())?)
        .await?;
    println!("{} says {}", transport.url(), response.status());
    println!(
        "{}",
        String::from_utf8_lossy(&response.into_body().collect().await?.to_bytes())
    );
    Ok(())
}

async fn serve(listener: TcpListener) -> Result<(), Box<dyn Error>> {
    loop {
        let (stream, _) = listener.accept().await?;
        let service = service_fn(async |_: Request<_>| {
            let version = r#"{"major":"1","minor":"37","gitVersion":"v1.37.2"}"#;
            Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(version))))
        });
        http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service)
            .await?;
    }
}
