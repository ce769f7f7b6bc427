//! The Go programs that tell what client-go does.

use std::{
    env, fmt,
    io::{self, BufRead, BufReader, BufWriter, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::OnceLock,
};

use serde::{Deserialize, Serialize};

use crate::sequence::{Sequence, Step};

/// Which client-go answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// v0.37.2 as it comes: one delta for a list.
    Atomic,
    /// v0.37.2 with the gates `AtomicFIFO` and `UnlockWhileProcessingFIFO` off: a list is spread over a delta per object.
    Spread,
    /// v0.30.0, the last line whose informers stand on the `DeltaFIFO` and which requeues.
    Old,
}

impl Version {
    /// The program's file name.
    #[must_use]
    pub fn program(self) -> &'static str {
        match self {
            Self::Atomic | Self::Spread => "oracle",
            Self::Old => "oracle-v030",
        }
    }

    fn gates(self) -> &'static [(&'static str, &'static str)] {
        const LIST: (&str, &str) = ("KUBE_FEATURE_WatchListClient", "false");
        match self {
            Self::Atomic => &[LIST],
            Self::Spread => &[
                LIST,
                ("KUBE_FEATURE_AtomicFIFO", "false"),
                ("KUBE_FEATURE_UnlockWhileProcessingFIFO", "false"),
            ],
            Self::Old => &[],
        }
    }
}

/// A running oracle. It ends when this is dropped.
pub struct Oracle {
    child: Child,
    input: BufWriter<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: String,
    asked: u64,
    answered: u64,
}

#[derive(Serialize)]
struct Request<'a> {
    id: u64,
    #[serde(flatten)]
    sequence: &'a Sequence,
}

#[derive(Deserialize)]
struct Answer {
    id: u64,
    steps: Vec<Step>,
}

impl Oracle {
    /// Starts one.
    ///
    /// # Errors
    /// When the program does not start.
    pub fn start(folder: &Path, version: Version) -> io::Result<Self> {
        let program = folder.join(version.program());
        let mut child = Command::new(&program)
            // One thread: ours takes the other core, and nothing here runs at the same time by nature.
            .env("GOMAXPROCS", "1")
            .envs(version.gates().iter().copied())
            // One that hangs ends with all its stacks on standard error.
            .arg("-test.timeout=2h")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", program.display())))?;
        let input = BufWriter::new(child.stdin.take().expect("it is piped"));
        let output = child.stdout.take().expect("it is piped");
        Ok(Self {
            child,
            input,
            output: BufReader::new(output),
            line: String::new(),
            asked: 0,
            answered: 0,
        })
    }

    /// Asks for a sequence; [`answer`](Self::answer) follows, in the same order. Not more than a few may be under way, as nobody reads
    /// meanwhile.
    ///
    /// # Errors
    /// When the program is gone.
    pub fn ask(&mut self, sequence: &Sequence) -> io::Result<()> {
        let input = &mut self.input;
        let id = self.asked;
        self.asked += 1;
        serde_json::to_writer(&mut *input, &Request { id, sequence })?;
        input.write_all(b"\n")?;
        input.flush()
    }

    /// What it says to the sequence that was asked first and is not answered yet.
    ///
    /// # Errors
    /// When the program ended, or says something else.
    pub fn answer(&mut self) -> io::Result<Vec<Step>> {
        self.line.clear();
        if self.output.read_line(&mut self.line)? == 0 {
            return Err(io::Error::other("the oracle ended"));
        }
        let answer: Answer = serde_json::from_str(&self.line)
            .map_err(|error| io::Error::other(format!("no answer ({error}): {}", self.line.trim_end())))?;
        if answer.id != self.answered {
            return Err(io::Error::other(format!(
                "an answer to sequence {}, and not to {}",
                answer.id, self.answered
            )));
        }
        self.answered += 1;
        Ok(answer.steps)
    }

    /// Asks and waits.
    ///
    /// # Errors
    /// As [`ask`](Self::ask) and [`answer`](Self::answer).
    pub fn play(&mut self, sequence: &Sequence) -> io::Result<Vec<Step>> {
        self.ask(sequence)?;
        self.answer()
    }

    /// The folder with the programs: what `INFORMER_ORACLES` names.
    ///
    /// # Errors
    /// When it is not set.
    pub fn folder() -> io::Result<PathBuf> {
        static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
        FOLDER
            .get_or_init(|| env::var_os("INFORMER_ORACLES").map(PathBuf::from))
            .clone()
            .ok_or_else(|| {
                io::Error::other("INFORMER_ORACLES is not set: `cargo xtask parity` builds them and sets it")
            })
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        // It holds nothing but answers that nobody wants any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl fmt::Debug for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Oracle")
            .field("asked", &self.asked)
            .finish_non_exhaustive()
    }
}
