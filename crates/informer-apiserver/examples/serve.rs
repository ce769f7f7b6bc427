//! Serves the sample workload until it is interrupted.
//!
//! ```text
//! cargo run -p informer-apiserver --example serve
//! kubectl --server http://127.0.0.1:PORT get pods --watch
//! ```

#![expect(clippy::print_stdout, reason = "an example tells a person where it listens")]

use informer_apiserver::{Options, Server};

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let server = Server::start(Options::default().workload(1)).await?;
    println!("{}", server.url());
    tokio::signal::ctrl_c().await?;
    server.shutdown().await;
    Ok(())
}
