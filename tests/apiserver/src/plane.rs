//! One etcd and one kube-apiserver.

use std::{
    fs, io,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;

use crate::{
    assets,
    certificates::Certificates,
    etcd::{Etcd, START},
    http::Http,
    kubeconfig::{self, ADMIN_TOKEN, Login},
    ports,
    process::Leashed,
    wait,
};

/// What can be chosen about a control plane.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Further arguments of kube-apiserver.
    pub arguments: Vec<String>,
    /// Where kube-apiserver reaches its etcd, unless directly: a relay.
    pub etcd_through: Option<SocketAddr>,
}

/// A control plane. Dropping it kills kube-apiserver, then etcd (unless another kube-apiserver [beside](Self::beside) it still needs that),
/// and removes its files; so does the end of the process.
#[derive(Debug)]
pub struct ControlPlane {
    // In the order in which they are dropped.
    apiserver: Mutex<Option<Leashed>>,
    etcd: Arc<Etcd>,
    certificates: Arc<Certificates>,
    address: SocketAddr,
    http: Http,
    options: Mutex<Options>,
}

impl ControlPlane {
    /// Starts one and waits until it is ready.
    ///
    /// # Errors
    /// When it does not come up: with what the servers said last.
    pub fn start(options: Options) -> io::Result<Self> {
        let etcd = Etcd::start()?;
        let certificates = Certificates::write(etcd.folder())?;
        fs::write(etcd.folder().join("tokens.csv"), kubeconfig::token_file())?;
        Self::start_on(Arc::new(etcd), Arc::new(certificates), options)
    }

    /// Starts one more kube-apiserver on the same etcd, with the same certificates and users, and waits until it is ready.
    ///
    /// # Errors
    /// When it does not come up: with what it said last.
    pub fn beside(&self, options: Options) -> io::Result<Self> {
        Self::start_on(self.etcd.clone(), self.certificates.clone(), options)
    }

    fn start_on(etcd: Arc<Etcd>, certificates: Arc<Certificates>, options: Options) -> io::Result<Self> {
        let address = etcd.address();
        let mut plane = Self {
            apiserver: Mutex::new(None),
            http: Http::secure(address, &certificates.serving_ca, ADMIN_TOKEN)?,
            etcd,
            certificates,
            // Not yet its own.
            address,
            options: Mutex::new(options),
        };
        ports::start(|address| {
            plane.address = address;
            plane.http = Http::secure(address, &plane.certificates.serving_ca, ADMIN_TOKEN)?;
            plane.start_apiserver()
        })?;
        Ok(plane)
    }

    /// Where kube-apiserver listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its etcd.
    #[must_use]
    pub fn etcd(&self) -> &Etcd {
        &self.etcd
    }

    /// The process ids of its servers that run: kube-apiserver's, then etcd's.
    #[must_use]
    pub fn pids(&self) -> Vec<u32> {
        let apiserver = self.apiserver().as_ref().map(Leashed::pid);
        apiserver.into_iter().chain([self.etcd.process().pid()]).collect()
    }

    /// The plainest client, signed in as the admin.
    #[must_use]
    pub fn http(&self) -> &Http {
        &self.http
    }

    /// Writes a kubeconfig file that signs in this way, and returns its path. The server is reached at `through`, where that is given.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn kubeconfig(&self, login: Login, through: Option<SocketAddr>) -> io::Result<PathBuf> {
        let address = through.unwrap_or(self.address);
        let path = self
            .etcd
            .folder()
            .join(format!("{login:?}-{}.kubeconfig", address.port()));
        let document = kubeconfig::document(address, &self.certificates.serving_ca, login, || {
            self.certificates.client("admin", "system:masters")
        })?;
        fs::write(&path, document.to_string())?;
        Ok(path)
    }

    /// All objects of a collection such as `/api/v1/namespaces/default/configmaps`, in one list and read from etcd.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn items(&self, path: &str) -> io::Result<Vec<Value>> {
        let mut list = self.http.get(path)?.json()?;
        match list["items"].take() {
            Value::Array(items) => Ok(items),
            _ => Err(io::Error::other(format!("{path} has no items"))),
        }
    }

    /// Kills kube-apiserver by signal 9, and waits for its end.
    pub fn kill_apiserver(&self) {
        drop(self.apiserver().take());
    }

    /// What kube-apiserver is given besides from its next start on.
    pub fn set_arguments(&self, arguments: Vec<String>) {
        self.options().arguments = arguments;
    }

    /// Starts kube-apiserver, again at the same address, and waits until it is ready.
    ///
    /// # Errors
    /// When it does not come up; of kind `AddrInUse` when somebody else has its port.
    pub fn start_apiserver(&self) -> io::Result<()> {
        let program = assets::folder()?.join("kube-apiserver");
        let log = format!("kube-apiserver-{}.log", self.address.port());
        let log = self.etcd.folder().join(log);
        let process = Leashed::start(&program, &self.arguments(), &log, None)?;
        wait::block("kube-apiserver is ready", START, || {
            if process.has_ended() {
                return Err(ports::end_of("kube-apiserver", &process));
            }
            Ok(self.is_ready().then_some(()))
        })?;
        *self.apiserver() = Some(process);
        Ok(())
    }

    /// Asks kube-apiserver to end, as an upgrade does, and waits for its end.
    ///
    /// # Errors
    /// When it does not.
    pub fn end_apiserver(&self) -> io::Result<()> {
        let Some(process) = self.apiserver().take() else {
            return Ok(());
        };
        process.signal("TERM")?;
        wait::block("kube-apiserver ends", START, || {
            Ok(process.has_ended().then_some(()))
        })
    }

    /// Ready by its own word, and with the namespace that it makes last. Only the right server can say so: it must show a certificate of
    /// this plane's authority.
    fn is_ready(&self) -> bool {
        ["/readyz", "/api/v1/namespaces/default"]
            .iter()
            .all(|path| self.http.get(path).is_ok_and(|answer| answer.status == 200))
    }

    fn arguments(&self) -> Vec<String> {
        let folder = self.etcd.folder().display();
        let port = self.address.port();
        let options = self.options();
        let etcd = options.etcd_through.unwrap_or_else(|| self.etcd.address());
        let mut arguments = vec![
            "--advertise-address=127.0.0.1".to_owned(),
            "--allow-privileged=true".to_owned(),
            "--authorization-mode=RBAC".to_owned(),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--cert-dir={folder}"),
            format!("--client-ca-file={folder}/client-cert-auth-ca.crt"),
            "--disable-admission-plugins=ServiceAccount".to_owned(),
            // The address for the `kubernetes` service may not be one of loopback.
            "--endpoint-reconciler-type=none".to_owned(),
            format!("--etcd-servers=http://{etcd}"),
            format!("--secure-port={port}"),
            format!("--service-account-issuer=https://127.0.0.1:{port}/"),
            format!("--service-account-key-file={folder}/sa-signer.crt"),
            format!("--service-account-signing-key-file={folder}/sa-signer.key"),
            "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
            format!("--token-auth-file={folder}/tokens.csv"),
        ];
        arguments.extend(options.arguments.iter().cloned());
        arguments
    }

    fn options(&self) -> MutexGuard<'_, Options> {
        self.options.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn apiserver(&self) -> MutexGuard<'_, Option<Leashed>> {
        self.apiserver.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
