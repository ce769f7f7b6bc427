//! A child process on a leash: it dies with the handle, and with the process that holds it.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Mutex, PoisonError},
};

/// Runs the server in the background and prints its process id. Each line of standard input is a signal to send to it; its end, also
/// because the process that holds the other end of the pipe is gone, is signal 9. Ends when the server has ended, then removes `$2`.
///
/// The shell alone signals its own child, which it reaps itself: no id is ever used after it was given to another process.
const LEASH: &str = r#"
log=$1; remove=$2; shift 2
exec 3<&0
"$@" >"$log" 2>&1 </dev/null 3<&- &
server=$!
echo "$server"
exec >/dev/null 2>&1
{
  while read -r signal; do kill -s "$signal" "$server"; done
  kill -s KILL "$server"
} <&3 &
watcher=$!
wait "$server"
code=$?
kill -s KILL "$watcher"
if [ -n "$remove" ]; then rm -rf "$remove"; fi
exit "$code"
"#;

/// A server process. Dropping it kills the server and waits for its end.
#[derive(Debug)]
pub struct Leashed {
    shell: Mutex<Child>,
    signals: Option<Mutex<ChildStdin>>,
    pid: u32,
    log: PathBuf,
}

impl Leashed {
    /// Starts `program` with `arguments`; both its outputs go to the file `log`. `remove` is a folder to be removed after its end.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(
        program: &Path,
        arguments: &[String],
        log: &Path,
        remove: Option<&Path>,
    ) -> io::Result<Self> {
        File::create(log)?;
        let mut shell = Command::new("sh")
            .args(["-c", LEASH, "leash"])
            .arg(log)
            .arg(remove.unwrap_or_else(|| Path::new("")))
            .arg(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // What a terminal or a runner sends to the group of the tests must not end the leash before the server.
            .process_group(0)
            .spawn()?;
        let (Some(stdin), Some(stdout)) = (shell.stdin.take(), shell.stdout.take()) else {
            return Err(io::Error::other("a child without pipes"));
        };
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let pid = line
            .trim()
            .parse()
            .map_err(|_| io::Error::other(format!("{} did not start: {line:?}", program.display())))?;
        Ok(Self {
            shell: Mutex::new(shell),
            signals: Some(Mutex::new(stdin)),
            pid,
            log: log.to_owned(),
        })
    }

    /// The process id of the server.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Sends a signal by its name: `TERM`, `STOP`, `CONT`.
    ///
    /// # Errors
    /// When the server has ended.
    pub fn signal(&self, name: &str) -> io::Result<()> {
        let Some(signals) = &self.signals else {
            return Ok(());
        };
        let mut signals = signals.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(signals, "{name}")
    }

    /// Whether the server has ended, by itself or not.
    pub fn has_ended(&self) -> bool {
        self.exit_code().is_some()
    }

    /// The code that the server has ended with; 128 and the number of the signal that ended it. `None` while it runs.
    pub fn exit_code(&self) -> Option<i32> {
        let mut shell = self.shell.lock().unwrap_or_else(PoisonError::into_inner);
        shell.try_wait().ok().flatten()?.code()
    }

    /// What it printed so far.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn output(&self) -> io::Result<String> {
        let output = fs::read(&self.log)?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    /// The last lines that it printed, for an error.
    #[must_use]
    pub fn last_words(&self) -> String {
        let output = self.output().unwrap_or_default();
        let lines: Vec<&str> = output.lines().collect();
        lines[lines.len().saturating_sub(15)..].join("\n")
    }
}

impl Drop for Leashed {
    fn drop(&mut self) {
        self.signals = None;
        let mut shell = self.shell.lock().unwrap_or_else(PoisonError::into_inner);
        // The shell ends once the server has, and nobody resists signal 9.
        let _ = shell.wait();
    }
}

/// Whether a process of this id exists.
///
/// # Errors
/// When it cannot be told.
pub fn exists(pid: u32) -> io::Result<bool> {
    let status = Command::new("kill")
        .args(["-s", "0", &pid.to_string()])
        .stderr(Stdio::null())
        .status()?;
    Ok(status.success())
}
