//! Runs the program, away from whatever is configured on the machine.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio},
};

use informer_apiserver::{Options, Server};
use informer_testkit::FakeApi;
use tempfile::TempDir;

/// An empty home.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// The program with these arguments.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_informer"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.0.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a kubeconfig for a server and returns its path.
    pub(crate) fn kubeconfig(&self, server: &str) -> PathBuf {
        self.file(
            "config",
            &format!(
                "apiVersion: v1\nkind: Config\ncurrent-context: it\n\
                 clusters: [{{name: it, cluster: {{server: \"{server}\"}}}}]\n\
                 contexts: [{{name: it, context: {{cluster: it, namespace: ns}}}}]\n"
            ),
        )
    }

    pub(crate) fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A server with built-in kinds and nothing in it, that does nothing by itself.
pub(crate) async fn server() -> Server {
    Server::start(Options::serving(FakeApi::with_builtins()))
        .await
        .unwrap()
}

/// The program while it runs, read line by line. Killed when dropped.
pub(crate) struct Running {
    child: Child,
    lines: Option<std::io::Lines<BufReader<ChildStdout>>>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self {
            child,
            lines: Some(lines),
        }
    }

    /// The next line; waits for it.
    pub(crate) fn line(&mut self) -> String {
        let lines = self.lines.as_mut().expect("it is still read");
        lines.next().expect("the program goes on").unwrap()
    }

    /// Reads no more.
    pub(crate) fn close(&mut self) {
        self.lines = None;
    }

    pub(crate) fn interrupt(&self) {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-INT", &pid])
                .status()
                .unwrap()
                .success()
        );
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
