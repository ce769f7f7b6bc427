//! What identifies a kind, as a value.

use std::{fmt, sync::Arc};

/// Whether objects of a kind live in namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// In a namespace.
    Namespaced,
    /// In the cluster as a whole.
    Cluster,
}

/// A kind of objects as the API names it: group, version, kind, plural and scope. Cloning copies pointers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Resource {
    /// The API group; empty for the core group.
    pub group: Arc<str>,
    /// The version within the group.
    pub version: Arc<str>,
    /// The plural name, as in the path: `pods`.
    pub plural: Arc<str>,
    /// The kind, as in objects: `Pod`.
    pub kind: Arc<str>,
    /// Namespaced or cluster-wide.
    pub scope: Scope,
}

impl Resource {
    /// A kind that lives in namespaces.
    #[must_use]
    pub fn namespaced(group: &str, version: &str, plural: &str, kind: &str) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
            plural: plural.into(),
            kind: kind.into(),
            scope: Scope::Namespaced,
        }
    }

    /// A cluster-wide kind.
    #[must_use]
    pub fn cluster(group: &str, version: &str, plural: &str, kind: &str) -> Self {
        Self {
            scope: Scope::Cluster,
            ..Self::namespaced(group, version, plural, kind)
        }
    }

    /// Group and version as objects carry them: `v1`, `apps/v1`.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_string()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// The path of the collection: of one namespace, or of all.
    #[must_use]
    pub fn path(&self, namespace: Option<&str>) -> String {
        let mut path = if self.group.is_empty() {
            format!("/api/{}", self.version)
        } else {
            format!("/apis/{}/{}", self.group, self.version)
        };
        if let (Some(namespace), Scope::Namespaced) = (namespace, self.scope) {
            path.push_str("/namespaces/");
            path.push_str(namespace);
        }
        path.push('/');
        path.push_str(&self.plural);
        path
    }
}

/// Prints `pods` or `deployments.apps`, as kubectl does.
impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.plural)?;
        if self.group.is_empty() {
            Ok(())
        } else {
            write!(f, ".{}", self.group)
        }
    }
}
