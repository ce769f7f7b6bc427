//! `Discovery`: which kinds a server has, and the names that people call them by.

mod fetch;
mod mapper;
mod near;
mod resolve;
mod wire;

use std::{error::Error as StdError, fmt, sync::Arc};

use informer_core::Resource;
use informer_transport::Transport;

use crate::{Client, Error};

/// One kind that a server has, in one version.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiResource {
    /// Group, version, plural, kind and scope.
    pub resource: Resource,
    /// The singular name: `pod`.
    pub singular: String,
    /// Short names: `po`.
    pub short_names: Vec<String>,
    /// Verbs: `list`, `watch`.
    pub verbs: Vec<String>,
    /// Categories: `all`.
    pub categories: Vec<String>,
}

impl ApiResource {
    /// Whether the kind has a verb.
    #[must_use]
    pub fn has_verb(&self, verb: &str) -> bool {
        self.verbs.iter().any(|it| it == verb)
    }
}

pub use mapper::RestMapper;

/// The kinds of a server: the core group first, then the others in the order of the server, the preferred version of each first.
#[derive(Debug, Default)]
pub struct Discovery {
    kinds: Vec<ApiResource>,
    /// Groups with versions that did not answer, and why.
    failures: Vec<(String, Arc<str>)>,
}

impl Discovery {
    /// Asks a server for its kinds: in two requests where it can answer so, else one for each group version.
    ///
    /// A group whose own server does not answer is left out and remembered.
    ///
    /// # Errors
    /// When the server does not say which groups it has; see [`Error`].
    pub async fn fetch<T: Transport>(client: &Client<T>) -> Result<Self, Error> {
        fetch::fetch(client).await
    }

    /// All kinds.
    #[must_use]
    pub fn kinds(&self) -> &[ApiResource] {
        &self.kinds
    }

    /// Finds a kind by what people call it: `pods`, `pod`, `po`, `Pod`, `deployments.apps`, `deploy`, `deployments.v1.apps`,
    /// `widgets.example.com`. Case does not matter.
    ///
    /// Where several match, the plural counts before the singular, that before short names, and those before kinds; then the order of
    /// groups and versions decides (client-go `restmapper`).
    ///
    /// # Errors
    /// When the server has none of that name, with the names near to it.
    pub fn resolve(&self, name: &str) -> Result<&ApiResource, UnknownResource> {
        resolve::resolve(self, name)
    }
}

impl<T: Transport> Client<T> {
    /// Asks the server for its kinds and finds one by what people call it: [`Discovery::fetch`] and [`Discovery::resolve`].
    ///
    /// # Errors
    /// When the server does not answer, or has no such kind.
    pub async fn resolve(&self, name: &str) -> Result<ApiResource, ResolveError> {
        let discovery = Discovery::fetch(self).await.map_err(ResolveError::Failed)?;
        discovery.resolve(name).cloned().map_err(ResolveError::Unknown)
    }
}

/// A kind could not be found by its name.
#[derive(Debug)]
#[non_exhaustive]
pub enum ResolveError {
    /// The server did not answer.
    Failed(Error),
    /// It has no such kind.
    Unknown(UnknownResource),
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => error.fmt(f),
            Self::Unknown(error) => error.fmt(f),
        }
    }
}

impl StdError for ResolveError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Failed(error) => error.source(),
            Self::Unknown(_) => None,
        }
    }
}

/// The server has no kind of that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownResource {
    name: String,
    near: Vec<String>,
    failures: Vec<(String, Arc<str>)>,
}

impl UnknownResource {
    /// What was asked for.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names that the server has and that look like it, the nearest first.
    #[must_use]
    pub fn near(&self) -> &[String] {
        &self.near
    }
}

impl fmt::Display for UnknownResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server has no resource {:?}", self.name)?;
        if !self.near.is_empty() {
            write!(f, "; did you mean {}?", self.near.join(", "))?;
        }
        for (group, why) in &self.failures {
            write!(f, "; what {group} has is not known: {why}")?;
        }
        Ok(())
    }
}

impl StdError for UnknownResource {}
