//! `Kubeconfig`: one file, or several merged.

use std::{
    collections::{BTreeMap, btree_map},
    fmt,
    path::{MAIN_SEPARATOR, Path, PathBuf},
    sync::Arc,
};

use crate::{
    Error,
    document::{self, Cluster, Context, Named, User},
    text,
};

/// The entries of one or several kubeconfig files, each remembering the file that states it.
#[derive(Clone, Default)]
pub struct Kubeconfig {
    pub(crate) files: Vec<Arc<Path>>,
    pub(crate) current_context: Option<String>,
    pub(crate) clusters: BTreeMap<String, Stated<Cluster>>,
    pub(crate) users: BTreeMap<String, Stated<User>>,
    pub(crate) contexts: BTreeMap<String, Stated<Context>>,
}

/// An entry and the file that states it.
#[derive(Debug, Clone)]
pub(crate) struct Stated<T> {
    pub(crate) file: Arc<Path>,
    pub(crate) entry: T,
}

impl Kubeconfig {
    /// Reads the content of a file. Its relative paths become relative to the folder of `path`, which should be absolute and is not opened.
    ///
    /// # Errors
    /// When the content is no kubeconfig, with line and column, or names an entry twice.
    pub fn parse(content: &[u8], path: &Path) -> Result<Self, Error> {
        let text = text::decode(content).map_err(|problem| Error::in_file(path, problem))?;
        let document = document::parse(&text)
            .map_err(|problem| Error::in_file(path, "not a kubeconfig").caused_by(problem))?;
        // A file that does not say what it is is taken for what it should be.
        for (field, stated, wanted) in [
            ("apiVersion", &document.api_version, "v1"),
            ("kind", &document.kind, "Config"),
        ] {
            if let Some(stated) = stated
                && !stated.is_empty()
                && stated != wanted
            {
                let problem = format_args!("not a kubeconfig: its {field} is {stated:?}, and not {wanted:?}");
                return Err(Error::in_file(path, problem));
            }
        }
        let file: Arc<Path> = path.into();
        let mut config = Self {
            files: vec![Arc::clone(&file)],
            current_context: document.current_context.filter(|name| !name.is_empty()),
            clusters: entries(&file, "cluster", document.clusters)?,
            users: entries(&file, "user", document.users)?,
            contexts: entries(&file, "context", document.contexts)?,
        };
        config.resolve_paths(path.parent().unwrap_or_else(|| Path::new("")));
        Ok(config)
    }

    /// Adds what a file of lower precedence defines: whole entries whose names are new, and the current context if there is none yet.
    ///
    /// (client-go `tools/clientcmd/loader.go`, `ClientConfigLoadingRules.Load`.)
    pub fn merge(&mut self, lower: Self) {
        self.files.extend(lower.files);
        self.current_context = self.current_context.take().or(lower.current_context);
        add_new(&mut self.clusters, lower.clusters);
        add_new(&mut self.users, lower.users);
        add_new(&mut self.contexts, lower.contexts);
    }

    /// The context in use where nobody asks for another.
    #[must_use]
    pub fn current_context(&self) -> Option<&str> {
        self.current_context.as_deref()
    }

    /// The names of all contexts, sorted.
    pub fn context_names(&self) -> impl Iterator<Item = &str> {
        self.contexts.keys().map(String::as_str)
    }

    /// The files, for a sentence.
    pub(crate) fn described(&self) -> String {
        let names: Vec<_> = self.files.iter().map(|file| file.display().to_string()).collect();
        names.join(", ")
    }

    fn resolve_paths(&mut self, folder: &Path) {
        let resolve = |path: &mut Option<String>| {
            if let Some(stated) = path.take().filter(|path| !path.is_empty()) {
                // `join` leaves an absolute path as it is.
                *path = Some(normalized(&folder.join(stated)));
            }
        };
        for Stated { entry, .. } in self.clusters.values_mut() {
            resolve(&mut entry.certificate_authority);
        }
        for Stated { entry, .. } in self.users.values_mut() {
            resolve(&mut entry.client_certificate);
            resolve(&mut entry.client_key);
            resolve(&mut entry.token_file);
            // A name without a folder is looked up in `PATH` (client-go `ResolveLocalPaths`).
            if let Some(exec) = &mut entry.exec
                && exec
                    .command
                    .as_ref()
                    .is_some_and(|command| command.contains(MAIN_SEPARATOR))
            {
                resolve(&mut exec.command);
            }
        }
    }
}

/// Prints names only.
impl fmt::Debug for Kubeconfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kubeconfig")
            .field("files", &self.files)
            .field("current_context", &self.current_context)
            .field("clusters", &self.clusters.keys())
            .field("users", &self.users.keys())
            .field("contexts", &self.contexts.keys())
            .finish()
    }
}

fn entries<T: Default>(
    file: &Arc<Path>,
    kind: &str,
    list: Option<Vec<Named<T>>>,
) -> Result<BTreeMap<String, Stated<T>>, Error> {
    let mut entries = BTreeMap::new();
    for Named { name, entry } in list.unwrap_or_default() {
        match entries.entry(name) {
            btree_map::Entry::Vacant(slot) => slot.insert(Stated {
                file: Arc::clone(file),
                entry: entry.unwrap_or_default(),
            }),
            btree_map::Entry::Occupied(slot) => {
                return Err(Error::in_file(
                    file,
                    format_args!("{kind} {:?} is defined twice", slot.key()),
                ));
            }
        };
    }
    Ok(entries)
}

fn add_new<T>(to: &mut BTreeMap<String, T>, from: BTreeMap<String, T>) {
    for (name, entry) in from {
        to.entry(name).or_insert(entry);
    }
}

/// Without `.` and with `..` taken away where a folder stands before it, as Go's `filepath.Join` does, so that errors name plain paths.
fn normalized(path: &Path) -> String {
    use std::path::Component;
    let mut parts = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(parts.components().next_back(), Some(Component::Normal(_))) => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts.to_string_lossy().into_owned()
}
