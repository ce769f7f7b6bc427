//! `Config`: what a client needs to know, with everything decided.

use std::{fmt, path::Path, sync::Arc, time::Duration};

use informer_transport::{Authorize, Endpoint, TlsSource};

use crate::{
    Environment, Error, Kubeconfig, Overrides, ProcessEnvironment,
    credentials::Credentials,
    entries::{At, client_certificate, credentials, proxy, trust},
    field::Field,
    in_cluster,
    load::{self, Found},
    resolve::{self, given},
    server,
    tls::{Certificates, Trust},
};

/// A usable configuration: server, namespace, credentials and certificates.
#[derive(Clone)]
pub struct Config {
    pub(crate) server: String,
    pub(crate) namespace: String,
    pub(crate) context: Option<String>,
    pub(crate) origin: String,
    pub(crate) credentials: Arc<Credentials>,
    pub(crate) certificates: Arc<Certificates>,
    pub(crate) proxy: Option<String>,
    pub(crate) accepts_compression: bool,
    pub(crate) request_timeout: Option<Duration>,
}

impl Config {
    /// Finds the configuration of the process: the explicit file, else the files of `KUBECONFIG`, else `~/.kube/config`, else the service
    /// account of the pod that this runs in. `None` when there is none of them.
    ///
    /// # Errors
    /// When one exists, or is asked for by the overrides, and cannot be used.
    pub fn find(overrides: &Overrides) -> Result<Option<Self>, Error> {
        let environment: Arc<dyn Environment> = Arc::new(ProcessEnvironment);
        Self::find_in(environment, overrides)
    }

