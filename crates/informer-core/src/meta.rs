//! Reading metadata out of an object, for those who need it: selectors, predicates, owner mapping.

/// Which parts of the metadata a form of object holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MetaFields {
    /// Labels.
    pub labels: bool,
    /// Owner references.
    pub owners: bool,
    /// The generation.
    pub generation: bool,
    /// The deletion mark.
    pub deletion: bool,
}

impl MetaFields {
    /// Everything.
    #[must_use]
    pub const fn all() -> Self {
        Self {
            labels: true,
            owners: true,
            generation: true,
            deletion: true,
        }
    }
}

/// One owner of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Owner<'a> {
    /// Group and version, as in the reference: `apps/v1`.
    pub api_version: &'a str,
    /// Kind.
    pub kind: &'a str,
    /// Name.
    pub name: &'a str,
    /// Uid.
    pub uid: &'a str,
    /// It is the managing controller.
    pub controller: bool,
}

impl<'a> Owner<'a> {
    /// A reference to an owner.
    #[must_use]
    pub const fn new(
        api_version: &'a str,
        kind: &'a str,
        name: &'a str,
        uid: &'a str,
        controller: bool,
    ) -> Self {
        Self {
            api_version,
            kind,
            name,
            uid,
            controller,
        }
    }
}

/// What selectors, predicates and owner mapping read of an object: a strategy beside `KeyFunc`, not a trait on the object, so that every
/// form of object can have one.
///
/// [`fields`](Self::fields) says what the form holds; who needs more refuses it when it is built, not at run time.
pub trait Meta<K: ?Sized>: Send + Sync {
    /// What the form holds.
    fn fields(&self) -> MetaFields;

    /// The value of a label.
    fn label<'a>(&self, _object: &'a K, _name: &str) -> Option<&'a str> {
        None
    }

    /// Visits the owner references.
    fn owners(&self, _object: &K, _visit: &mut dyn FnMut(Owner<'_>)) {}

    /// The generation: it changes with the specification.
    fn generation(&self, _object: &K) -> Option<i64> {
        None
    }

    /// Whether the object is marked for deletion.
    fn deleting(&self, _object: &K) -> bool {
        false
    }
}
