//! `Environment`: variables, files and the time, as one value that tests can build.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// What a configuration depends on besides its overrides. Kept by the credentials and certificates made from it, which read files again.
pub trait Environment: Send + Sync {
    /// The value of an environment variable.
    fn var(&self, name: &str) -> Option<OsString>;

    /// The content of a file.
    ///
    /// # Errors
    /// Of kind `NotFound` when there is none, which is not always a failure here; any other when it cannot be read.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The folder that relative paths in variables are relative to.
    ///
    /// # Errors
    /// When there is none any more.
    fn current_dir(&self) -> io::Result<PathBuf>;

    /// The time now. Never goes backward.
    fn now(&self) -> Instant;
}

/// The environment of the process.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessEnvironment;

impl Environment for ProcessEnvironment {
    fn var(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        std::env::current_dir()
    }

    #[expect(clippy::disallowed_methods, reason = "this is the edge where time enters")]
    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// An environment of written variables and files, whose time stands still until it is moved. For tests. Clones share files and time.
#[derive(Debug, Clone)]
pub struct MemoryEnvironment {
    variables: BTreeMap<String, OsString>,
    current_dir: PathBuf,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    files: BTreeMap<PathBuf, Vec<u8>>,
    n_reads: BTreeMap<PathBuf, usize>,
    now: Instant,
}

impl MemoryEnvironment {
    /// Nothing at all, in the folder `/`.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "an `Instant` can only be had from the clock; this one then stands still"
    )]
    pub fn new() -> Self {
        Self {
            variables: BTreeMap::new(),
            current_dir: PathBuf::from("/"),
            shared: Arc::new(Mutex::new(Shared {
                files: BTreeMap::new(),
                n_reads: BTreeMap::new(),
                now: Instant::now(),
            })),
        }
    }

    /// With a variable.
    #[must_use]
    pub fn var(mut self, name: impl Into<String>, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// With a file.
    #[must_use]
    pub fn file(self, path: impl Into<PathBuf>, content: impl Into<Vec<u8>>) -> Self {
        self.write(path, content);
        self
    }

    /// In another folder.
    #[must_use]
    pub fn in_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.current_dir = path.into();
        self
    }

    /// Writes a file.
    pub fn write(&self, path: impl Into<PathBuf>, content: impl Into<Vec<u8>>) {
        self.lock().files.insert(path.into(), content.into());
    }

    /// Removes a file.
    pub fn remove(&self, path: impl AsRef<Path>) {
        self.lock().files.remove(path.as_ref());
    }

    /// How often a file was asked for.
    #[must_use]
    pub fn n_reads(&self, path: impl AsRef<Path>) -> usize {
        self.lock().n_reads.get(path.as_ref()).copied().unwrap_or(0)
    }

    /// Moves the time.
    pub fn advance(&self, by: Duration) {
        self.lock().now += by;
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryEnvironment {
    fn default() -> Self {
        Self::new()
    }
}

impl Environment for MemoryEnvironment {
    fn var(&self, name: &str) -> Option<OsString> {
        self.variables.get(name).cloned()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut shared = self.lock();
        *shared.n_reads.entry(path.to_path_buf()).or_default() += 1;
        shared
            .files
            .get(path)
            .cloned()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok(self.current_dir.clone())
    }

    fn now(&self) -> Instant {
        self.lock().now
    }
}
