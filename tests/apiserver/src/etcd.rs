//! An etcd of one's own.

use std::{fs, io, net::SocketAddr, path::Path, time::Duration};

use serde_json::{Value, json};

use crate::{assets, http::Http, process::Leashed, wait};

/// How long a server may take to come up on a busy machine.
pub(crate) const START: Duration = Duration::from_secs(120);

/// A running etcd. Dropping it kills it.
#[derive(Debug)]
pub struct Etcd {
    process: Leashed,
    address: SocketAddr,
}

impl Etcd {
    /// Starts one in `folder`, on ports that the system picks. The folder is removed after its end, however that comes.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn start(folder: &Path) -> io::Result<Self> {
        let data = folder.join("etcd");
        fs::create_dir_all(&data)?;
        let arguments = [
            format!("--data-dir={}", data.display()),
            "--listen-client-urls=http://127.0.0.1:0".to_owned(),
            "--advertise-client-urls=http://127.0.0.1:0".to_owned(),
            "--listen-peer-urls=http://127.0.0.1:0".to_owned(),
            "--unsafe-no-fsync=true".to_owned(),
        ];
        let program = assets::folder()?.join("etcd");
        let process = Leashed::start(&program, &arguments, &folder.join("etcd.log"), Some(folder))?;
        let address = wait::block("etcd tells its address", START, || {
            let ended = process.has_ended();
            match address_of(&process.output()?) {
                None if ended => Err(io::Error::other(format!("etcd ended:\n{}", process.last_words()))),
                address => Ok(address),
            }
        })?;
        let http = Http::plain(address);
        wait::block("etcd is healthy", START, || {
            Ok(http
                .get("/health")
                .is_ok_and(|answer| answer.status == 200)
                .then_some(()))
        })?;
        Ok(Self { process, address })
    }

    /// Where its clients connect to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
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

/// The address that etcd logs once it listens.
fn address_of(log: &str) -> Option<SocketAddr> {
    let line = log.lines().find(|line| line.contains("serving client traffic"))?;
    serde_json::from_str::<Value>(line).ok()?["address"]
        .as_str()?
        .parse()
        .ok()
}
