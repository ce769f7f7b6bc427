//! Where files are looked for, and in which order.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::{Environment, Error, Kubeconfig, Overrides};

/// What the search for files found.
#[derive(Debug)]
pub(crate) enum Found {
    /// At least one file.
    Files(Kubeconfig),
    /// `KUBECONFIG` is set, and none of its files exists.
    AllMissing(Vec<PathBuf>),
    /// Nobody configured anything.
    Nothing,
}

/// Looks for files: the explicit one, which must exist, or those of `KUBECONFIG`, or the one in the home folder.
pub(crate) fn find(environment: &dyn Environment, overrides: &Overrides) -> Result<Found, Error> {
    if let Some(path) = &overrides.kubeconfig {
        let path = absolute(environment, path);
        let file = read(environment, &path)?
            .ok_or_else(|| Error::in_file(&path, "there is no such kubeconfig file"))?;
        return Ok(Found::Files(file));
    }
    let listed = environment.var("KUBECONFIG").filter(|list| !list.is_empty());
    let paths = match &listed {
        Some(list) => listed_paths(environment, list),
        None => home(environment)
            .map(|home| home.join(".kube/config"))
            .into_iter()
            .collect(),
    };
    let mut merged: Option<Kubeconfig> = None;
    for path in &paths {
        match (read(environment, path)?, &mut merged) {
            (None, _) => {}
            (Some(file), Some(higher)) => higher.merge(file),
            (Some(file), none) => *none = Some(file),
        }
    }
    Ok(match merged {
        Some(files) => Found::Files(files),
        None if listed.is_some() => Found::AllMissing(paths),
        None => Found::Nothing,
    })
}

/// A file, or `None` if it does not exist.
fn read(environment: &dyn Environment, path: &Path) -> Result<Option<Kubeconfig>, Error> {
    match environment.read(path) {
        Ok(content) => Kubeconfig::parse(&content, path).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::in_file(path, "cannot read this kubeconfig file").caused_by(error)),
    }
}

/// The non-empty entries of the list, each once.
fn listed_paths(environment: &dyn Environment, list: &std::ffi::OsStr) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for path in std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()) {
        let path = absolute(environment, &path);
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

fn home(environment: &dyn Environment) -> Option<PathBuf> {
    ["HOME", "USERPROFILE"]
        .iter()
        .find_map(|name| environment.var(name).filter(|home| !home.is_empty()))
        .map(PathBuf::from)
}

/// The path from the current folder on.
pub(crate) fn absolute(environment: &dyn Environment, path: &Path) -> PathBuf {
    match environment.current_dir() {
        Ok(folder) => folder.join(path),
        // Without a current folder a relative path finds nothing, and the error names it.
        Err(_) => path.to_path_buf(),
    }
}
