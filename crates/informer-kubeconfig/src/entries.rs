//! What cluster and user entries mean: trust, client certificate, credentials. Contradictions are refused here.

use std::{fmt, sync::Arc};

use http::{HeaderName, HeaderValue, Uri};

use crate::{
    Environment, Error, Overrides,
    credentials::{Authorization, Credentials, TokenFile, bearer},
    document::{Cluster, User},
    field::{Field, Pem, PemKind},
    load::absolute,
    resolve::{Placed, given},
    server::{has_good_port, with_lower_scheme},
    tls::Trust,
};

/// An override of trust replaces everything that the entry says of it (client-go `DirectClientConfig.getCluster`).
pub(crate) fn trust(
    cluster: &Placed<Cluster>,
    environment: &dyn Environment,
    overrides: &Overrides,
) -> Result<Trust, Error> {
    let entry = &cluster.entry;
    let overridden = authority_override(environment, overrides)?;
    if let Some(trust) = overridden {
        return Ok(trust);
    }
    match (authority(cluster)?, entry.insecure_skip_tls_verify) {
        (Some(_), true) => Err(cluster
            .field("insecure-skip-tls-verify")
            .error("contradicts the certificate authority beside it; keep one")),
        (Some(pem), false) => Ok(Trust::Authority(pem)),
        (None, true) => Ok(Trust::Anybody),
        (None, false) => Ok(Trust::Platform),
    }
}

/// The proxy of a cluster's entry (client-go `tools/clientcmd/client_config.go`, `parseProxyURL`). Errors do not quote it: it may hold a
/// password.
pub(crate) fn proxy(cluster: &Placed<Cluster>, overrides: &Overrides) -> Result<Option<String>, Error> {
    let Some(url) = given(&cluster.entry.proxy_url) else {
        return Ok(None);
    };
    let field = cluster.field_or_override(given(&overrides.proxy_url).is_some(), "proxy-url");
    let refuse = |why: &str| field.error(why);
    let url = with_lower_scheme(&url);
    let uri: Uri = url.parse().map_err(|_| refuse("malformed"))?;
    let authority = uri.authority().ok_or_else(|| refuse("has no host"))?;
    if !has_good_port(authority) {
        return Err(refuse("its port is no number"));
    }
    match uri.scheme_str() {
        Some("http" | "https" | "socks5") => Ok(Some(url)),
        Some(other) => Err(refuse(&format!(
            "the scheme {other:?} is not supported; http, https and socks5 are"
        ))),
        None => Err(refuse("needs to begin with http://, https:// or socks5://")),
    }
}

/// The authority of a cluster's entry.
pub(crate) fn authority(cluster: &Placed<Cluster>) -> Result<Option<Pem>, Error> {
    Pem::of_fields(
        |name| cluster.field(name),
        "certificate-authority",
        cluster.entry.certificate_authority.as_deref(),
        cluster.entry.certificate_authority_data.as_deref(),
        PemKind::Certificates,
    )
}

/// What the overrides alone say about trust. A relative path is relative to the folder of now, wherever it is read again.
pub(crate) fn authority_override(
    environment: &dyn Environment,
    overrides: &Overrides,
) -> Result<Option<Trust>, Error> {
    let field = Field::other("the certificate authority of the overrides");
    match (
        &overrides.certificate_authority,
        overrides.insecure_skip_tls_verify,
    ) {
        (Some(_), true) => Err(field.error("contradicts that nobody is to be checked; keep one")),
        (Some(path), false) => Ok(Some(Trust::Authority(Pem::File {
            field,
            path: absolute(environment, path),
            kind: PemKind::Certificates,
        }))),
        (None, true) => Ok(Some(Trust::Anybody)),
        (None, false) => Ok(None),
    }
}

pub(crate) fn client_certificate(
    user: &Placed<User>,
    overrides: &Overrides,
) -> Result<Option<(Pem, Pem)>, Error> {
    let entry = &user.entry;
    let certificate = Pem::of_fields(
        |name| user.field_or_override(overrides.client_certificate.is_some(), name),
        "client-certificate",
        entry.client_certificate.as_deref(),
        entry.client_certificate_data.as_deref(),
        PemKind::Certificates,
    )?;
    // Upstream takes no notice of a key alone.
    let Some(certificate) = certificate else {
        return Ok(None);
    };
    let key = Pem::of_fields(
        |name| user.field_or_override(overrides.client_key.is_some(), name),
        "client-key",
        entry.client_key.as_deref(),
        entry.client_key_data.as_deref(),
        PemKind::PrivateKey,
    )?;
    match key {
        Some(key) => Ok(Some((certificate, key))),
        None => Err(user
            .field("client-key")
            .error("missing, and the client certificate is of no use without it")),
    }
}

/// Where credentials are for: the server's entry, and what of it is in effect.
pub(crate) struct At<'a> {
    pub(crate) cluster: &'a Placed<Cluster>,
    pub(crate) server: &'a str,
    pub(crate) trust: &'a Trust,
    pub(crate) server_name: Option<&'a str>,
}

