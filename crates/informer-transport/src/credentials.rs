//! `Authorize` and `TlsSource`: where configuration and connections meet.

use std::{error::Error, fmt, sync::Arc};

use http::HeaderMap;
use informer_core::BoxFuture;

use crate::BoxError;

/// Adds credentials to requests and hears when they were refused.
pub trait Authorize: Send + Sync {
    /// Adds credentials to the headers of a request that has none of its own. Values are marked sensitive. Says which they are, for
    /// [`rejected`](Self::rejected). Asked anew for each attempt, so that none is made with what was replaced meanwhile.
    ///
    /// # Errors
    /// When there are credentials to add and they cannot be had; the sentence names the file or entry, never the secret.
    fn authorize<'a>(&'a self, headers: &'a mut HeaderMap) -> BoxFuture<'a, Result<Issue, CredentialError>>;

    /// The server answered 401 to a request with the credentials of this issue: if they are still the ones in use, they are fetched anew
    /// next time. Of many requests under way some are answered late: a refusal of an older issue says nothing of a newer one (client-go
    /// `plugin/pkg/client/auth/exec/exec.go`, `maybeRefreshCreds`).
    fn rejected(&self, issue: Issue) {
        let _ = issue;
    }
}

/// Which credentials a request carries: a number of its authorizer's, of meaning to nobody else. Credentials that never change are all of
/// the default issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Issue(u64);

impl Issue {
    /// The issue of this number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The issue after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

/// What the certificates of connections are checked and signed with. Its parts are PEM texts.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct TlsMaterial {
    /// Whom to trust.
    pub roots: Roots,
    /// The client's own certificate.
    pub client: Option<ClientCertificate>,
    /// The name to ask for and to check, where it is not that of the URL (`tls-server-name`).
    pub server_name: Option<Arc<str>>,
    /// Changes whenever anything above does: a connection of an older generation is not used for new requests.
    pub generation: u64,
}

/// Whose signature under a server's certificate is trusted.
#[derive(Debug, Clone, Default)]
pub enum Roots {
    /// Those that the platform trusts.
    #[default]
    Platform,
    /// The certificates of a PEM bundle.
    Pem(Arc<[u8]>),
    /// Anybody's: `insecure-skip-tls-verify`.
    Insecure,
}

/// A client certificate and its key, as PEM.
#[derive(Clone)]
pub struct ClientCertificate {
    /// The chain.
    pub certificate: Arc<[u8]>,
    /// The private key.
    pub key: Arc<[u8]>,
}

/// Prints that there is one, never the key.
impl fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCertificate").finish_non_exhaustive()
    }
}

impl fmt::Debug for TlsMaterial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsMaterial")
            .field("client", &self.client)
            .field("server_name", &self.server_name)
            .field("generation", &self.generation)
            .finish_non_exhaustive()
    }
}

/// Gives the TLS material of the moment. Asked before each new connection, so that files may rotate.
pub trait TlsSource: Send + Sync {
    /// The material now. Cheap when nothing changed.
    ///
    /// # Errors
    /// When it cannot be had and never could; a bad read after a good one keeps the last good value.
    fn current(&self) -> Result<TlsMaterial, CredentialError>;

    /// Brings the material up to date where that may take a while, as a file on a mount that hangs does. Whoever can wait awaits this before
    /// [`current`](Self::current), which holds up its thread otherwise. `None`, as it is unless it is written: nothing is due. It takes a
    /// bounded time, and what could not be had in it leaves the last good material in use.
    fn refresh(&self) -> Option<BoxFuture<'_, ()>> {
        None
    }
}

impl TlsSource for TlsMaterial {
    fn current(&self) -> Result<TlsMaterial, CredentialError> {
        Ok(self.clone())
    }
}

/// Credentials or certificates could not be had. Names the file or entry, never the secret.
#[derive(Debug, Clone)]
pub struct CredentialError {
    message: Arc<str>,
    cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl CredentialError {
    /// An error with a sentence that names the file or entry.
    #[must_use]
    pub fn new(message: impl Into<Arc<str>>) -> Self {
        Self {
            message: message.into(),
            cause: None,
        }
    }

    /// The same, with its cause.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Into<BoxError>) -> Self {
        self.cause = Some(cause.into().into());
        self
    }
}

impl fmt::Display for CredentialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for CredentialError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause
            .as_ref()
            .map(|cause| &**cause as &(dyn Error + 'static))
    }
}
