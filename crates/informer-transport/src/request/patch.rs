//! Options and bodies of writes.

use serde::Serialize;
use serde_json::Value;

use super::Query;

/// A patch and how it is meant.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Patch {
    /// A list of operations (RFC 6902).
    Json(Value),
    /// The fields to set, `null` to take out (RFC 7386).
    Merge(Value),
    /// As merge, where lists merge by their keys; for built-in kinds only.
    Strategic(Value),
    /// Server-side apply: the fields that the manager wants. Needs [`WriteOptions::field_manager`].
    Apply(Value),
}

impl Patch {
    /// The content type that tells the server which it is.
    #[must_use]
    pub fn media_type(&self) -> &'static str {
        match self {
            Self::Json(_) => "application/json-patch+json",
            Self::Merge(_) => "application/merge-patch+json",
            Self::Strategic(_) => "application/strategic-merge-patch+json",
            Self::Apply(_) => "application/apply-patch+yaml",
        }
    }

    /// What is sent.
    #[must_use]
    pub fn body(&self) -> &Value {
        match self {
            Self::Json(body) | Self::Merge(body) | Self::Strategic(body) | Self::Apply(body) => body,
        }
    }
}

/// Options of create, replace and patch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Who writes (`fieldManager`).
    pub field_manager: Option<String>,
    /// Do everything but store it (`dryRun=All`).
    pub dry_run: bool,
    /// Take fields over from other managers; for [`Patch::Apply`] only.
    pub force: bool,
    /// What to do about unknown or doubled fields: `Ignore`, `Warn` or `Strict` (`fieldValidation`).
    pub field_validation: Option<String>,
}

impl WriteOptions {
    /// No options: what most writes have.
    pub const NONE: &'static Self = &Self {
        field_manager: None,
        dry_run: false,
        force: false,
        field_validation: None,
    };

    /// The options of a writer with this name.
    #[must_use]
    pub fn of(field_manager: impl Into<String>) -> Self {
        Self {
            field_manager: Some(field_manager.into()),
            ..Self::default()
        }
    }

    /// The same, as a dry run.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }

    /// The same, with force.
    #[must_use]
    pub fn force(mut self) -> Self {
        self.force = true;
        self
    }

    pub(super) fn query(&self) -> Query {
        let mut query = Query::new();
        if let Some(manager) = &self.field_manager {
            query.set("fieldManager", manager);
        }
        if self.dry_run {
            query.set("dryRun", "All");
        }
        if self.force {
            query.set("force", "true");
        }
        if let Some(validation) = &self.field_validation {
            query.set("fieldValidation", validation);
        }
        query
    }
}

/// What happens to the objects that an object owns when it is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum Propagation {
    /// They lose their owner.
    Orphan,
    /// They are deleted afterwards.
    Background,
    /// They are deleted first.
    Foreground,
}

/// Which state of an object is meant; another one is left alone.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Preconditions {
    /// The incarnation with this uid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// The state of this version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
}

/// Options of a delete.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DeleteOptions {
    /// Seconds that the object may take to end; 0 is at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_period_seconds: Option<u32>,
    /// What happens to what it owns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub propagation_policy: Option<Propagation>,
    /// Which state is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preconditions: Option<Preconditions>,
    /// `["All"]`: do everything but delete it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dry_run: Vec<String>,
    /// Delete it also if it cannot be read from storage any more. That runs no finalizers and may break what depends on them.
    #[serde(
        rename = "ignoreStoreReadErrorWithClusterBreakingPotential",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub although_unreadable: bool,
}

impl DeleteOptions {
    /// No options: what most deletes have.
    pub const NONE: &'static Self = &Self {
        grace_period_seconds: None,
        propagation_policy: None,
        preconditions: None,
        dry_run: Vec::new(),
        although_unreadable: false,
    };

    /// The same, with a grace period in seconds.
    #[must_use]
    pub fn grace_period(mut self, seconds: u32) -> Self {
        self.grace_period_seconds = Some(seconds);
        self
    }

    /// The same, with a propagation policy.
    #[must_use]
    pub fn propagation(mut self, policy: Propagation) -> Self {
        self.propagation_policy = Some(policy);
        self
    }

    /// The same, only for the incarnation with this uid.
    #[must_use]
    pub fn only_uid(mut self, uid: impl Into<String>) -> Self {
        self.preconditions.get_or_insert_default().uid = Some(uid.into());
        self
    }

    /// The same, only for the state of this version.
    #[must_use]
    pub fn only_version(mut self, version: impl Into<String>) -> Self {
        self.preconditions.get_or_insert_default().resource_version = Some(version.into());
        self
    }

    /// The same, as a dry run.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = vec!["All".to_owned()];
        self
    }
}