/// How the user signs in there. `has_certificate`: a client certificate is configured, and then no plug-in is asked for one.
pub(crate) fn credentials(
    user: Option<&Placed<User>>,
    at: &At<'_>,
    has_certificate: bool,
    environment: &Arc<dyn Environment>,
    overrides: &Overrides,
) -> Result<Credentials, Error> {
    let impersonation = match user {
        Some(user) => impersonation(user, overrides)?,
        None => Vec::new(),
    };
    if given(&overrides.token).is_some()
        && (given(&overrides.username).is_some() || given(&overrides.password).is_some())
    {
        return Err(Field::other("username of the overrides").error("set together with a token; keep one"));
    }
    let authorization = match (given(&overrides.token), user) {
        (Some(token), _) => Authorization::bearer(&Field::other("the token of the overrides"), &token)?,
        (None, Some(user)) => match authorization(user, environment)? {
            Authorization::None => plugin(user, at, has_certificate, environment, overrides)?,
            written => written,
        },
        (None, None) => Authorization::None,
    };
    Ok(Credentials::new(authorization, impersonation))
}

fn authorization(user: &Placed<User>, environment: &Arc<dyn Environment>) -> Result<Authorization, Error> {
    let entry = &user.entry;
    if let Some(exec) = &entry.exec {
        let field = user.field("exec");
        if entry.auth_provider.is_some() {
            return Err(field.error("set together with auth-provider; keep one"));
        }
        exec.check(&field)?;
    }
    let token = given(&entry.token);
    let has_name = given(&entry.username).is_some();
    let has_basic = has_name || given(&entry.password).is_some();
    let token_file = given(&entry.token_file);
    if (has_basic && token.is_some()) || (has_name && token_file.is_some()) {
        // client-go `tools/clientcmd/validation.go`, `validateAuthInfo`, and `transport/round_trippers.go`, `HTTPWrappersForConfig`.
        let field = user.field(if token.is_some() { "token" } else { "tokenFile" });
        return Err(field.error("set together with username and password; keep one"));
    }
    if let Some(path) = token_file {
        // With both, the token of the file wins once it was read (client-go `NewBearerAuthWithRefreshRoundTripper`).
        let beside = token
            .map(|token| bearer(&user.field("token"), &token))
            .transpose()?;
        let file = TokenFile::new(
            Arc::clone(environment),
            user.field("tokenFile"),
            path.into(),
            beside,
        )?;
        return Ok(Authorization::TokenFile(file));
    }
    if let Some(token) = token {
        return Authorization::bearer(&user.field("token"), &token);
    }
    // A password of nobody signs nobody in.
    if let Some(name) = given(&entry.username) {
        let password = given(&entry.password).unwrap_or_default();
        return Ok(Authorization::basic(&name, &password));
    }
    Ok(Authorization::None)
}

/// What gives credentials where none are written down, or a client certificate (client-go `exec.UpdateTransportConfig`).
fn plugin(
    user: &Placed<User>,
    at: &At<'_>,
    has_certificate: bool,
    environment: &Arc<dyn Environment>,
    overrides: &Overrides,
) -> Result<Authorization, Error> {
    let entry = &user.entry;
    if let Some(exec) = &entry.exec {
        if has_certificate {
            return Ok(Authorization::None);
        }
        let plugin = exec.plugin(&user.field("exec"), at, environment, overrides)?;
        return Ok(Authorization::Exec(plugin));
    }
    if let Some(provider) = &entry.auth_provider {
        let name = provider.name.as_deref().unwrap_or_default();
        return Err(user
            .field("auth-provider")
            .error(format_args!("the provider {name:?} is not supported")));
    }
    Ok(Authorization::None)
}

pub(crate) fn impersonation(
    user: &Placed<User>,
    overrides: &Overrides,
) -> Result<Vec<(HeaderName, HeaderValue)>, Error> {
    let entry = &user.entry;
    let place = |field: &str| {
        let is_overridden = match field {
            "as" => given(&overrides.impersonate).is_some(),
            "as-uid" => given(&overrides.impersonate_uid).is_some(),
            "as-groups" => !overrides.impersonate_groups.is_empty(),
            _ => !overrides.impersonate_extra.is_empty(),
        };
        user.field_or_override(is_overridden, field)
    };
    let value = |field: &str, text: &str| {
        HeaderValue::from_str(text).map_err(|_| place(field).error("holds characters that a header cannot"))
    };
    let (groups, extra) = (
        entry.as_groups.as_deref().unwrap_or_default(),
        entry.as_user_extra.iter().flatten(),
    );
    let Some(name) = given(&entry.impersonate) else {
        if given(&entry.as_uid).is_some() || !groups.is_empty() || extra.count() > 0 {
            return Err(user
                .field("as")
                .error("missing, and needed by the other as-* fields"));
        }
        return Ok(Vec::new());
    };
    let mut headers = vec![(HeaderName::from_static("impersonate-user"), value("as", &name)?)];
    if let Some(uid) = given(&entry.as_uid) {
        headers.push((HeaderName::from_static("impersonate-uid"), value("as-uid", &uid)?));
    }
    for group in groups {
        headers.push((
            HeaderName::from_static("impersonate-group"),
            value("as-groups", group)?,
        ));
    }
    for (key, values) in extra {
        let header = HeaderName::from_bytes(extra_header(key).as_bytes())
            .map_err(|_| place("as-user-extra").error(format_args!("{key:?} cannot be a header's name")))?;
        for text in values {
            headers.push((header.clone(), value("as-user-extra", text)?));
        }
    }
    Ok(headers)
}

/// The header of an extra key: what a header's name cannot hold is percent-encoded, and `%` itself, too.
fn extra_header(key: &str) -> String {
    use fmt::Write;
    let mut header = "impersonate-extra-".to_owned();
    for byte in key.bytes() {
        if byte.is_ascii_alphanumeric() || b"!#$&'*+-.^_`|~".contains(&byte) {
            header.push(char::from(byte));
        } else {
            write!(header, "%{byte:02X}").expect("writing to a string cannot fail");
        }
    }
    header
}
