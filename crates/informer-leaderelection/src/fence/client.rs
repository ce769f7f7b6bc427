//! `Fenced`: a client that lets nothing past its fence.

use std::future::{Future, ready};

use informer_client::{
    Error, Form, Kinds, List, ListOptions, Patch, ReadClient, Write, WriteClient, WriteVerb, Written,
};
use informer_core::{BoxFuture, Entry, ObjectKey, Resource};

use super::{Fence, version};

/// A client whose writes are fenced: each is refused unless this process leads, says of which state it was made, and that state is of no later
/// term. Reads pass.
///
/// | write | what it must have | what is done |
/// |---|---|---|
/// | create | | the term is put in |
/// | update | the resource version | the term is put in |
/// | update of a subresource | the resource version, and this term: it cannot carry it, so the object is claimed before | |
/// | patch, apply | the resource version, and this term ([`Fence::stamp`] of the body); of the state that it is for the caller has [made sure](Fence::check) | |
/// | delete | the version as a precondition ([`Fence::only_this`]) | |
///
/// A JSON patch, a delete of many and the creation of a subresource cannot say what they are made of: they are refused. Where they are wanted
/// all the same, there is the [client](Self::client).
#[derive(Debug, Clone)]
pub struct Fenced<C> {
    client: C,
    fence: Fence,
}

impl<C> Fenced<C> {
    pub(super) fn new(client: C, fence: Fence) -> Self {
        Self { client, fence }
    }

    /// The fence.
    #[must_use]
    pub fn fence(&self) -> &Fence {
        &self.fence
    }

    /// The client without the fence.
    #[must_use]
    pub fn client(&self) -> &C {
        &self.client
    }

    fn admit(&self, mut write: Write) -> Result<Write, Error> {
        self.fence.term()?;
        let (is_whole, word) = (write.subresource.is_none(), write.word());
        let refused = |why: &str| Error::refused(format!("not fenced: {word} {why}"));
        let with_version = |version: Option<&str>| {
            let version = version.filter(|version| !version.is_empty());
            version
                .map(drop)
                .ok_or_else(|| refused("without a resource version"))
        };
        let with_term = |body| match self.fence.admit(body)? {
            (_, true) => Ok(()),
            (own, false) => Err(refused(&format!("of what is not claimed for term {own}"))),
        };
        match &mut write.verb {
            WriteVerb::Create(body) if is_whole => {
                self.fence.stamp_value(body)?;
            }
            WriteVerb::Update(body) => {
                with_version(version(body))?;
                if is_whole {
                    self.fence.stamp_value(body)?;
                } else {
                    with_term(body)?;
                }
            }
            WriteVerb::Patch(patch) if !matches!(patch, Patch::Json(_)) => {
                with_version(version(patch.body()))?;
                with_term(patch.body())?;
            }
            WriteVerb::Delete(options) => {
                let preconditions = options.preconditions.as_ref();
                with_version(preconditions.and_then(|it| it.resource_version.as_deref()))?;
            }
            _ => return Err(refused("does not say of which state it is made")),
        }
        Ok(write)
    }
}

impl<C: ReadClient> ReadClient for Fenced<C> {
    type Error = C::Error;

    fn kinds(&self) -> &Kinds {
        self.client.kinds()
    }

    fn read<K: Form>(
        &self,
        resource: &Resource,
        key: &ObjectKey,
    ) -> impl Future<Output = Result<Option<Entry<ObjectKey, K>>, C::Error>> + Send {
        self.client.read(resource, key)
    }

    fn read_all<K: Form>(
        &self,
        resource: &Resource,
        options: &ListOptions,
    ) -> impl Future<Output = Result<List<K>, C::Error>> + Send {
        self.client.read_all(resource, options)
    }

    fn is_not_found(error: &C::Error) -> bool {
        C::is_not_found(error)
    }
}

impl<C: WriteClient> WriteClient for Fenced<C> {
    fn kinds(&self) -> &Kinds {
        self.client.kinds()
    }

    fn write(&self, write: Write) -> BoxFuture<'_, Result<Written, Error>> {
        match self.admit(write) {
            Ok(write) => self.client.write(write),
            Err(error) => Box::pin(ready(Err(error))),
        }
    }
}
