//! Each layer from outside: a crate that depends on it and on the contracts, and on nothing else of ours, compiles what the kept list says
//! and no more. A change of a list is a change to review: it is what every user of the crate will compile.

use std::{collections::BTreeSet, env, fs, path::Path, process::Command};

const OURS: &str = "informer-";

/// What a package compiles with its default features, itself included.
fn closure(package: &str) -> BTreeSet<String> {
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args([
            "tree",
            "--offline",
            "-p",
            package,
            "-e",
            "normal",
            "--prefix",
            "none",
        ])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let printed = String::from_utf8(output.stdout).unwrap();
    printed
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

fn kept(of: &str) -> BTreeSet<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("closures/{of}.txt"));
    let text = fs::read_to_string(&file).unwrap();
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// The outside crate of a layer compiles the layer, its kept list, and nothing else.
fn check(layer: &str) {
    let outside = format!("outside-{layer}");
    let layer = format!("{OURS}{layer}");
    let mut compiled = closure(&outside);
    assert!(compiled.remove(&outside), "{outside} is there");
    assert!(compiled.remove(&layer), "{outside} uses {layer}");
    let kept = kept(&layer);
    let new: Vec<_> = compiled.difference(&kept).collect();
    let gone: Vec<_> = kept.difference(&compiled).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "a user of {layer} now compiles {new:?} and no longer {gone:?}: if that is meant, say so in tests/swap/closures/{layer}.txt"
    );
}

/// What a crate of ours depends on by itself, of ours.
fn ours_of(manifest: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(manifest);
    let text = fs::read_to_string(&file).unwrap();
    let names = text.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
    names
        .filter(|name| name.starts_with(OURS))
        .map(str::to_owned)
        .collect()
}

#[test]
fn an_outside_crate_names_one_layer_and_the_contracts() {
    for layer in ["deltafifo", "reflector", "sharedinformer", "store", "workqueue"] {
        let ours = ours_of(&format!("outside/{layer}/Cargo.toml"));
        assert_eq!(ours, ["informer-core".to_owned(), format!("{OURS}{layer}")]);
    }
}

#[test]
fn the_store_alone() {
    check("store");
}

#[test]
fn the_delta_queues_alone() {
    check("deltafifo");
}

#[test]
fn the_reflector_alone() {
    check("reflector");
}

#[test]
fn the_work_queue_alone() {
    check("workqueue");
}

#[test]
fn the_shared_informer_alone() {
    check("sharedinformer");
}

#[test]
fn no_runtime_and_no_network_below_the_shared_informer() {
    for layer in ["deltafifo", "reflector", "store", "workqueue"] {
        let compiled = closure(&format!("outside-{layer}"));
        for banned in ["tokio", "hyper", "serde", "k8s-openapi", "kube"] {
            assert!(!compiled.contains(banned), "{layer} compiles {banned}");
        }
    }
}