    /// The same with another environment.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub fn find_in(environment: Arc<dyn Environment>, overrides: &Overrides) -> Result<Option<Self>, Error> {
        let found = load::find(&*environment, overrides)?;
        let files = match &found {
            Found::Files(files) => files.clone(),
            Found::AllMissing(_) | Found::Nothing => Kubeconfig::default(),
        };
        if !resolve::is_empty(&files, overrides) {
            return Self::from_kubeconfig(&files, environment, overrides).map(Some);
        }
        // Nothing says where to connect. In a pod the pod's own account does (client-go `DeferredLoadingClientConfig.ClientConfig`), but
        // not in place of a file that somebody passed by name.
        if overrides.kubeconfig.is_none() && in_cluster::is_possible(&*environment, in_cluster::FOLDER) {
            return Self::in_cluster_in(environment, overrides, Path::new(in_cluster::FOLDER)).map(Some);
        }
        match found {
            Found::Files(files) => Err(Error::new(format!("{}: no current-context", files.described()))),
            Found::AllMissing(paths) if paths.is_empty() => Err(Error::new("KUBECONFIG names no file")),
            Found::AllMissing(paths) => {
                let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
                Err(Error::new(format!(
                    "no file of KUBECONFIG exists: {}",
                    paths.join(", ")
                )))
            }
            Found::Nothing => Ok(None),
        }
    }

    /// The service account of the pod that this runs in.
    ///
    /// # Errors
    /// When this is no pod with an account, or the account's files cannot be used.
    pub fn in_cluster(overrides: &Overrides) -> Result<Self, Error> {
        let environment: Arc<dyn Environment> = Arc::new(ProcessEnvironment);
        Self::in_cluster_in(environment, overrides, Path::new(in_cluster::FOLDER))
    }

    /// The same with another environment, and another folder for the account's files.
    ///
    /// # Errors
    /// As [`in_cluster`](Self::in_cluster).
    pub fn in_cluster_in(
        environment: Arc<dyn Environment>,
        overrides: &Overrides,
        folder: &Path,
    ) -> Result<Self, Error> {
        in_cluster::config(&environment, overrides, folder)
    }

    /// The configuration that files make together with overrides.
    ///
    /// # Errors
    /// When they do not: the error names file, entry and field.
    pub fn from_kubeconfig(
        kubeconfig: &Kubeconfig,
        environment: Arc<dyn Environment>,
        overrides: &Overrides,
    ) -> Result<Self, Error> {
        let selected = resolve::select(kubeconfig, &*environment, overrides)?;
        let cluster = &selected.cluster;
        let user = selected.user.as_ref();
        let client = match user {
            Some(user) => client_certificate(user, overrides)?,
            None => None,
        };
        let has_certificate = client.is_some();
        let trust = trust(cluster, &*environment, overrides)?;
        let uses_tls = client.is_some() || !matches!(trust, Trust::Platform);
        let server = match (given(&overrides.server), given(&cluster.entry.server)) {
            (Some(server), _) => {
                server::url(&Field::other("the server of the overrides"), &server, uses_tls)?
            }
            (None, Some(server)) => server::url(&cluster.field("server"), &server, uses_tls)?,
            (None, None) => return Err(cluster.field("server").error("missing")),
        };
        let server_name = given(&overrides.tls_server_name).or_else(|| {
            // A server from elsewhere has another name, too.
            overrides
                .server
                .is_none()
                .then(|| given(&cluster.entry.tls_server_name))
                .flatten()
        });
        let at = At {
            cluster,
            server: &server,
            trust: &trust,
            server_name: server_name.as_deref(),
        };
        let credentials = credentials(user, &at, has_certificate, &environment, overrides)?;
        let certificates = if server.starts_with("http://") {
            // Plain HTTP uses no certificates; upstream does not read their files then either.
            Certificates::new(Arc::clone(&environment), Trust::Platform, None, None)?
        } else {
            Certificates::new(Arc::clone(&environment), trust, client, server_name.as_deref())?
        };
        let origin = match &selected.context {
            Some(context) => format!("context {context:?} of {}", kubeconfig.described()),
            None => "overrides".to_owned(),
        };
        Ok(Self {
            server,
            namespace: given(&overrides.namespace)
                .or(selected.namespace)
                .unwrap_or_else(|| "default".to_owned()),
            context: selected.context,
            origin,
            certificates: Arc::new(certificates.with_plugin(credentials.plugin())),
            credentials: Arc::new(credentials),
            proxy: proxy(cluster, overrides)?,
            accepts_compression: !cluster.entry.disable_compression,
            request_timeout: request_timeout(overrides),
        })
    }

    /// The URL of the server, with its path prefix.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The namespace to work in where none is named: that of the overrides, else of the context, else `default`.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name of the context, where there is one.
    #[must_use]
    pub fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    /// Where this comes from, as words for a sentence: `context "dev" of /home/ada/.kube/config`.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// What signs requests in.
    #[must_use]
    pub fn authorizer(&self) -> Arc<dyn Authorize> {
        self.credentials.clone()
    }

    /// What connections are checked and signed with.
    #[must_use]
    pub fn tls(&self) -> Arc<dyn TlsSource> {
        self.certificates.clone()
    }

    /// The proxy that everything goes through (`proxy-url`), as a URL of scheme `http`, `https` or `socks5`, which may hold a password. `None`
    /// leaves it to the variables `HTTPS_PROXY` and its like.
    #[must_use]
    pub fn proxy(&self) -> Option<&str> {
        self.proxy.as_deref()
    }

    /// Whether responses may be compressed (`disable-compression`).
    #[must_use]
    pub fn accepts_compression(&self) -> bool {
        self.accepts_compression
    }

    /// How long a response may be waited for, where the overrides say so (`--request-timeout`); no file can. client-go ends watches by it, too:
    /// here it is a limit for the head of a response, and a watch has none.
    #[must_use]
    pub fn request_timeout(&self) -> Option<Duration> {
        self.request_timeout
    }
}

impl Endpoint for Config {
    fn server(&self) -> &str {
        Self::server(self)
    }

    fn authorizer(&self) -> Arc<dyn Authorize> {
        Self::authorizer(self)
    }

    fn tls(&self) -> Arc<dyn TlsSource> {
        Self::tls(self)
    }

    fn proxy(&self) -> Option<&str> {
        Self::proxy(self)
    }

    fn accepts_compression(&self) -> bool {
        Self::accepts_compression(self)
    }

    fn request_timeout(&self) -> Option<Duration> {
        Self::request_timeout(self)
    }
}

/// Zero says the same as nothing (client-go `tools/clientcmd/helpers.go`, `ParseTimeout`).
pub(crate) fn request_timeout(overrides: &Overrides) -> Option<Duration> {
    overrides.request_timeout.filter(|timeout| !timeout.is_zero())
}

/// Leaves out credentials and certificates.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("server", &self.server)
            .field("namespace", &self.namespace)
            .field("context", &self.context)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}
