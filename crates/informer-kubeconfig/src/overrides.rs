//! `Overrides`: what a command line says over the files.

use std::{fmt, path::PathBuf, time::Duration};

use crate::{ExecPolicy, description::without_password};

/// What counts more than any file. Everything that is `None` is left as the files say.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Overrides {
    /// The one file to read, instead of `KUBECONFIG` and `~/.kube/config` (`--kubeconfig`). It must exist.
    pub kubeconfig: Option<PathBuf>,
    /// The context to use instead of the current one (`--context`). It must exist.
    pub context: Option<String>,
    /// The cluster to use instead of the context's (`--cluster`). It must exist.
    pub cluster: Option<String>,
    /// The user to use instead of the context's (`--user`). It must exist.
    pub user: Option<String>,
    /// The namespace instead of the context's (`--namespace`).
    pub namespace: Option<String>,
    /// The server's URL (`--server`). The name for TLS is then not that of the file either.
    pub server: Option<String>,
    /// The bearer token (`--token`), instead of all other ways to sign in with a header.
    pub token: Option<String>,
    /// Whom to trust (`--certificate-authority`), instead of everything that the cluster's entry says about trust.
    pub certificate_authority: Option<PathBuf>,
    /// Trust anybody (`--insecure-skip-tls-verify`), instead of everything that the cluster's entry says about trust.
    pub insecure_skip_tls_verify: bool,
    /// The name to check the server's certificate for (`--tls-server-name`).
    pub tls_server_name: Option<String>,
    /// Which exec plug-ins may run; all by default, as with kubectl.
    pub exec_policy: ExecPolicy,
    /// How long an exec plug-in may run. By default a minute, and without end where it talks with a person.
    pub exec_timeout: Option<Duration>,
}

/// Leaves out the token.
impl fmt::Debug for Overrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overrides")
            .field("kubeconfig", &self.kubeconfig)
            .field("context", &self.context)
            .field("cluster", &self.cluster)
            .field("user", &self.user)
            .field("namespace", &self.namespace)
            .field("server", &self.server.as_deref().map(without_password))
            .field("certificate_authority", &self.certificate_authority)
            .field("insecure_skip_tls_verify", &self.insecure_skip_tls_verify)
            .field("tls_server_name", &self.tls_server_name)
            .field("exec_policy", &self.exec_policy)
            .field("exec_timeout", &self.exec_timeout)
            .finish_non_exhaustive()
    }
}
