//! What a reflector and its objects are called.

use informer_core::NamespaceName;
use informer_reflector::{Options, Reflector};

use crate::rig::Rig;

fn reflector_of(options: Options) -> (String, String, u32) {
    let rig = Rig::new();
    let line = line!() + 1;
    let reflector = Reflector::new(rig.source, NamespaceName, rig.sink, rig.clock, options);
    let status = reflector.status().get();
    (status.name.to_string(), status.kind.to_string(), line)
}

/// client-go `NewReflectorWithOptions`: file and line of the first caller outside of its package.
#[test]
fn it_is_called_after_the_place_where_it_was_made() {
    let (name, kind, line) = reflector_of(Options::default());
    assert_eq!(name, format!("{}:{line}", file!()));
    assert_eq!(kind, "alloc::string::String");
}

/// client-go `TestReflectorOptions…`: what was given counts.
#[test]
fn what_the_options_say_counts() {
    let mut options = Options::named("pods of node n1");
    options.type_description = "v1/Pod".into();
    let (name, kind, _) = reflector_of(options);
    assert_eq!((name.as_str(), kind.as_str()), ("pods of node n1", "v1/Pod"));
}
