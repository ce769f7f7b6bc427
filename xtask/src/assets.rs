//! `assets`: the real servers and the client-go harness, in one folder.
//!
//! The folder holds `etcd`, `kube-apiserver` and `informer-harness`. A server named by the environment is used as
//! it is, in the order the ecosystem knows: `TEST_ASSET_ETCD` and `TEST_ASSET_KUBE_APISERVER` (a file each), then
//! `KUBEBUILDER_ASSETS` (a folder). Everything else is built once with Go from the modules below
//! `tests/reference`, into `target/assets`, and again only when a module's files change.
//!
//! Safe to call from several processes at once: a file lock makes the second wait for the first.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Result, workspace};

/// Names the folder to tests, so that they need to know nothing of how it came to be.
pub(crate) const VARIABLE: &str = "INFORMER_ASSETS";

const ETCD: Tool = Tool {
    name: "etcd",
    module: "tests/reference/etcd",
    package: "go.etcd.io/etcd/server/v3",
    variable: Some("TEST_ASSET_ETCD"),
    link: "",
    also: &[],
    test: false,
};

const APISERVER: Tool = Tool {
    name: "kube-apiserver",
    module: "tests/reference/kube-apiserver",
    package: "k8s.io/kubernetes/cmd/kube-apiserver",
    variable: Some("TEST_ASSET_KUBE_APISERVER"),
    link: "-X k8s.io/component-base/version.gitVersion=",
    also: &[],
    test: false,
};

const HARNESS: Tool = Tool {
    name: "informer-harness",
    module: "tests/reference/harness",
    package: "./cmd/informer-harness",
    variable: None,
    link: "",
    also: &[],
    test: false,
};

/// What client-go does, for `cargo xtask parity`: a test program, since its bubbles of virtual time want a test around them.
const ORACLE: Tool = Tool {
    name: "oracle",
    module: "tests/reference/oracle",
    package: ".",
    variable: None,
    link: "",
    also: &[],
    test: true,
};

/// The same of the last client-go whose informers stand on the `DeltaFIFO`.
const OLD_ORACLE: Tool = Tool {
    name: "oracle-v030",
    module: "tests/reference/oracle-v030",
    package: ".",
    variable: None,
    link: "",
    also: &["tests/reference/oracle/common"],
    test: true,
};

/// A binary and where it comes from.
struct Tool {
    name: &'static str,
    /// Folder of the Go module that pins it, relative to the root.
    module: &'static str,
    package: &'static str,
    /// Names a ready binary.
    variable: Option<&'static str>,
    /// A linker flag that ends where the version goes.
    link: &'static str,
    /// Folders of other modules that it is made of.
    also: &'static [&'static str],
    /// It is a test, compiled and not run.
    test: bool,
}

/// Returns the folder of the oracles, after building what is missing.
pub(crate) fn oracles(root: &Path) -> Result<PathBuf> {
    let (assets, _lock) = locked(root)?;
    let built = assets.join("oracles");
    fs::create_dir_all(&built)?;
    for tool in [&ORACLE, &OLD_ORACLE] {
        let version = pinned(root, tool.module, "k8s.io/client-go")?;
        build(root, tool, &version, &built)?;
    }
    Ok(built)
}

/// Returns the folder, after building what is missing.
pub(crate) fn provide(root: &Path) -> Result<PathBuf> {
    let environment = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let given = [ETCD, APISERVER].map(|tool| given(&tool, &environment));
    let given: Vec<Option<PathBuf>> = given.into_iter().collect::<Result<_>>()?;

    let (assets, _lock) = locked(root)?;
    let kubernetes = pinned(root, APISERVER.module, "k8s.io/kubernetes")?;
    let etcd = pinned(root, ETCD.module, ETCD.package)?;
    let built = assets.join(format!("k8s-{kubernetes}-etcd-{etcd}"));
    fs::create_dir_all(&built)?;
    let mut found = Vec::new();
    for ((tool, version), given) in [(&ETCD, &etcd), (&APISERVER, &kubernetes)].into_iter().zip(given) {
        found.push(match given {
            Some(path) => path,
            None => build(root, tool, version, &built)?,
        });
    }
    found.push(build(root, &HARNESS, &kubernetes, &built)?);
    if found.iter().all(|path| path.starts_with(&built)) {
        return Ok(built);
    }
    // Some come from elsewhere: a folder of links per combination, so that callers always see one folder.
    let listed: Vec<String> = found.iter().map(|path| path.display().to_string()).collect();
    let linked = assets.join(format!(
        "given-{:016x}",
        fingerprint([listed.join("\n").as_bytes()])
    ));
    fs::create_dir_all(&linked)?;
    for (tool, path) in [&ETCD, &APISERVER, &HARNESS].into_iter().zip(found) {
        link(&path, &linked.join(tool.name))?;
    }
    Ok(linked)
}

