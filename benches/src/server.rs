//! The server, full of pods, and what it does for a client.

use std::path::{Path, PathBuf};

use apiserver_tests::{ControlPlane, Login, Options};
use informer_client::{Client, Patch, WriteOptions};
use informer_hyper::HyperTransport;
use informer_kubeconfig::{Config, Overrides};
use tokio::task::JoinSet;

use crate::{Process, Result, pods};

/// Requests on their way at once while the server is filled.
const N_WRITERS: usize = 32;

/// A control plane with pods in its default namespace.
#[derive(Debug)]
pub struct Server {
    plane: ControlPlane,
    kubeconfig: PathBuf,
    process: Process,
    n_pods: usize,
}

/// What something cost kube-apiserver.
#[derive(Debug, Clone, Copy)]
pub struct Burden {
    /// Seconds of its processor.
    pub cpu: f64,
    /// Megabytes resident before.
    pub before: f64,
    /// Megabytes that were resident at most, over those of before.
    pub grown: f64,
    /// Megabytes allocated, all in all.
    pub allocated: f64,
}

impl Server {
    /// Starts one with so many pods.
    ///
    /// # Errors
    /// When it does not start or refuses them.
    pub fn start(n_pods: usize) -> Result<Self> {
        let plane = ControlPlane::start(Options::default())?;
        let kubeconfig = plane.kubeconfig(Login::Token, None)?;
        let process = Process::of(*plane.pids().first().ok_or("no server")?);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(fill(&kubeconfig, n_pods))?;
        Ok(Self {
            plane,
            kubeconfig,
            process,
            n_pods,
        })
    }

    /// How it is reached.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// How many pods it has.
    #[must_use]
    pub fn n_pods(&self) -> usize {
        self.n_pods
    }

    /// Does something, and says what it cost kube-apiserver, whose garbage is collected before.
    ///
    /// # Errors
    /// Those of what is done, or when the server is gone.
    pub fn burden<T>(&self, what: impl FnOnce() -> Result<T>) -> Result<(T, Burden)> {
        self.plane.http().get("/debug/pprof/heap?gc=1")?;
        let allocated = self.allocated()?;
        let cpu = self.process.cpu()?;
        self.process.forget_peak()?;
        let before = self.process.memory()?.now;
        let done = what()?;
        let burden = Burden {
            cpu: self.process.cpu()? - cpu,
            before,
            grown: self.process.memory()?.peak - before,
            allocated: self.allocated()? - allocated,
        };
        Ok((done, burden))
    }

    /// Megabytes that it has allocated since its start.
    fn allocated(&self) -> Result<f64> {
        let answer = self.plane.http().get("/metrics")?;
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        let mut lines = text.lines();
        let bytes: f64 = lines
            .find_map(|line| line.strip_prefix("go_memstats_alloc_bytes_total "))
            .ok_or("no metric of what was allocated")?
            .parse()?;
        Ok(bytes / 1e6)
    }
}

/// The way to the server behind a kubeconfig.
///
/// # Errors
/// When that cannot be read.
pub fn connect(kubeconfig: PathBuf, gzip: bool) -> Result<HyperTransport> {
    let mut overrides = Overrides::default();
    overrides.kubeconfig = Some(kubeconfig);
    let config = Config::find(&overrides)?.ok_or("no configuration")?;
    let transport = HyperTransport::builder(config.server())
        .authorize(config.authorizer())
        .tls(config.tls())
        .accept_gzip(gzip)
        .build()?;
    Ok(transport)
}

async fn fill(kubeconfig: &Path, n: usize) -> Result {
    let client = Client::new(connect(kubeconfig.to_owned(), false)?);
    let api = client.metadata(pods::resource()).in_namespace("default");
    let mut writers: JoinSet<Result> = JoinSet::new();
    for i in 0..n {
        if writers.len() == N_WRITERS {
            writers.join_next().await.ok_or("no writer")???;
        }
        let api = api.clone();
        writers.spawn(async move {
            api.create(&pods::pod(i), &WriteOptions::of("kube-controller-manager"))
                .await?;
            let status = Patch::Strategic(pods::status(i));
            api.patch_status(&pods::name(i), &status, &WriteOptions::of("kubelet"))
                .await?;
            Ok(())
        });
    }
    for done in writers.join_all().await {
        done?;
    }
    Ok(())
}
