//! Many requests are under way when a token is replaced: what the server says of the old one costs nobody the new one.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use http::{Request, StatusCode};
use informer_hyper::HyperTransport;
use informer_kubeconfig::{Config, MemoryEnvironment, Overrides, PluginOutput};
use informer_transport::Transport as _;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
};

use crate::support::{FILE, file, find, home};

const N_REQUESTS: usize = 20;

/// Lets in whoever does not come with the token `t0`, and answers to those who do when it is allowed to.
struct Server {
    address: String,
    n_held: watch::Sender<usize>,
    refusals: Semaphore,
}

impl Server {
    async fn start(serving: &mut JoinSet<()>) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Arc::new(Self {
            address: listener.local_addr().unwrap().to_string(),
            n_held: watch::Sender::new(0),
            refusals: Semaphore::new(0),
        });
        let it = Arc::clone(&server);
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let it = Arc::clone(&it);
                connections.spawn(async move { it.talk(stream).await });
            }
        });
        server
    }

    async fn talk(&self, mut stream: TcpStream) -> std::io::Result<()> {
        loop {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await?);
            }
            let is_old = String::from_utf8_lossy(&head).contains("Bearer t0");
            let status = if is_old { "401 Unauthorized" } else { "200 OK" };
            if is_old {
                self.n_held.send_modify(|n| *n += 1);
                self.refusals.acquire().await.expect("it is not closed").forget();
            }
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\nok");
            stream.write_all(answer.as_bytes()).await?;
        }
    }
}

async fn status(transport: &HyperTransport) -> StatusCode {
    let request = Request::get("/api").body(Bytes::new()).unwrap();
    transport.send(request).await.unwrap().status()
}

/// Sends twenty requests with the first token, lets one be refused, and the others only when the second is in use. `n_fetched` counts.
async fn check(
    environment: MemoryEnvironment,
    user: &str,
    between: impl FnOnce(),
    n_fetched: impl Fn() -> usize,
) {
    let mut tasks = JoinSet::new();
    let server = Server::start(&mut tasks).await;
    let cluster = format!("server: 'http://{}'", server.address);
    let environment = environment.file(FILE, file(&cluster, user));
    let config: Config = find(&environment, &Overrides::default()).unwrap().unwrap();
    let transport = HyperTransport::builder(config.server())
        .authorize(config.authorizer())
        .ignore_proxy_variables()
        .build()
        .unwrap();

    let mut old = JoinSet::new();
    for _ in 0..N_REQUESTS {
        let transport = transport.clone();
        old.spawn(async move { status(&transport).await });
    }
    let mut n_held = server.n_held.subscribe();
    n_held.wait_for(|n| *n == N_REQUESTS).await.unwrap();
    between();
    let before = n_fetched();
    server.refusals.add_permits(1);
    assert_eq!(old.join_next().await.unwrap().unwrap(), StatusCode::UNAUTHORIZED);
    assert_eq!(status(&transport).await, StatusCode::OK, "with the new token");
    assert_eq!(n_fetched(), before + 1);

    // The others, each followed by a request that finds the new token in use.
    for _ in 1..N_REQUESTS {
        server.refusals.add_permits(1);
        assert_eq!(old.join_next().await.unwrap().unwrap(), StatusCode::UNAUTHORIZED);
        assert_eq!(status(&transport).await, StatusCode::OK);
    }
    assert_eq!(
        n_fetched(),
        before + 1,
        "nothing was fetched for the sake of the old one"
    );
    tasks.shutdown().await;
}

#[tokio::test]
async fn a_plug_in_is_not_run_again_for_what_it_replaced() {
    let n_runs = Arc::new(AtomicUsize::new(0));
    let runs = Arc::clone(&n_runs);
    let environment = home().plugin("login", move |_| {
        let token = format!("t{}", runs.fetch_add(1, Ordering::SeqCst));
        let printed = format!(
            r#"{{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{{"token":"{token}"}}}}"#
        );
        Ok(PluginOutput {
            code: Some(0),
            printed: printed.into_bytes(),
        })
    });
    let user = "exec: {command: login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}";
    check(environment, user, || (), || n_runs.load(Ordering::SeqCst)).await;
}

#[tokio::test]
async fn a_token_file_is_not_read_again_for_what_it_replaced() {
    let environment = home().file("/token", "t0");
    let (written, read) = (environment.clone(), environment.clone());
    let between = move || written.write("/token", "t1");
    check(environment, "tokenFile: /token", between, move || {
        read.n_reads("/token")
    })
    .await;
}
