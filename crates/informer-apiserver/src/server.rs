//! `Server`: start, access, stop.

use std::{
    fmt, io,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use informer_core::{Clock as _, TokioClock};
use informer_testkit::{
    FakeApi, SharedApi,
    workload::{Workload, WorkloadOptions},
};
use tokio::{
    net::TcpListener,
    sync::watch,
    task::{JoinHandle, JoinSet},
};

use crate::serve;

/// How a [`Server`] is started.
#[derive(Debug)]
#[non_exhaustive]
pub struct Options {
    /// What it serves.
    pub api: FakeApi,
    /// Where it listens. By default a free port of the loopback address.
    pub address: SocketAddr,
    /// A sample workload that lives in it.
    pub workload: Option<WorkloadOptions>,
}

impl Default for Options {
    fn default() -> Self {
        let mut options = informer_testkit::Options::default();
        options.wall_start = wall();
        Self::serving(FakeApi::with_builtins_and(options))
    }
}

impl Options {
    /// Serving this model.
    #[must_use]
    pub fn serving(api: FakeApi) -> Self {
        Self {
            api,
            address: (Ipv4Addr::LOCALHOST, 0).into(),
            workload: None,
        }
    }

    /// With the sample workload, of this seed.
    #[must_use]
    pub fn workload(mut self, seed: u64) -> Self {
        let mut options = WorkloadOptions::default();
        options.seed = seed;
        self.workload = Some(options);
        self
    }
}

impl From<FakeApi> for Options {
    fn from(api: FakeApi) -> Self {
        Self::serving(api)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the model's wall time begins with the real one here, at the edge"
)]
fn wall() -> Duration {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default()
}

/// A running server. Dropping it stops it.
pub struct Server {
    shared: SharedApi<TokioClock>,
    address: SocketAddr,
    stop: watch::Sender<bool>,
    main: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server on the running tokio runtime.
    ///
    /// # Errors
    /// When it cannot listen at the address.
    pub async fn start(options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind(options.address).await?;
        let address = listener.local_addr()?;
        let shared = SharedApi::new(options.api, TokioClock);
        let mut workload = options.workload.map(Workload::new);
        if let Some(workload) = &mut workload {
            // The cluster stands before the first client comes.
            shared.with(|api| workload.step(api));
        }
        let (stop, stopped) = watch::channel(false);
        let main = spawn_main(listener, shared.clone(), workload, stopped);
        tracing::debug!(%address, "Embedded API server listens");
        Ok(Self {
            shared,
            address,
            stop,
            main: Some(main),
        })
    }

    /// Its address, as a client's base URL: `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Looks at the model or changes it; watches hear of it at once.
    pub fn with<R>(&self, body: impl FnOnce(&mut FakeApi) -> R) -> R {
        self.shared.with(body)
    }

    /// The model, to share with others.
    #[must_use]
    pub fn api(&self) -> &SharedApi<TokioClock> {
        &self.shared
    }

    /// Stops it: connections are cut, and nothing of it runs when this returns.
    pub async fn shutdown(mut self) {
        let _all_gone = self.stop.send(true);
        if let Some(main) = self.main.take() {
            // Only a panic in the accept loop ends otherwise, and there is nothing left to do about it.
            let _ended = main.await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The main task owns all others and drops them as it ends.
        if let Some(main) = &self.main {
            main.abort();
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the server owns this task: `shutdown` waits for it, `drop` aborts it"
)]
fn spawn_main(
    listener: TcpListener,
    shared: SharedApi<TokioClock>,
    workload: Option<Workload>,
    stopped: watch::Receiver<bool>,
) -> JoinHandle<()> {
    tokio::spawn(main_task(listener, shared, workload, stopped))
}

/// Accepts connections until it is stopped. All other tasks are in its set: they end with it.
async fn main_task(
    listener: TcpListener,
    shared: SharedApi<TokioClock>,
    workload: Option<Workload>,
    mut stopped: watch::Receiver<bool>,
) {
    let mut tasks = JoinSet::new();
    let streams = serve::Streams::default();
    if let Some(workload) = workload {
        tasks.spawn(live(shared.clone(), workload));
    }
    loop {
        tokio::select! {
            // Sent, or the server was dropped without a word.
            _ = stopped.changed() => break,
            Some(_) = tasks.join_next(), if !tasks.is_empty() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    tasks.spawn(serve::connection(stream, shared.clone(), streams.clone()));
                }
                Err(error) => {
                    tracing::warn!(%error, "Cannot accept a connection");
                    TokioClock.sleep_until(TokioClock.now() + Duration::from_millis(50)).await;
                }
            },
        }
    }
    tasks.shutdown().await;
    streams.shutdown().await;
}

/// Lets the workload live.
async fn live(shared: SharedApi<TokioClock>, mut workload: Workload) {
    loop {
        let wait = shared.with(|api| workload.step(api));
        TokioClock.sleep_until(TokioClock.now() + wait).await;
    }
}
