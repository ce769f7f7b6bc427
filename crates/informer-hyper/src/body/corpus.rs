//! What the fuzz targets hold to holds for their kept corpus.

use informer_testkit::replay_corpus;

use super::properties;

#[test]
fn gunzip() {
    replay_corpus(env!("CARGO_MANIFEST_DIR"), "gunzip", properties::gunzip);
}
