//! What the fuzz targets hold to holds for their kept corpus.

use std::{fs, panic::catch_unwind, path::Path};

use crate::properties;

fn replay(target: &str, holds: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/corpus")
        .join(target);
    let files: Vec<_> = fs::read_dir(folder)
        .expect("a kept corpus")
        .map(|entry| entry.expect("a file").path())
        .collect();
    assert!(files.len() > 10, "a corpus of {}", files.len());
    let fails = |path: &&std::path::PathBuf| {
        let data = fs::read(path).expect("a file");
        catch_unwind(|| holds(&data)).is_err()
    };
    let failed: Vec<_> = files.iter().filter(fails).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn versions() {
    replay("versions", properties::versions);
}
