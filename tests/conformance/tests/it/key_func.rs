//! `KeyFunc`.

use std::{
    cmp::Ordering,
    hash::{Hash, Hasher},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use conformance_tests::{ByNumber, Numbered, SecondPart};
use informer_core::{Identity, KeyError, KeyFunc, NamespaceName};
use informer_testkit::conformance::key_func::Suite;

use crate::wrong::{all_catch, caught};

pub(crate) fn ours() -> Suite<NamespaceName, ()> {
    Suite::new("NamespaceName", || NamespaceName)
}

#[test]
fn ours_conforms() {
    ours().run().assert_conforms();
    Suite::new("a shared NamespaceName", || std::sync::Arc::new(NamespaceName))
        .run()
        .assert_conforms();
}

#[test]
fn the_second_part_first_conforms() {
    Suite::new("SecondPart", || SecondPart).run().assert_conforms();
}

#[test]
fn numbers_of_the_object_conform() {
    let identity = |name: &str| Identity {
        name: name.into(),
        ..Identity::default()
    };
    let numbers = (1..9).fold(Suite::over("ByNumber", || ByNumber), |suite, number| {
        suite.object(identity(&format!("object-{number}")), Numbered { number })
    });
    let numbers = numbers.without_key(identity("object-without"), Numbered { number: 0 });
    numbers.run().assert_conforms();
}

/// A key function of a closure, and whether it has keys of the identity alone.
struct By<Q> {
    key: fn(&Identity) -> Result<Q, KeyError>,
    alone: Option<fn(&Identity) -> Q>,
}

impl<Q: informer_core::Key> KeyFunc<()> for By<Q> {
    type Key = Q;

    fn key(&self, identity: &Identity, (): &()) -> Result<Q, KeyError> {
        (self.key)(identity)
    }

    fn key_of_identity(&self, identity: &Identity) -> Option<Q> {
        self.alone.map(|alone| alone(identity))
    }
}

fn by<Q: informer_core::Key>(key: fn(&Identity) -> Result<Q, KeyError>) -> impl Fn() -> By<Q> {
    move || By { key, alone: None }
}

fn text(identity: &Identity) -> Result<String, KeyError> {
    if identity.name.is_empty() {
        return Err(KeyError::new(format!("{identity} has no name")));
    }
    Ok(identity.to_string())
}

/// Equal if the first letters are, whatever else.
#[derive(Debug, Clone)]
struct Lax(String);

impl PartialEq for Lax {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Lax {}

impl PartialOrd for Lax {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Lax {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len())
    }
}

impl Hash for Lax {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

#[test]
fn wrong_ones_are_found_out() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let mut names = Vec::new();
    macro_rules! wrong {
        ($check:literal, $make:expr) => {
            caught($check, &Suite::new($check, $make).only($check).run());
            names.push($check);
        };
    }
    wrong!(
        "every_object_has_one",
        by(|identity| match identity.namespace {
            Some(_) => text(identity),
            None => Err(KeyError::new("no namespace")),
        })
    );
    wrong!(
        "two_objects_have_two",
        by(|identity| Ok(identity.name.to_string()))
    );
    wrong!(
        "the_same_object_the_same_key",
        by(|identity| Ok(format!("{identity} {}", CALLS.fetch_add(1, Relaxed))))
    );
    wrong!(
        "another_state_the_same_key",
        by(|identity| Ok(format!("{identity} {}", identity.stamp.version)))
    );
    wrong!("no_key_is_an_error", by(|identity| Ok(identity.to_string())));
    wrong!("by_the_identity_alone", || By {
        key: text,
        alone: Some(|identity| identity.name.to_string()),
    });
    wrong!("keys_have_an_order", by(|identity| text(identity).map(Lax)));
    wrong!(
        "from_any_thread",
        by(|identity| Ok(format!("{identity} {:?}", std::thread::current().id())))
    );
    wrong!(
        "whatever_it_is_given",
        by(|identity| {
            let namespace = identity.namespace.as_deref().unwrap_or("none");
            assert!(!namespace.contains('/'), "a namespace has no slash");
            text(identity)
        })
    );
    all_catch(&ours().run(), &names);
}

#[test]
fn an_error_that_names_nothing_is_found_out() {
    let nameless = by(|identity| text(identity).map_err(|_| KeyError::new("it has no name")));
    let check = "no_key_is_an_error";
    caught(check, &Suite::new("nameless", nameless).only(check).run());
}
