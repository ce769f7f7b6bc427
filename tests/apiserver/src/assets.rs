//! Where the servers' binaries are.

use std::{env, io, path::PathBuf, process::Command, sync::OnceLock};

/// The folder with `etcd`, `kube-apiserver` and `informer-harness`: what `INFORMER_ASSETS` names, else what `cargo xtask assets` finds
/// or builds.
///
/// # Errors
/// When they cannot be built; what `cargo xtask assets` said is part of the error.
pub fn folder() -> io::Result<PathBuf> {
    static FOLDER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    FOLDER
        .get_or_init(|| find().map_err(|error| error.to_string()))
        .clone()
        .map_err(io::Error::other)
}

fn find() -> io::Result<PathBuf> {
    if let Some(folder) = env::var_os("INFORMER_ASSETS") {
        return Ok(folder.into());
    }
    let output = Command::new(env!("CARGO"))
        .args(["xtask", "assets"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("`cargo xtask assets` failed: {said}")));
    }
    Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}