/// The folder of all assets, for this process alone as long as the file is open.
fn locked(root: &Path) -> Result<(PathBuf, File)> {
    let assets = root.join("target/assets");
    fs::create_dir_all(&assets)?;
    let lock = File::create(assets.join(".lock"))?;
    if lock.try_lock().is_err() {
        eprintln!("xtask: another process is building the servers, waiting for it");
        lock.lock()?;
    }
    Ok((assets, lock))
}

/// The binary that the environment names for a tool; a name that leads nowhere is an error.
fn given(tool: &Tool, environment: &dyn Fn(&str) -> Option<OsString>) -> Result<Option<PathBuf>> {
    let file = tool
        .variable
        .and_then(|name| Some((name, PathBuf::from(environment(name)?))));
    let folder = "KUBEBUILDER_ASSETS";
    let named = file.or_else(|| Some((folder, PathBuf::from(environment(folder)?).join(tool.name))));
    match named {
        None => Ok(None),
        Some((_, path)) if path.is_file() => Ok(Some(std::path::absolute(path)?)),
        Some((variable, path)) => Err(format!(
            "{variable} promises {} at {}, and there is no such file",
            tool.name,
            path.display()
        )
        .into()),
    }
}

/// The version that a module's `go.mod` requires of a path, without its `v`.
fn pinned(root: &Path, module: &str, path: &str) -> Result<String> {
    let file = root.join(module).join("go.mod");
    let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let version = text.lines().find_map(|line| {
        let mut words = line.trim().trim_start_matches("require ").split_whitespace();
        (words.next()? == path).then(|| words.next())?
    });
    let version = version.ok_or_else(|| format!("{} does not require {path}", file.display()))?;
    Ok(version.trim_start_matches('v').to_owned())
}

/// Builds one tool into `into` unless it is there, made from the same files by the same command.
fn build(root: &Path, tool: &Tool, version: &str, into: &Path) -> Result<PathBuf> {
    let module = root.join(tool.module);
    let mut link_flags = "-s -w".to_owned();
    if !tool.link.is_empty() {
        link_flags.push_str(&format!(" {}v{version}", tool.link));
    }
    let binary = into.join(tool.name);
    let stamp = into.join(format!("{}.stamp", tool.name));
    let made_from = format!("{:016x}\n", sources(root, tool, &link_flags)?);
    if binary.is_file() && fs::read_to_string(&stamp).is_ok_and(|stamp| stamp == made_from) {
        return Ok(binary);
    }
    eprintln!(
        "xtask: building {} from {} with Go, once (kube-apiserver: some minutes)",
        tool.name, tool.module
    );
    let unfinished = into.join(format!("{}.unfinished", tool.name));
    let status = Command::new("go")
        .current_dir(&module)
        .envs([("CGO_ENABLED", "0"), ("GOWORK", "off")])
        .args(if tool.test {
            &["test", "-c"][..]
        } else {
            &["build"]
        })
        .args(["-trimpath", "-buildvcs=false", "-ldflags", &link_flags, "-o"])
        .args([unfinished.as_os_str(), tool.package.as_ref()])
        .stdout(Stdio::null())
        .status()
        .map_err(|error| missing_go(tool, &error))?;
    if !status.success() {
        return Err(format!(
            "`go build` of {} in {} failed ({status}); {}",
            tool.name,
            tool.module,
            what_to_install(tool)
        )
        .into());
    }
    // Renamed into place, so that a server which is running keeps the file it was started from.
    fs::rename(&unfinished, &binary)?;
    fs::write(&stamp, made_from)?;
    Ok(binary)
}

