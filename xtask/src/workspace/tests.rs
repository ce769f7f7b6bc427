//! Small workspaces on disk for the tests of the checks, and tests of the reading itself.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;

/// A workspace in a temporary folder.
#[derive(Debug)]
pub(crate) struct Fixture(TempDir);

impl Fixture {
    pub(crate) fn new() -> Self {
        let fixture = Self(tempfile::tempdir().unwrap());
        fixture.write(
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n",
        );
        fixture
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let file = self.root().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// Adds a member with this manifest and an empty library.
    pub(crate) fn manifest(self, name: &str, manifest: &str) -> Self {
        self.write(&format!("crates/{name}/Cargo.toml"), manifest);
        self.write(&format!("crates/{name}/src/lib.rs"), "//! Empty.\n");
        self
    }

    /// Adds a published member of a layer, without a runtime.
    pub(crate) fn member(self, name: &str, layer: u64, rest: &str) -> Self {
        self.manifest(
            name,
            &format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
                 [package.metadata.informer]\nlayer = {layer}\nruntime = false\n{rest}\n"
            ),
        )
    }
}

#[test]
fn an_order_to_publish_puts_needs_first_and_ignores_edges_that_packaging_drops() {
    let fixture = Fixture::new()
        .member("zlow", 0, "[dev-dependencies]\nahigh = { path = \"../ahigh\" }")
        .member(
            "ahigh",
            2,
            "[dependencies]\nmid = { path = \"../mid\", version = \"0.1.0\" }",
        )
        .member(
            "mid",
            1,
            "[dependencies]\nzlow = { path = \"../zlow\", version = \"0.1.0\" }",
        )
        .manifest(
            "tool",
            "[package]\nname = \"tool\"\npublish = false\nedition = \"2024\"\n",
        );
    let workspace = Workspace::load(fixture.root()).unwrap();
    assert_eq!(workspace.publish_order().unwrap(), ["zlow", "mid", "ahigh"]);
}

#[test]
fn a_need_that_is_not_published_leaves_no_order() {
    let fixture = Fixture::new()
        .member("open", 1, "[dependencies]\nclosed = { path = \"../closed\" }")
        .manifest(
            "closed",
            "[package]\nname = \"closed\"\npublish = false\nedition = \"2024\"\n",
        );
    let error = Workspace::load(fixture.root())
        .unwrap()
        .publish_order()
        .unwrap_err()
        .to_string();
    assert!(error.contains("open"), "{error}");
}

#[test]
fn a_closure_holds_what_default_features_compile_and_not_the_crate_itself() {
    let fixture = Fixture::new().member("low", 0, "").member("other", 0, "").member(
        "top",
        1,
        "[dependencies]\nlow = { path = \"../low\" }\nother = { path = \"../other\", optional = true }",
    );
    let names: Vec<String> = closure(fixture.root(), "top").unwrap().into_iter().collect();
    assert_eq!(names, ["low"]);
}
