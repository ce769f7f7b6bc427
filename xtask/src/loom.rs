//! The locks that are written by hand, in crates without a runtime, under every interleaving of their tests.

use std::path::Path;

use crate::Result;
use crate::process::{cargo, run as execute};

/// Crates whose own tests have some under loom.
const CRATES: [&str; 3] = ["informer-core", "informer-store", "informer-workqueue"];

/// In a target folder of its own: the flag is another build of everything, and must not push the usual one out.
pub(crate) fn run(root: &Path) -> Result {
    let mut test = cargo(root, &["test", "--quiet", "--lib"]);
    test.args(CRATES.iter().flat_map(|name| ["--package", name]))
        .arg("under_loom")
        .env("RUSTFLAGS", "--cfg loom")
        .env("CARGO_TARGET_DIR", root.join("target/loom"));
    execute(&mut test)
}
