//! TLS: from PEM texts to a rustls configuration, made anew when they change.

mod anybody;

use std::{
    borrow::Cow,
    io,
    sync::{Arc, Mutex, PoisonError},
};

use http::Uri;
use informer_transport::{ClientCertificate, Roots, TlsMaterial, TlsSource};
use rustls::{CertificateError, ClientConfig, RootCertStore, crypto::CryptoProvider};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

use crate::{Error, HttpVersion, error::Kind, server::Server};

/// A configuration of one generation.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) server_name: Option<Arc<str>>,
    pub(crate) generation: u64,
}

/// Gives the configuration of the moment.
pub(crate) struct Tls {
    source: Arc<dyn TlsSource>,
    url: Box<str>,
    alpn: Vec<Vec<u8>>,
    state: Mutex<Option<State>>,
}

struct State {
    ready: Ready,
    /// The generation that was made last, or tried.
    tried: u64,
}

impl Tls {
    pub(crate) fn new(source: Arc<dyn TlsSource>, server: &Server, version: HttpVersion) -> Self {
        let (http1, http2) = (b"http/1.1".to_vec(), b"h2".to_vec());
        Self {
            source,
            url: server.url().into(),
            alpn: match version {
                HttpVersion::Auto => vec![http2, http1],
                HttpVersion::Http1 => vec![http1],
                HttpVersion::Http2 => vec![http2],
            },
            state: Mutex::new(None),
        }
    }

    /// The configuration now, after what takes a while to read was read where it holds nobody up.
    pub(crate) async fn refreshed(&self) -> Result<Ready, Error> {
        if let Some(refresh) = self.source.refresh() {
            refresh.await;
        }
        self.current()
    }

    /// The configuration now. One that cannot be made keeps the last good one in use.
    pub(crate) fn current(&self) -> Result<Ready, Error> {
        // First the lock, then the material: otherwise one who was slow to come back with older material would put it over newer.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let material = self.source.current().map_err(|cause| {
            Error::new(Kind::Credentials, format!("no certificates for {}", self.url)).caused_by(cause)
        })?;
        match &mut *state {
            Some(state) if state.tried == material.generation => Ok(state.ready.clone()),
            Some(state) => {
                state.tried = material.generation;
                match self.make(&material) {
                    Ok(ready) => state.ready = ready,
                    Err(error) => tracing::warn!(
                        error = %error,
                        cause = std::error::Error::source(&error),
                        "Changed certificates cannot be used, the last good ones stay in use"
                    ),
                }
                Ok(state.ready.clone())
            }
            none => {
                let ready = self.make(&material)?;
                *none = Some(State {
                    ready: ready.clone(),
                    tried: material.generation,
                });
                Ok(ready)
            }
        }
    }

    fn make(&self, material: &TlsMaterial) -> Result<Ready, Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let refuse = |problem: &str| Error::configuration(format!("TLS for {}: {problem}", self.url));
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|cause| refuse("no protocol version in common").caused_by(cause))?;
        let builder = match &material.roots {
            Roots::Platform => builder.with_root_certificates(platform_roots().map_err(|cause| {
                refuse("no certificate authority is configured, and the platform has none").caused_by(cause)
            })?),
            Roots::Pem(pem) => builder.with_root_certificates(
                roots(pem).ok_or_else(|| refuse("the certificate authority holds no usable certificate"))?,
            ),
            Roots::Insecure => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(anybody::Anybody::new(&provider))),
        };
        let mut config = match &material.client {
            None => builder.with_no_client_auth(),
            Some(client) => {
                let (chain, key) = identity(client, &provider).map_err(|problem| refuse(&problem))?;
                builder.with_client_auth_cert(chain, key).map_err(|cause| {
                    refuse("the client certificate and its key cannot be used").caused_by(cause)
                })?
            }
        };
        config.alpn_protocols.clone_from(&self.alpn);
        Ok(Ready {
            config: Arc::new(config),
            server_name: material.server_name.clone(),
            generation: material.generation,
        })
    }
}

/// What a proxy is checked with: what the server is, or the platform's authorities where the server has no TLS.
pub(crate) fn for_proxy(server: Option<&Ready>, proxy: &Uri) -> Result<Arc<ClientConfig>, Error> {
    let mut config = match server {
        Some(ready) => (*ready.config).clone(),
        None => {
            let tls = Tls {
                source: Arc::new(TlsMaterial::default()),
                url: proxy.to_string().into(),
                alpn: Vec::new(),
                state: Mutex::new(None),
            };
            (*tls.current()?.config).clone()
        }
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

fn platform_roots() -> Result<RootCertStore, io::Error> {
    let found = rustls_native_certs::load_native_certs();
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(found.certs);
    if store.is_empty() {
        let errors: Vec<_> = found.errors.iter().map(ToString::to_string).collect();
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            match errors.is_empty() {
                true => "no certificates found".to_owned(),
                false => errors.join(", "),
            },
        ));
    }
    Ok(store)
}

/// The usable certificates of a bundle, if there is one: as Go does, others beside it are passed over.
fn roots(pem: &[u8]) -> Option<RootCertStore> {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(CertificateDer::pem_slice_iter(pem).filter_map(Result::ok));
    (!store.is_empty()).then_some(store)
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn identity(client: &ClientCertificate, provider: &CryptoProvider) -> Result<Identity, String> {
    // As Go does: a malformed section beside the good ones is passed over.
    let sections = CertificateDer::pem_slice_iter(&client.certificate);
    let chain: Vec<_> = sections.filter_map(Result::ok).collect();
    if chain.is_empty() {
        return Err("the client certificate holds none".to_owned());
    }
    let key = PrivateKeyDer::from_pem_slice(&client.key).map_err(|_| "the client key is malformed")?;
    // Says that the key itself is at fault, before the pair is looked at.
    provider
        .key_provider
        .load_private_key(key.clone_key())
        .map_err(|_| "the client key is of a kind that is not supported")?;
    Ok((chain, key))
}

/// What went wrong in a handshake, in a sentence.
pub(crate) fn handshake_problem(error: &io::Error, url: &str, name: &str) -> String {
    let inner = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let problem: Cow<'_, str> = match inner {
        Some(rustls::Error::InvalidCertificate(problem)) => match problem {
            CertificateError::UnknownIssuer => "is not signed by an authority that is trusted here".into(),
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => "has expired".into(),
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "is not valid yet".into()
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                format!("is not valid for the name {name:?}").into()
            }
            // webpki's own error, which rustls has no variant for: Go accepts this where the certificate itself is trusted.
            other if format!("{other:?}").contains("CaUsedAsEndEntity") => {
                "is that of an authority, not one that an authority signed for a server".into()
            }
            _ => "is not accepted".into(),
        },
        _ => return format!("TLS handshake with {url} failed"),
    };
    format!("the certificate of {url} {problem}")
}
