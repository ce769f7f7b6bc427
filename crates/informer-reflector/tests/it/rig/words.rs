//! Shorthand for what a source says.

use informer_core::{
    Cause, DecodeError, Decoded, FailureClass, Identity, Listed, ResourceVersion, SourceError, Stamp, Watched,
};

use super::{Answer, Object, Step};

pub(crate) fn identity(name: &str, version: &str) -> Identity {
    Identity {
        namespace: Some("ns".into()),
        name: name.into(),
        stamp: Stamp::new(version, format!("uid-{name}")),
    }
}

/// `name@version`
pub(crate) fn object(text: &str) -> Decoded<Object> {
    let (name, version) = text.split_once('@').unwrap();
    Decoded {
        identity: identity(name, version),
        object: text.to_owned(),
    }
}

pub(crate) fn undecodable(text: &str) -> DecodeError {
    let (name, version) = text.split_once('@').unwrap();
    DecodeError::new("field spec is a string")
        .kind("Foo")
        .of(identity(name, version))
}

pub(crate) fn item(text: &str) -> Step<Listed<Object>> {
    Step::Event(Listed::Item(Ok(object(text))))
}

pub(crate) fn bad_item(text: &str) -> Step<Listed<Object>> {
    Step::Event(Listed::Item(Err(undecodable(text))))
}

pub(crate) fn end(at: &str) -> Step<Listed<Object>> {
    page(at, None)
}

pub(crate) fn page(at: &str, token: Option<&str>) -> Step<Listed<Object>> {
    Step::Event(Listed::End {
        at: ResourceVersion::new(at),
        token: token.map(Into::into),
    })
}

/// A whole list: `name@version …` at a version.
pub(crate) fn whole(items: &str, at: &str) -> Answer<Listed<Object>> {
    let steps = items.split_whitespace().map(item).chain([end(at)]);
    Answer::Open(steps.collect())
}

pub(crate) fn added(text: &str) -> Step<Watched<Object>> {
    Step::Event(Watched::Upsert(Cause::Added, Ok(object(text))))
}

pub(crate) fn modified(text: &str) -> Step<Watched<Object>> {
    Step::Event(Watched::Upsert(Cause::Modified, Ok(object(text))))
}

pub(crate) fn deleted(text: &str) -> Step<Watched<Object>> {
    Step::Event(Watched::Delete(Ok(object(text))))
}

pub(crate) fn bookmark(at: &str) -> Step<Watched<Object>> {
    Step::Event(Watched::Bookmark {
        at: ResourceVersion::new(at),
        end_of_initial: false,
    })
}

pub(crate) fn initial_end(at: &str) -> Step<Watched<Object>> {
    Step::Event(Watched::Bookmark {
        at: ResourceVersion::new(at),
        end_of_initial: true,
    })
}

pub(crate) fn error(class: FailureClass) -> SourceError {
    SourceError::new(class, format!("the server said: {class}"))
}

pub(crate) fn expired<E>() -> Step<E> {
    Step::Fail(error(FailureClass::Expired))
}
