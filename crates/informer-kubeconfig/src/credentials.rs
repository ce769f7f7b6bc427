//! What signs requests in: a token, a token file, a name with a password, and impersonation.

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use http::{HeaderMap, HeaderName, HeaderValue, header::AUTHORIZATION};
use informer_core::BoxFuture;
use informer_transport::{Authorize, CredentialError, Issue};

use crate::{Environment, Error, SignIn, exec::Plugin, field::Field, reread::Gate, text};

/// How long a token that was read is used before the file is looked at again: a minute, less ten seconds so that it never is more
/// (client-go `transport/token_source.go`, `NewCachedFileTokenSource`).
const REREAD_AFTER: Duration = Duration::from_secs(50);

const IMPERSONATE_USER: HeaderName = HeaderName::from_static("impersonate-user");

/// How a user signs in.
pub(crate) struct Credentials {
    authorization: Authorization,
    /// `Impersonate-*`, the user first. Empty when nobody is impersonated.
    impersonation: Vec<(HeaderName, HeaderValue)>,
}

/// What goes into the `Authorization` header.
pub(crate) enum Authorization {
    None,
    Fixed(HeaderValue),
    TokenFile(TokenFile),
    Exec(Plugin),
}

/// A token in a file that somebody else replaces from time to time.
pub(crate) struct TokenFile {
    file: Arc<File>,
    gate: Gate,
}

/// Where it is read from, and what was read.
struct File {
    environment: Arc<dyn Environment>,
    field: Field,
    path: PathBuf,
    state: Mutex<TokenState>,
}

struct TokenState {
    header: HeaderValue,
    /// Counts the tokens.
    issue: Issue,
    /// `None`: the server refused it, or there only is the token that stands beside the file.
    read_at: Option<Instant>,
}

impl Credentials {
    pub(crate) fn new(authorization: Authorization, impersonation: Vec<(HeaderName, HeaderValue)>) -> Self {
        Self {
            authorization,
            impersonation,
        }
    }

    /// How requests are signed in, without what they are signed in with.
    pub(crate) fn describe(&self) -> SignIn {
        match &self.authorization {
            Authorization::None => SignIn::Nothing,
            Authorization::Fixed(header) if header.as_bytes().starts_with(b"Basic ") => SignIn::Basic,
            Authorization::Fixed(_) => SignIn::Token,
            Authorization::TokenFile(file) => SignIn::TokenFile {
                path: file.file.path.clone(),
            },
            Authorization::Exec(plugin) => plugin.describe(),
        }
    }

    /// The user that requests act as.
    pub(crate) fn impersonates(&self) -> Option<String> {
        let (_, user) = self.impersonation.first()?;
        Some(String::from_utf8_lossy(user.as_bytes()).into_owned())
    }

    /// The plug-in that makes them.
    pub(crate) fn plugin(&self) -> Option<Plugin> {
        match &self.authorization {
            Authorization::Exec(plugin) => Some(plugin.clone()),
            _ => None,
        }
    }
}

impl Authorization {
    pub(crate) fn bearer(field: &Field, token: &str) -> Result<Self, Error> {
        Ok(Self::Fixed(bearer(field, token)?))
    }

    pub(crate) fn basic(username: &str, password: &str) -> Self {
        let encoded = text::encode_base64(format!("{username}:{password}").as_bytes());
        let mut header = HeaderValue::from_str(&format!("Basic {encoded}"))
            .expect("base64 has no characters that a header cannot hold");
        header.set_sensitive(true);
        Self::Fixed(header)
    }
}

impl TokenFile {
    /// Reads the file once, so that what is wrong is said here. A token beside the file is used while the file cannot be read.
    pub(crate) fn new(
        environment: Arc<dyn Environment>,
        field: Field,
        path: PathBuf,
        beside: Option<HeaderValue>,
    ) -> Result<Self, Error> {
        let now = environment.now();
        let state = match (read(&*environment, &field, &path), beside) {
            (Ok(header), _) => TokenState {
                header,
                issue: Issue::default(),
                read_at: Some(now),
            },
            (Err(_), Some(header)) => TokenState {
                header,
                issue: Issue::default(),
                read_at: None,
            },
            (Err(error), None) => return Err(error),
        };
        Ok(Self {
            file: Arc::new(File {
                environment,
                field,
                path,
                state: Mutex::new(state),
            }),
            gate: Gate::default(),
        })
    }

