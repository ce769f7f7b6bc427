//! Exec plug-ins: programs that print credentials (`client.authentication.k8s.io`).
//!
//! Upstream: client-go `plugin/pkg/client/auth/exec/exec.go`. What the plug-in is told and what it may answer is in [`info`] and
//! [`credential`]; when it runs is in [`plugin`].

mod credential;
mod entry;
mod info;
mod metrics;
mod plugin;
mod policy;
mod validity;

pub(crate) use entry::{Entry, Extension};
pub use metrics::{PluginCall, PluginMetrics};
pub(crate) use plugin::Plugin;
pub use policy::ExecPolicy;

/// The versions of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    V1,
    V1Beta1,
}

impl Version {
    fn parse(text: &str) -> Option<Self> {
        [Self::V1, Self::V1Beta1]
            .into_iter()
            .find(|version| version.text() == text)
    }

    fn text(self) -> &'static str {
        match self {
            Self::V1 => "client.authentication.k8s.io/v1",
            Self::V1Beta1 => "client.authentication.k8s.io/v1beta1",
        }
    }
}

/// Whether the plug-in may talk with a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interactive {
    Never,
    IfAvailable,
    Always,
}
