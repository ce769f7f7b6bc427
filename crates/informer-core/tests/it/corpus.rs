//! What the fuzz targets hold to holds for their kept corpus.

use informer_testkit::replay_corpus;

use crate::properties;

#[test]
fn versions() {
    replay_corpus(env!("CARGO_MANIFEST_DIR"), "versions", properties::versions);
}
