//! Wrappers that set an option of every write: dry run, field owner, field validation.

use informer_core::{BoxFuture, Entry, ObjectKey, Resource};
use informer_transport::Patch;

use crate::{Error, Form, Kinds, List, ListOptions, ReadClient, Write, WriteClient, WriteVerb, Written};

/// Makes every write a dry run: the server checks it and stores nothing.
#[derive(Debug, Clone)]
pub struct DryRun<C>(C);

impl<C> DryRun<C> {
    /// Around this client.
    pub fn new(client: C) -> Self {
        Self(client)
    }

    fn change(&self, mut write: Write) -> Write {
        write.options.dry_run = true;
        write
    }
}

/// Names who writes, where a write does not say it itself.
#[derive(Debug, Clone)]
pub struct FieldOwner<C>(C, String);

impl<C> FieldOwner<C> {
    /// Around this client, by this name.
    pub fn new(client: C, name: impl Into<String>) -> Self {
        Self(client, name.into())
    }

    fn change(&self, mut write: Write) -> Write {
        write.options.field_manager.get_or_insert_with(|| self.1.clone());
        write
    }
}

/// What the server does about fields that it does not know, or that are there twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Validation {
    /// Drop them.
    Ignore,
    /// Drop them and warn.
    Warn,
    /// Refuse the write.
    Strict,
}

impl Validation {
    /// As the API takes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ignore => "Ignore",
            Self::Warn => "Warn",
            Self::Strict => "Strict",
        }
    }
}

/// Has fields validated, where a write does not say it itself. An apply is always validated strictly, by the server.
#[derive(Debug, Clone)]
pub struct FieldValidation<C>(C, Validation);

impl<C> FieldValidation<C> {
    /// Around this client, like this.
    pub fn new(client: C, validation: Validation) -> Self {
        Self(client, validation)
    }

    fn change(&self, mut write: Write) -> Write {
        if !matches!(write.verb, WriteVerb::Patch(Patch::Apply(_))) {
            let validation = || self.1.as_str().to_owned();
            write.options.field_validation.get_or_insert_with(validation);
        }
        write
    }
}

macro_rules! around {
    ($($wrapper:ident)*) => {
        $(
            impl<C: ReadClient> ReadClient for $wrapper<C> {
                type Error = C::Error;

                fn kinds(&self) -> &Kinds {
                    self.0.kinds()
                }

                fn read<K: Form>(
                    &self,
                    resource: &Resource,
                    key: &ObjectKey,
                ) -> impl Future<Output = Result<Option<Entry<ObjectKey, K>>, C::Error>> + Send {
                    self.0.read(resource, key)
                }

                fn read_all<K: Form>(
                    &self,
                    resource: &Resource,
                    options: &ListOptions,
                ) -> impl Future<Output = Result<List<K>, C::Error>> + Send {
                    self.0.read_all(resource, options)
                }

                fn is_not_found(error: &C::Error) -> bool {
                    C::is_not_found(error)
                }
            }

            impl<C: WriteClient> WriteClient for $wrapper<C> {
                fn kinds(&self) -> &Kinds {
                    self.0.kinds()
                }

                fn resolve<'a>(&'a self, api_version: &'a str, kind: &'a str) -> BoxFuture<'a, Result<Resource, Error>> {
                    self.0.resolve(api_version, kind)
                }

                fn write(&self, write: Write) -> BoxFuture<'_, Result<Written, Error>> {
                    self.0.write(self.change(write))
                }
            }
        )*
    };
}

around!(DryRun FieldOwner FieldValidation);
