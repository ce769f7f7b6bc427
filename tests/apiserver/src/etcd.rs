//! An etcd of one's own.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{assets, http::Http, ports, process::Leashed, wait};

/// How long a server may take to come up on a busy machine.
pub(crate) const START: Duration = Duration::from_secs(120);

/// A running etcd. Dropping it kills it.
#[derive(Debug)]
pub struct Etcd {
    process: Leashed,
    address: SocketAddr,
    folder: PathBuf,
}

impl Etcd {
    /// Starts one in a folder of its own, on ports of its own.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn start() -> io::Result<Self> {
        ports::start(Self::start_at)
    }

    fn start_at(address: SocketAddr) -> io::Result<Self> {
        // Its leash removes it.
        let folder = tempfile::Builder::new()
            .prefix("control-plane-")
            .tempdir()?
            .keep();
        let data = folder.join("etcd");
        let arguments = [
            format!("--data-dir={}", data.display()),
            // The system could pick this port, too, but then the JSON gateway would not find its way to itself.
            format!("--listen-client-urls=http://{address}"),
            format!("--advertise-client-urls=http://{address}"),
            "--listen-peer-urls=http://127.0.0.1:0".to_owned(),
            "--unsafe-no-fsync=true".to_owned(),
        ];
        let program = assets::folder()?.join("etcd");
        let process = Leashed::start(&program, &arguments, &folder.join("etcd.log"), Some(&folder))?;
        // Its own word that it has the port: another etcd may answer there.
        wait::block("etcd serves", START, || match process.has_ended() {
            true => Err(ports::end_of("etcd", &process)),
            false => Ok(process.output()?.contains("serving client traffic").then_some(())),
        })?;
        let http = Http::plain(address);
        wait::block("etcd is healthy", START, || {
            Ok(http
                .get("/health")
                .is_ok_and(|answer| answer.status == 200)
                .then_some(()))
        })?;
        Ok(Self {
            process,
            address,
            folder,
        })
    }

    /// Where its clients connect to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where its files are, and others that belong to it. It is removed after etcd's end, however that comes.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its process.
    #[must_use]
    pub fn process(&self) -> &Leashed {
        &self.process
    }

    /// The revision that it is at.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn revision(&self) -> io::Result<i64> {
        let status = self.call("/v3/maintenance/status", &json!({}))?;
        let revision = status["header"]["revision"].as_str();
        revision
            .and_then(|revision| revision.parse().ok())
            .ok_or_else(|| io::Error::other(format!("no revision in {status}")))
    }

    /// Forgets the history up to now; returns the revision from which there still is one. Kubernetes' own compactor does this every five
    /// minutes.
    ///
    /// # Errors
    /// When it cannot.
    pub fn compact(&self) -> io::Result<i64> {
        let revision = self.revision()?;
        self.call(
            "/v3/kv/compaction",
            &json!({"revision": revision.to_string(), "physical": true}),
        )?;
        Ok(revision)
    }

    fn call(&self, path: &str, body: &Value) -> io::Result<Value> {
        Http::plain(self.address).send("POST", path, Some(body))?.json()
    }
}
