//! The kept corpus of a fuzz target, replayed by an ordinary test.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

/// Gives every file of `tests/corpus/TARGET` below the crate's folder (`env!("CARGO_MANIFEST_DIR")`) to `holds`, which panics where it does
/// not hold.
///
/// # Panics
/// With the files for which it panicked; when the folder cannot be read; and when it has ten files or fewer, which is no corpus.
pub fn replay_corpus(crate_folder: &str, target: &str, holds: impl Fn(&[u8])) {
    let folder = Path::new(crate_folder).join("tests/corpus").join(target);
    let files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a kept corpus")
        .map(|entry| entry.expect("a file").path())
        .collect();
    assert!(files.len() > 10, "a corpus of {}", files.len());
    let fails = |path: &&PathBuf| {
        let data = fs::read(path).expect("a file");
        catch_unwind(AssertUnwindSafe(|| holds(&data))).is_err()
    };
    let failed: Vec<_> = files.iter().filter(fails).collect();
    assert!(failed.is_empty(), "{failed:?}");
}