    /// The token of now. One that was refused is waited for; otherwise a read that is under way is not.
    async fn header(&self) -> (HeaderValue, Issue) {
        if self.file.is_due() {
            let (file, waits) = (Arc::clone(&self.file), self.file.state().read_at.is_none());
            self.gate
                .pass(waits, || self.file.is_due(), move || file.read_again())
                .await;
        }
        let state = self.file.state();
        (state.header.clone(), state.issue)
    }

    fn refused(&self, issue: Issue) {
        let mut state = self.file.state();
        if state.issue == issue {
            state.read_at = None;
        }
    }
}

impl File {
    fn state(&self) -> MutexGuard<'_, TokenState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_due(&self) -> bool {
        let now = self.environment.now();
        let read_at = self.state().read_at;
        read_at.is_none_or(|at| now.saturating_duration_since(at) >= REREAD_AFTER)
    }

    fn read_again(&self) {
        let now = self.environment.now();
        // Nobody waits for the lock while the file is read.
        match read(&*self.environment, &self.field, &self.path) {
            Ok(header) => {
                let mut state = self.state();
                if state.header != header {
                    state.header = header;
                    state.issue = state.issue.next();
                }
                state.read_at = Some(now);
            }
            Err(error) => tracing::warn!(
                error = %error,
                cause = std::error::Error::source(&error).map(tracing::field::display),
                "The token could not be read again, the last good one stays in use"
            ),
        }
    }
}

impl Authorize for Credentials {
    fn authorize<'a>(&'a self, headers: &'a mut HeaderMap) -> BoxFuture<'a, Result<Issue, CredentialError>> {
        Box::pin(async move {
            let (header, issue) = match &self.authorization {
                _ if headers.contains_key(AUTHORIZATION) => (None, Issue::default()),
                Authorization::None => (None, Issue::default()),
                Authorization::Fixed(header) => (Some(header.clone()), Issue::default()),
                Authorization::TokenFile(file) => {
                    let (header, issue) = file.header().await;
                    (Some(header), issue)
                }
                Authorization::Exec(plugin) => plugin.header().await?,
            };
            if let Some(header) = header {
                headers.insert(AUTHORIZATION, header);
            }
            // A request that impersonates by itself keeps what it says (client-go `transport/round_trippers.go`,
            // `impersonatingRoundTripper`).
            if !headers.contains_key(IMPERSONATE_USER) {
                for (name, value) in &self.impersonation {
                    headers.append(name.clone(), value.clone());
                }
            }
            Ok(issue)
        })
    }

    fn rejected(&self, issue: Issue) {
        match &self.authorization {
            Authorization::None | Authorization::Fixed(_) => {}
            Authorization::TokenFile(file) => file.refused(issue),
            Authorization::Exec(plugin) => plugin.refused(issue),
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// A bearer token as the value of a header.
pub(crate) fn bearer(field: &Field, token: &str) -> Result<HeaderValue, Error> {
    let mut header = HeaderValue::from_str(&format!("Bearer {}", token.trim()))
        .map_err(|_| field.error("the token holds characters that a header cannot"))?;
    header.set_sensitive(true);
    Ok(header)
}

fn read(environment: &dyn Environment, field: &Field, path: &std::path::Path) -> Result<HeaderValue, Error> {
    let content = environment.read(path).map_err(|cause| {
        field
            .error(format_args!("cannot read {}", path.display()))
            .caused_by(cause)
    })?;
    let token = std::str::from_utf8(&content).unwrap_or_default().trim();
    if token.is_empty() {
        return Err(field.error(format_args!("{} holds no token", path.display())));
    }
    bearer(field, token)
}
