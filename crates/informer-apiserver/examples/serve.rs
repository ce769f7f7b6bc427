//! Serves the sample workload until it is interrupted, or its standard input ends.
//!
//! ```text
//! cargo run -p informer-apiserver --example serve
//! kubectl --server http://127.0.0.1:PORT get pods --watch
//! ```

#![expect(clippy::print_stdout, reason = "an example tells a person where it listens")]

use informer_apiserver::{Options, Server};
use tokio::io::{AsyncReadExt as _, stdin};

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let server = Server::start(Options::default().workload(1)).await?;
    println!("{}", server.url());
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted?,
        ended = async { while stdin().read_u8().await.is_ok() {} } => ended,
    }
    server.shutdown().await;
    Ok(())
}
