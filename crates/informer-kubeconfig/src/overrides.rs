//! `Overrides`: what a command line says over the files.

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc, time::Duration};

use crate::{ExecPolicy, PluginMetrics, description::without_password};

/// What counts more than any file: the flags of kubectl, with the precedence that they have there (client-go
/// `tools/clientcmd/overrides.go`). Everything that is `None`, or empty, is left as the files say.
///
/// ```
/// use informer_kubeconfig::Overrides;
///
/// let overrides = Overrides::new().context("dev").impersonate("ada").impersonate_groups(["readers"]);
/// assert_eq!(overrides.context.as_deref(), Some("dev"));
/// ```
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
    /// The name to sign in with (`--username`). It takes the place of the file's alone: beside a token of the file it is one way to sign in too
    /// many, and refused.
    pub username: Option<String>,
    /// The password to sign in with (`--password`).
    pub password: Option<String>,
    /// The client certificate (`--client-certificate`), instead of the one of the user's entry. A relative path is relative to the folder of
    /// now. The key stays that of the entry unless it is given, too.
    pub client_certificate: Option<PathBuf>,
    /// The key of the client certificate (`--client-key`), instead of the one of the user's entry.
    pub client_key: Option<PathBuf>,
    /// The user to act as (`--as`). It counts in a pod as well, where clientcmd would take no notice of it.
    pub impersonate: Option<String>,
    /// The uid of the user to act as (`--as-uid`).
    pub impersonate_uid: Option<String>,
    /// The groups of the user to act as (`--as-group`), all of them: those of the entry do not count then.
    pub impersonate_groups: Vec<String>,
    /// More about the user to act as (`--as-user-extra`), key by key over what the entry says.
    pub impersonate_extra: BTreeMap<String, Vec<String>>,
    /// Whom to trust (`--certificate-authority`), instead of everything that the cluster's entry says about trust.
    pub certificate_authority: Option<PathBuf>,
    /// Trust anybody (`--insecure-skip-tls-verify`), instead of everything that the cluster's entry says about trust.
    pub insecure_skip_tls_verify: bool,
    /// The name to check the server's certificate for (`--tls-server-name`).
    pub tls_server_name: Option<String>,
    /// The proxy that everything goes through (`--proxy-url`), which may hold a password.
    pub proxy_url: Option<String>,
    /// Ask for no compression (`--disable-compression`). `false` leaves it to the cluster's entry.
    pub disable_compression: bool,
    /// How long a response may be waited for (`--request-timeout`); zero for as long as it takes. See
    /// [`Config::request_timeout`](crate::Config::request_timeout).
    pub request_timeout: Option<Duration>,
    /// Which exec plug-ins may run; all by default, as with kubectl.
    pub exec_policy: ExecPolicy,
    /// How long an exec plug-in may run. By default a minute, and without end where it talks with a person.
    pub exec_timeout: Option<Duration>,
    /// Who is told of the runs of exec plug-ins.
    pub exec_metrics: Option<Arc<dyn PluginMetrics>>,
}

/// Writes one function for each field that is given as it is.
macro_rules! given {
    ($($field:ident: $type:ty => $value:expr;)*) => {
        $(
            #[doc = concat!("Sets [`", stringify!($field), "`](field@Self::", stringify!($field), ").")]
            #[must_use]
            pub fn $field(mut self, $field: impl Into<$type>) -> Self {
                let given = $field.into();
                self.$field = $value(given);
                self
            }
        )*
    };
}

impl Overrides {
    /// Nothing is overridden.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    given! {
        kubeconfig: PathBuf => Some;
        context: String => Some;
        cluster: String => Some;
        user: String => Some;
        namespace: String => Some;
        server: String => Some;
        token: String => Some;
        username: String => Some;
        password: String => Some;
        client_certificate: PathBuf => Some;
        client_key: PathBuf => Some;
        impersonate: String => Some;
        impersonate_uid: String => Some;
        certificate_authority: PathBuf => Some;
        insecure_skip_tls_verify: bool => std::convert::identity;
        tls_server_name: String => Some;
        proxy_url: String => Some;
        disable_compression: bool => std::convert::identity;
        request_timeout: Duration => Some;
        exec_policy: ExecPolicy => std::convert::identity;
        exec_timeout: Duration => Some;
        exec_metrics: Arc<dyn PluginMetrics> => Some;
    }

    /// Sets [`impersonate_groups`](field@Self::impersonate_groups).
    #[must_use]
    pub fn impersonate_groups(mut self, groups: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.impersonate_groups = groups.into_iter().map(Into::into).collect();
        self
    }

    /// Adds a value to a key of [`impersonate_extra`](field@Self::impersonate_extra).
    #[must_use]
    pub fn impersonate_extra(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.impersonate_extra
            .entry(key.into())
            .or_default()
            .push(value.into());
        self
    }
}

/// Leaves out what somebody signs in with.
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
            .field("client_certificate", &self.client_certificate)
            .field("client_key", &self.client_key)
            .field("impersonate", &self.impersonate)
            .field("proxy_url", &self.proxy_url.as_deref().map(without_password))
            .field("disable_compression", &self.disable_compression)
            .field("request_timeout", &self.request_timeout)
            .field("exec_policy", &self.exec_policy)
            .field("exec_timeout", &self.exec_timeout)
            .finish_non_exhaustive()
    }
}
