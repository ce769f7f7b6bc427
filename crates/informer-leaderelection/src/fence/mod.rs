//! `Fence`: what a leader writes carries its term, and what a later leader has written is left alone.

mod client;

use std::sync::Arc;

use informer_client::{DeleteOptions, Error, Form};
use serde_json::{Map, Value};

pub use self::client::Fenced;
use crate::{Leadership, Term};

/// Keeps the writes of a leader that is no more out of the objects that its successors have taken up. Clones are the same fence.
///
/// Each object says in an annotation in which [`Term`] it was last claimed. The rule has two halves, and each is needed:
/// * **By version.** A leader [stamps](Self::stamp) an object before it decides anything about it, and every write says of which state it was
///   made. The stamp is a write too: whatever an earlier leader had read before, and writes after it, is a conflict at the server. It was
///   paused, or its request was under way for long.
/// * **By term.** An object that says a later term is not touched. That stops an earlier leader that reads again: its clock stood still, as it
///   does while a virtual machine is suspended, and it holds itself for the leader.
///
/// The lease is asked last: an object is read, then [`check`](Self::check) or [`stamp`](Self::stamp) looks whether this process leads. So a
/// state that passes was read before the lease could have gone to another.
///
/// # What it cannot do
/// * An object that is not there has no version. The creation of one by an earlier leader that was under way when it was paused is accepted if
///   there is none of that name. Whoever creates objects has them owned by others, and removes those whose owner is gone.
/// * A stamp costs one write per object and leader.
/// * Terms are compared within one cluster. Objects that are restored into another one from a backup say terms of the first: take the annotation
///   off, or each reconcile fails and says so.
///
/// ```
/// # use informer_leaderelection::{Elector, Fence, MemoryLock, Options};
/// # use serde_json::json;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let elector = Elector::new(MemoryLock::new(), Options::new("a"))?;
/// let fence = Fence::new(elector.leadership(), "example.com/term");
/// let work = move |_| async move {
///     let mut page = json!({"metadata": {"name": "page", "resourceVersion": "7"}});
///     assert!(fence.stamp(&mut page).expect("this process leads"), "it was not stamped yet");
///     let term = &page["metadata"]["annotations"]["example.com/term"];
///     assert_eq!(term, "0@1");
///     // A later leader has been here.
///     page["metadata"]["annotations"]["example.com/term"] = "1@9".into();
///     assert!(fence.stamp(&mut page).is_err());
/// };
/// elector.run_with(std::future::pending(), work).await;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Fence {
    leadership: Leadership,
    annotation: Arc<str>,
}

impl Fence {
    /// The fence of an election, whose terms are kept in this annotation: `example.com/term`. Each election has its own.
    #[must_use]
    pub fn new(leadership: Leadership, annotation: impl Into<Arc<str>>) -> Self {
        Self {
            leadership,
            annotation: annotation.into(),
        }
    }

    /// A client that writes nothing past this fence.
    #[must_use]
    pub fn around<C>(&self, client: C) -> Fenced<C> {
        Fenced::new(client, self.clone())
    }

    /// The term of this process.
    ///
    /// # Errors
    /// When it does not lead, or leads no more.
    pub fn term(&self) -> Result<Term, Error> {
        let term = self.leadership.term();
        term.ok_or_else(|| Error::refused("this process does not lead"))
    }

    /// Whether this process may write an object that it has read like this, and its term.
    ///
    /// # Errors
    /// When it does not lead, or a later leader has stamped the object.
    pub fn check<K: Form>(&self, object: &K) -> Result<Term, Error> {
        let value = to_value(object)?;
        Ok(self.admit(&value)?.0)
    }

    /// [Checks](Self::check) an object at hand and puts the term into it; `false`: it says it already. What is in the cluster, a write changes: if
    /// this was `true`, the object is claimed once it is updated.
    ///
    /// # Errors
    /// As [`check`](Self::check), or when the object's form cannot hold annotations.
    pub fn stamp<K: Form>(&self, object: &mut K) -> Result<bool, Error> {
        let mut value = to_value(object)?;
        let stamped = self.stamp_value(&mut value)?;
        if stamped {
            *object = serde_json::from_value(value).map_err(|error| {
                Error::refused(format!("the form of object cannot hold an annotation: {error}"))
            })?;
        }
        Ok(stamped)
    }

    /// [Checks](Self::check) an object, and gives the options to delete it only as it was read.
    ///
    /// # Errors
    /// As [`check`](Self::check), or when the object does not say its version.
    pub fn only_this<K: Form>(&self, object: &K) -> Result<DeleteOptions, Error> {
        let value = to_value(object)?;
        self.admit(&value)?;
        let version = version(&value).ok_or_else(|| Error::refused("the object has no resource version"))?;
        let options = DeleteOptions::default().only_version(version);
        Ok(match text(&value, "uid") {
            Some(uid) => options.only_uid(uid),
            None => options,
        })
    }

    /// The rule: this process leads, and the object says no later term. Gives the term, and whether the object says it.
    fn admit(&self, value: &Value) -> Result<(Term, bool), Error> {
        let own = self.term()?;
        let said = value.pointer("/metadata/annotations");
        let said = said.and_then(|annotations| annotations.get(&*self.annotation)?.as_str());
        // What is no term was not written by a leader, and holds nobody off.
        match said.and_then(|said| said.parse::<Term>().ok()) {
            Some(said) if said == own => Ok((own, true)),
            Some(said) if said.is_after(&own) => Err(Error::refused(format!(
                "fenced off: {} says the later term {said}, this process leads in {own}",
                text(value, "name").unwrap_or("the object")
            ))),
            _ => Ok((own, false)),
        }
    }

    fn stamp_value(&self, value: &mut Value) -> Result<bool, Error> {
        let (own, is_said) = self.admit(value)?;
        if is_said {
            return Ok(false);
        }
        let annotations = member(value, "metadata").and_then(|metadata| member(metadata, "annotations"));
        let annotations = annotations.and_then(Value::as_object_mut);
        let annotations =
            annotations.ok_or_else(|| Error::refused("the object has no room for annotations"))?;
        annotations.insert(self.annotation.to_string(), own.to_string().into());
        Ok(true)
    }
}

/// A member that is an object, made where there is none.
fn member<'a>(value: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    let member = value.as_object_mut()?.entry(name).or_insert(Value::Null);
    if member.is_null() {
        *member = Value::Object(Map::new());
    }
    Some(member)
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    let text = value.get("metadata")?.get(name)?.as_str();
    text.filter(|text| !text.is_empty())
}

fn version(value: &Value) -> Option<&str> {
    text(value, "resourceVersion")
}

fn to_value<K: Form>(object: &K) -> Result<Value, Error> {
    serde_json::to_value(object)
        .map_err(|error| Error::refused(format!("the object cannot be written as JSON: {error}")))
}
