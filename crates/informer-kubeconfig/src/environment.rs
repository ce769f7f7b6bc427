//! `Environment`: variables, files and the time, as one value that tests can build.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt,
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use informer_core::BoxFuture;

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

    /// The time of the calendar, which exec plug-ins count the life of credentials in.
    #[expect(clippy::disallowed_methods, reason = "this is the edge where time enters")]
    fn system_time(&self) -> SystemTime {
        SystemTime::now()
    }

    /// Whether standard input is a terminal, at which somebody may be.
    fn has_terminal(&self) -> bool {
        io::stdin().is_terminal()
    }

    /// Whether there is a program at this path.
    fn has_program(&self, path: &Path) -> bool {
        path.is_file()
    }

    /// Runs an exec plug-in to its end. Its standard error is that of the process, for people. What it prints is read up to 1 MiB.
    ///
    /// # Cancel safety
    /// Dropping the future ends the program, and on Unix the programs that it began, unless it shares the terminal with a person.
    ///
    /// # Errors
    /// When it cannot be run, or prints more; of kind `InvalidData` then.
    fn run(&self, command: PluginCommand) -> BoxFuture<'static, io::Result<PluginOutput>> {
        Box::pin(crate::process::run(command))
    }
}

/// How an exec plug-in is called. Besides these variables it has those of the process.
#[derive(Clone)]
#[non_exhaustive]
pub struct PluginCommand {
    /// The program: a path, or a name that is looked up in `PATH`.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables, `KUBERNETES_EXEC_INFO` among them.
    pub variables: Vec<(String, String)>,
    /// It may read from standard input.
    pub interactive: bool,
}

/// Arguments and variables may be secrets.
impl fmt::Debug for PluginCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginCommand")
            .field("program", &self.program)
            .field("interactive", &self.interactive)
            .finish_non_exhaustive()
    }
}

/// How an exec plug-in ended.
#[derive(Clone)]
pub struct PluginOutput {
    /// Its exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// What it printed: credentials.
    pub printed: Vec<u8>,
}

impl fmt::Debug for PluginOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginOutput")
            .field("code", &self.code)
            .finish_non_exhaustive()
    }
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
#[derive(Clone)]
pub struct MemoryEnvironment {
    variables: BTreeMap<String, OsString>,
    current_dir: PathBuf,
    plugins: BTreeMap<PathBuf, Written>,
    has_terminal: bool,
    shared: Arc<Mutex<Shared>>,
}

/// A plug-in that is a function.
type Written = Arc<dyn Fn(&PluginCommand) -> io::Result<PluginOutput> + Send + Sync>;

impl fmt::Debug for MemoryEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryEnvironment")
            .field("current_dir", &self.current_dir)
            .field("plugins", &self.plugins.keys())
            .finish_non_exhaustive()
    }
}

struct Shared {
    files: BTreeMap<PathBuf, Vec<u8>>,
    n_reads: BTreeMap<PathBuf, usize>,
    began: Instant,
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
        let now = Instant::now();
        Self {
            variables: BTreeMap::new(),
            current_dir: PathBuf::from("/"),
            plugins: BTreeMap::new(),
            has_terminal: false,
            shared: Arc::new(Mutex::new(Shared {
                files: BTreeMap::new(),
                n_reads: BTreeMap::new(),
                began: now,
                now,
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

    /// With a program that is this function, to be run as an exec plug-in. No other program can be run.
    #[must_use]
    pub fn plugin(
        mut self,
        program: impl Into<PathBuf>,
        run: impl Fn(&PluginCommand) -> io::Result<PluginOutput> + Send + Sync + 'static,
    ) -> Self {
        self.plugins.insert(program.into(), Arc::new(run));
        self
    }

    /// With a person at a terminal.
    #[must_use]
    pub fn with_terminal(mut self) -> Self {
        self.has_terminal = true;
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

    /// The beginning of 1970, and what the time was moved since.
    fn system_time(&self) -> SystemTime {
        let shared = self.lock();
        SystemTime::UNIX_EPOCH + shared.now.saturating_duration_since(shared.began)
    }

    fn has_terminal(&self) -> bool {
        self.has_terminal
    }

    fn has_program(&self, path: &Path) -> bool {
        self.plugins.contains_key(path)
    }

    fn run(&self, command: PluginCommand) -> BoxFuture<'static, io::Result<PluginOutput>> {
        let output = match self.plugins.get(&command.program) {
            Some(plugin) => plugin(&command),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        Box::pin(std::future::ready(output))
    }
}
