//! What the fuzz targets hold to holds for their kept corpus.

use informer_testkit::replay_corpus;

use crate::properties;

#[test]
fn watch() {
    replay_corpus(env!("CARGO_MANIFEST_DIR"), "watch", properties::watch);
}

#[test]
fn list() {
    replay_corpus(env!("CARGO_MANIFEST_DIR"), "list", properties::list);
}

#[cfg(feature = "protobuf")]
#[test]
fn watch_protobuf() {
    replay_corpus(
        env!("CARGO_MANIFEST_DIR"),
        "watch_protobuf",
        properties::watch_protobuf,
    );
}

#[cfg(feature = "protobuf")]
#[test]
fn list_protobuf() {
    replay_corpus(
        env!("CARGO_MANIFEST_DIR"),
        "list_protobuf",
        properties::list_protobuf,
    );
}
