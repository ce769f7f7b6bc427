//! Finalizers by name.

use std::sync::{Arc, Mutex};

use informer_client::{Finalized, Finalizer, FinalizerFailure, Finalizers};
use informer_core::BoxFuture;
use k8s_openapi::{
    api::core::v1::Namespace,
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time},
};

use crate::scripted::run;

type Ran = Arc<Mutex<Vec<&'static str>>>;

struct Named {
    name: &'static str,
    ran: Ran,
    /// What it says: `Err` with what it changed.
    says: Result<Finalized, Finalized>,
}

impl Finalizer<Namespace> for Named {
    fn finalize<'a>(
        &'a self,
        object: &'a mut Namespace,
    ) -> BoxFuture<'a, Result<Finalized, FinalizerFailure>> {
        self.ran.lock().unwrap().push(self.name);
        let labels = object.metadata.labels.get_or_insert_default();
        labels.insert(self.name.to_owned(), "ran".to_owned());
        Box::pin(async {
            self.says
                .map_err(|changed| FinalizerFailure::new("no bucket").after(changed))
        })
    }
}

fn finalizers(says: [(&'static str, Result<Finalized, Finalized>); 3]) -> (Ran, Finalizers<Namespace>) {
    let ran = Ran::default();
    let mut finalizers = Finalizers::new();
    for (name, says) in says {
        let ran = ran.clone();
        finalizers
            .register(&format!("example.org/{name}"), Named { name, ran, says })
            .unwrap();
    }
    (ran, finalizers)
}

fn namespace(has: &[&str], deleted: bool) -> Namespace {
    let finalizers: Vec<String> = has.iter().map(|it| (*it).to_owned()).collect();
    Namespace {
        metadata: ObjectMeta {
            finalizers: Some(finalizers).filter(|it| !it.is_empty()),
            deletion_timestamp: deleted
                .then(|| serde_json::from_str::<Time>("\"2026-01-01T00:00:00Z\"").unwrap()),
            ..ObjectMeta::default()
        },
        ..Namespace::default()
    }
}

fn of(object: &Namespace) -> Vec<String> {
    object.metadata.finalizers.clone().unwrap_or_default()
}

const DONE: Result<Finalized, Finalized> = Ok(Finalized::NOTHING);

#[test]
fn what_lives_is_given_what_it_lacks_and_nothing_runs() {
    let (ran, finalizers) = finalizers([("b", DONE), ("a", DONE), ("c", DONE)]);
    let mut object = namespace(&["other.org/x", "example.org/b"], false);
    let finalized = run(finalizers.finalize(&mut object)).unwrap();
    assert_eq!(finalized, Finalized::updated());
    assert_eq!(
        of(&object),
        ["other.org/x", "example.org/b", "example.org/a", "example.org/c"]
    );
    assert_eq!(run(finalizers.finalize(&mut object)).unwrap(), Finalized::NOTHING);
    assert!(ran.lock().unwrap().is_empty());
}

#[test]
fn what_is_deleted_has_run_what_it_has_and_is_given_nothing() {
    let status = Finalized::NOTHING.with_status();
    let (ran, finalizers) = finalizers([("b", Ok(status)), ("a", DONE), ("c", DONE)]);
    let mut object = namespace(&["example.org/b", "other.org/x", "example.org/a"], true);
    let finalized = run(finalizers.finalize(&mut object)).unwrap();
    assert!(finalized.updated && finalized.status_updated);
    assert_eq!(
        *ran.lock().unwrap(),
        ["a", "b"],
        "by name, and only those that it has"
    );
    assert_eq!(of(&object), ["other.org/x"]);
    assert_eq!(
        object.metadata.labels.as_ref().unwrap().len(),
        2,
        "what they changed stays"
    );
    assert_eq!(run(finalizers.finalize(&mut object)).unwrap(), Finalized::NOTHING);
}

#[test]
fn a_failure_stops_no_other_and_what_was_changed_is_told() {
    let status = Finalized::NOTHING.with_status();
    let (ran, finalizers) = finalizers([("a", Err(status)), ("b", DONE), ("c", Err(Finalized::NOTHING))]);
    let mut object = namespace(&["example.org/a", "example.org/b", "example.org/c"], true);
    let error = run(finalizers.finalize(&mut object)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "finalizer \"example.org/a\" failed: no bucket; finalizer \"example.org/c\" failed: no bucket"
    );
    assert!(error.finalized().updated && error.finalized().status_updated);
    assert_eq!(
        error.failed().map(|(name, _)| name).collect::<Vec<_>>(),
        ["example.org/a", "example.org/c"]
    );
    assert_eq!(*ran.lock().unwrap(), ["a", "b", "c"]);
    assert_eq!(of(&object), ["example.org/a", "example.org/c"]);
}

#[test]
fn names_are_unique_and_such_as_the_server_takes() {
    let (ran, mut finalizers) = finalizers([("a", DONE), ("b", DONE), ("c", DONE)]);
    for name in ["example.org/a", "bucket", "/x", "example.org/", "a/b/c"] {
        let named = Named {
            name: "a",
            ran: ran.clone(),
            says: DONE,
        };
        assert!(finalizers.register(name, named).is_err(), "{name}");
    }
}
