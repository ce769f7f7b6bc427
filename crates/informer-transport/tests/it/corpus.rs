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
