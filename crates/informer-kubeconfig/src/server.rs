//! The URL of a server, as files and command lines write it: checked where it is read, so that an error can name the field.

use http::Uri;

use crate::{Error, field::Field};

/// The URL with a scheme, and without what stands behind its path. Errors do not quote it: it may hold a password.
///
/// A server without a scheme is HTTPS when anything else speaks of TLS, else HTTP; it is a host then, and has no path (client-go
/// `rest/url_utils.go`, `DefaultServerURL`).
pub(crate) fn url(field: &Field, stated: &str, uses_tls: bool) -> Result<String, Error> {
    let refuse = |why: &str| field.error(why);
    let whole = match stated.contains("://") {
        true => with_lower_scheme(stated),
        false if stated.trim_end_matches('/').contains('/') => {
            return Err(refuse(
                "has a path, and needs to begin with https:// or http:// then",
            ));
        }
        false => format!("{}://{stated}", if uses_tls { "https" } else { "http" }),
    };
    let url = whole.split(['?', '#']).next().unwrap_or_default();
    let uri: Uri = url.parse().map_err(|_| refuse("is no URL"))?;
    match uri.scheme_str() {
        Some("https" | "http") => {}
        _ => return Err(refuse("needs to begin with https:// or http://")),
    }
    let authority = uri.authority().ok_or_else(|| refuse("has no host"))?;
    if authority.as_str().contains('@') {
        return Err(refuse(
            "holds a user name or password, which belong into the user's entry",
        ));
    }
    if authority.host().trim_matches(['[', ']']).is_empty() {
        return Err(refuse("has no host"));
    }
    if !has_good_port(authority) {
        return Err(refuse("its port is no number"));
    }
    // A colon without a port says nothing.
    let host = authority.as_str();
    Ok(match host.strip_suffix(':') {
        Some(without) => url.replacen(host, without, 1),
        None => url.to_owned(),
    })
}

/// The URL with a scheme in small letters, as all of them are compared.
pub(crate) fn with_lower_scheme(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => format!("{}://{rest}", scheme.to_ascii_lowercase()),
        None => url.to_owned(),
    }
}

/// Whether what stands behind the last colon that is not of an IPv6 address is a port, if there is one.
pub(crate) fn has_good_port(authority: &http::uri::Authority) -> bool {
    let behind_host = authority.as_str().rsplit(['@', ']']).next();
    let port = behind_host.and_then(|rest| rest.split_once(':'));
    port.is_none_or(|(_, port)| port.is_empty() || authority.port_u16().is_some())
}