fn missing_go(tool: &Tool, error: &std::io::Error) -> String {
    format!(
        "cannot build {}: `go` does not start ({error}); {}",
        tool.name,
        what_to_install(tool)
    )
}

fn what_to_install(tool: &Tool) -> String {
    let or_bring = match tool.variable {
        Some(_) => ", or point KUBEBUILDER_ASSETS at a folder with etcd and kube-apiserver",
        None => "",
    };
    format!(
        "install Go 1.26 or newer (https://go.dev/dl) with a way to the Go module proxy{or_bring}, or leave the real \
         tier out with `cargo xtask test --quick`"
    )
}

/// One number for a module's files and the flags that matter.
fn sources(root: &Path, tool: &Tool, flags: &str) -> Result<u64> {
    let mut parts = vec![flags.as_bytes().to_vec()];
    for file in workspace::files(root)?.into_iter().filter(|file| {
        let mut folders = tool.also.iter().chain([&tool.module]);
        folders.any(|folder| file.starts_with(folder))
    }) {
        parts.push(file.as_os_str().as_encoded_bytes().to_vec());
        parts.push(fs::read(root.join(&file))?);
    }
    Ok(fingerprint(parts))
}

/// FNV-1a over the parts, each closed by its length: equal on every machine and in every release.
fn fingerprint(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        let part = part.as_ref();
        for byte in part.iter().copied().chain((part.len() as u64).to_le_bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    hash
}

fn link(target: &Path, at: &Path) -> Result {
    if fs::read_link(at).is_ok_and(|existing| existing == target) {
        return Ok(());
    }
    if fs::symlink_metadata(at).is_ok() {
        fs::remove_file(at)?;
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, at)?;
    #[cfg(not(unix))]
    fs::copy(target, at)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment<'a>(pairs: &'a [(&str, &Path)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        |name| {
            pairs
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| value.as_os_str().to_owned())
        }
    }

    #[test]
    fn a_file_named_by_the_environment_wins_over_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let (single, folder) = (dir.path().join("my-etcd"), dir.path().join("folder"));
        fs::create_dir(&folder).unwrap();
        for file in [&single, &folder.join("etcd"), &folder.join("kube-apiserver")] {
            fs::write(file, "").unwrap();
        }
        let set = [
            ("TEST_ASSET_ETCD", single.as_path()),
            ("KUBEBUILDER_ASSETS", folder.as_path()),
        ];
        assert_eq!(given(&ETCD, &environment(&set)).unwrap(), Some(single.clone()));
        assert_eq!(
            given(&APISERVER, &environment(&set)).unwrap(),
            Some(folder.join("kube-apiserver"))
        );
        assert_eq!(given(&ETCD, &environment(&[])).unwrap(), None);
    }

    #[test]
    fn a_name_that_leads_nowhere_is_an_error_that_says_which() {
        let dir = tempfile::tempdir().unwrap();
        let set = [("KUBEBUILDER_ASSETS", dir.path())];
        let error = given(&APISERVER, &environment(&set)).unwrap_err().to_string();
        assert!(
            error.contains("KUBEBUILDER_ASSETS") && error.contains("kube-apiserver"),
            "{error}"
        );
    }

    #[test]
    fn versions_come_from_the_go_modules() {
        let root = workspace::root();
        assert_eq!(
            pinned(&root, APISERVER.module, "k8s.io/kubernetes").unwrap(),
            "1.37.2"
        );
        assert_eq!(pinned(&root, ETCD.module, ETCD.package).unwrap(), "3.7.0");
        assert!(pinned(&root, ETCD.module, "example.com/other").is_err());
    }

    #[test]
    fn a_fingerprint_tells_apart_where_parts_end() {
        assert_ne!(fingerprint(["ab", "c"]), fingerprint(["a", "bc"]));
        assert_eq!(fingerprint(["ab", "c"]), fingerprint(["ab", "c"]));
    }
}
