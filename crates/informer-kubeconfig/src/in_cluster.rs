//! The configuration of a pod: variables of the kubelet, and the files of the pod's service account.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    Config, Environment, Error, Overrides,
    config::request_timeout,
    credentials::{Authorization, Credentials, TokenFile},
    entries::{authority_override, client_certificate, impersonation, proxy},
    field::{Field, Pem, PemKind},
    resolve::{self, given},
    server,
    tls::{Certificates, Trust},
};

/// Where the kubelet puts the account's files.
pub(crate) const FOLDER: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Whether this looks like a pod with an account (client-go `tools/clientcmd/client_config.go`, `inClusterClientConfig.Possible`).
pub(crate) fn is_possible(environment: &dyn Environment, folder: &str) -> bool {
    let token = environment.read(&Path::new(folder).join("token"));
    address(environment).is_some() && !token.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// The pod's configuration (client-go `rest/config.go`, `InClusterConfig`).
pub(crate) fn config(
    environment: &Arc<dyn Environment>,
    overrides: &Overrides,
    folder: &Path,
) -> Result<Config, Error> {
    let own = address(&**environment).ok_or_else(|| {
        Error::new("not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set")
    })?;
    let server = match given(&overrides.server) {
        Some(server) => server::url(&Field::other("the server of the overrides"), &server, true)?,
        None => server::url(
            &Field::other("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT"),
            &own,
            true,
        )?,
    };
    // clientcmd takes no notice here of what stands in neither server, token nor authority: who is to act as somebody else would act as the
    // pod. What it would refuse beside the pod's token replaces that.
    let user = resolve::overridden_user(None, &**environment, overrides);
    let (impersonation, client) = match &user {
        Some(user) => (
            impersonation(user, overrides)?,
            client_certificate(user, overrides)?,
        ),
        None => (Vec::new(), None),
    };
    let authorization = match (given(&overrides.token), given(&overrides.username)) {
        (Some(_), Some(_)) => {
            return Err(
                Field::other("username of the overrides").error("set together with a token; keep one")
            );
        }
        (Some(token), None) => Authorization::bearer(&Field::other("the token of the overrides"), &token)?,
        (None, Some(name)) => Authorization::basic(&name, &given(&overrides.password).unwrap_or_default()),
        (None, None) => Authorization::TokenFile(TokenFile::new(
            Arc::clone(environment),
            Field::other("the service account of this pod"),
            folder.join("token"),
            None,
        )?),
    };
    let trust = match authority_override(&**environment, overrides)? {
        Some(trust) => trust,
        None => trust(&**environment, folder.join("ca.crt")),
    };
    let server_name = overrides.tls_server_name.as_deref();
    Ok(Config {
        server,
        namespace: namespace(&**environment, overrides, folder),
        context: None,
        origin: "the service account of this pod".to_owned(),
        credentials: Arc::new(Credentials::new(authorization, impersonation)),
        certificates: Arc::new(Certificates::new(
            Arc::clone(environment),
            trust,
            client,
            server_name,
        )?),
        proxy: proxy(&resolve::overridden_cluster(overrides), overrides)?,
        accepts_compression: !overrides.disable_compression,
        request_timeout: request_timeout(overrides),
    })
}

/// `https://host:port`, an IPv6 address in brackets.
fn address(environment: &dyn Environment) -> Option<String> {
    let variable = |name| {
        environment
            .var(name)?
            .into_string()
            .ok()
            .filter(|value| !value.is_empty())
    };
    let (host, port) = (
        variable("KUBERNETES_SERVICE_HOST")?,
        variable("KUBERNETES_SERVICE_PORT")?,
    );
    if host.contains(':') && !host.starts_with('[') {
        return Some(format!("https://[{host}]:{port}"));
    }
    Some(format!("https://{host}:{port}"))
}

/// The cluster's own authority. Where the file is not there at all the platform's are tried, as upstream does.
fn trust(environment: &dyn Environment, path: PathBuf) -> Trust {
    if environment
        .read(&path)
        .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    {
        tracing::warn!(path = %path.display(), "No authority beside the service account, trusting those of the platform");
        return Trust::Platform;
    }
    Trust::Authority(Pem::File {
        field: Field::other("the service account of this pod"),
        path,
        kind: PemKind::Certificates,
    })
}

/// The override's, else `POD_NAMESPACE`, else that of the account, else `default` (client-go `inClusterClientConfig.Namespace`).
fn namespace(environment: &dyn Environment, overrides: &Overrides, folder: &Path) -> String {
    let of_variable = || environment.var("POD_NAMESPACE")?.into_string().ok();
    let of_account = || String::from_utf8(environment.read(&folder.join("namespace")).ok()?).ok();
    given(&overrides.namespace)
        .or_else(of_variable)
        .filter(|name| !name.is_empty())
        .or_else(of_account)
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "default".to_owned())
}
