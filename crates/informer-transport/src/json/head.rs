//! What the machinery reads of an object's bytes: types, identity, and where the managed fields are.

use std::{borrow::Cow, ops::Range, sync::Arc};

use informer_core::{Identity, ResourceVersion, Stamp};

use super::scan::{Malformed, Scan, text};

/// The head of an object.
#[derive(Debug, Default)]
pub(crate) struct Head<'a> {
    pub(crate) api_version: Option<Cow<'a, str>>,
    pub(crate) kind: Option<Cow<'a, str>>,
    pub(crate) namespace: Option<Cow<'a, str>>,
    pub(crate) name: Option<Cow<'a, str>>,
    pub(crate) uid: Option<Cow<'a, str>>,
    pub(crate) version: Option<Cow<'a, str>>,
    /// What to leave out of the bytes, so that the object is the same without its managed fields.
    pub(crate) managed_fields: Option<Range<usize>>,
    /// How many bytes were looked at.
    pub(crate) scanned: usize,
}

/// After which member the reader is content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Member {
    /// `apiVersion` and `kind`.
    Types,
    /// `metadata`.
    Metadata,
}

impl<'a> Head<'a> {
    /// Reads until it has what is wanted: servers write types and metadata first, so this rarely walks the whole object.
    pub(crate) fn read(object: &'a [u8], wanted: Member) -> Result<Self, Malformed> {
        let mut head = Self::default();
        let mut scan = Scan::new(object);
        let mut more = scan.enter()?;
        while more {
            let key = scan.key()?;
            match &object[key] {
                b"apiVersion" => head.api_version = text(&object[scan.value()?]),
                b"kind" => head.kind = text(&object[scan.value()?]),
                b"metadata" if wanted == Member::Metadata && scan.peek() == Some(b'{') => {
                    head.read_metadata(object, &mut scan)?;
                }
                _ => {
                    scan.value()?;
                }
            }
            head.scanned = scan.at();
            if head.has(wanted) {
                return Ok(head);
            }
            more = scan.more()?;
        }
        head.scanned = scan.at();
        Ok(head)
    }

    fn has(&self, wanted: Member) -> bool {
        match wanted {
            Member::Types => self.kind.is_some() && self.api_version.is_some(),
            Member::Metadata => self.name.is_some(),
        }
    }

    fn read_metadata(&mut self, object: &'a [u8], scan: &mut Scan<'a>) -> Result<(), Malformed> {
        let mut more = scan.enter()?;
        let mut comma_before = None;
        while more {
            scan.peek();
            let start = scan.at();
            let key = scan.key()?;
            let value = scan.value()?;
            let end = value.end;
            match &object[key] {
                b"namespace" => self.namespace = text(&object[value]),
                b"name" => self.name = text(&object[value]),
                b"uid" => self.uid = text(&object[value]),
                b"resourceVersion" => self.version = text(&object[value]),
                b"managedFields" => {
                    scan.peek();
                    let comma_after = scan.at();
                    self.managed_fields = Some(if object.get(comma_after) == Some(&b',') {
                        start..comma_after + 1
                    } else {
                        comma_before.unwrap_or(start)..end
                    });
                }
                _ => {}
            }
            more = scan.more()?;
            comma_before = Some(scan.at() - 1);
        }
        Ok(())
    }

    /// The object without its managed fields.
    pub(crate) fn without_managed_fields<'b>(&self, object: &'b [u8]) -> Cow<'b, [u8]> {
        match &self.managed_fields {
            Some(cut) => Cow::Owned([&object[..cut.start], &object[cut.end..]].concat()),
            None => Cow::Borrowed(object),
        }
    }

    /// The identity.
    pub(crate) fn identity(&self) -> Identity {
        let shared = |text: &Option<Cow<'_, str>>| -> Arc<str> { text.as_deref().unwrap_or_default().into() };
        Identity {
            namespace: self
                .namespace
                .as_deref()
                .filter(|it| !it.is_empty())
                .map(Arc::from),
            name: shared(&self.name),
            stamp: Stamp::new(ResourceVersion::new(shared(&self.version)), shared(&self.uid)),
        }
    }
}
