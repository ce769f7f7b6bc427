//! Running an exec plug-in as a process: bounded in what it prints, and gone with all that it began when nobody waits any more.

use std::{io, process::Stdio};

use tokio::{io::AsyncReadExt as _, process::Child, process::Command};

use crate::{PluginCommand, PluginOutput};

/// An answer is a few kilobytes. What is longer is a mistake, or worse, and is not kept in memory.
const MOST_PRINTED: usize = 1 << 20;

pub(crate) async fn run(command: PluginCommand) -> io::Result<PluginOutput> {
    let mut process = Command::new(command.program);
    process.args(command.arguments).envs(command.variables);
    process.kill_on_drop(true).stdout(Stdio::piped());
    if command.interactive {
        process.stdin(Stdio::inherit());
    } else {
        process.stdin(Stdio::null());
        // One that reads from the terminal has to stay in the group that may.
        #[cfg(unix)]
        process.process_group(0);
    }
    let mut child = process.spawn()?;
    let group = Group::of(&child, command.interactive);
    let mut printed = Vec::new();
    if let Some(output) = child.stdout.take() {
        let most = MOST_PRINTED as u64 + 1;
        output.take(most).read_to_end(&mut printed).await?;
    }
    if printed.len() > MOST_PRINTED {
        let problem = format!("printed more than {MOST_PRINTED} bytes, and was ended");
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    let status = child.wait().await?;
    group.ended();
    Ok(PluginOutput {
        code: status.code(),
        printed,
    })
}

/// The processes that a plug-in began, which end with it unless it ended by itself. It is dropped before the child is, whose number is no
/// other's until then.
struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl Group {
    #[cfg(unix)]
    fn of(child: &Child, interactive: bool) -> Self {
        let number = child.id().and_then(|id| i32::try_from(id).ok());
        Self {
            leader: number
                .and_then(rustix::process::Pid::from_raw)
                .filter(|_| !interactive),
        }
    }

    #[cfg(not(unix))]
    fn of(_: &Child, _: bool) -> Self {
        Self {}
    }

    /// The plug-in ended. What it left running is meant to.
    fn ended(mut self) {
        #[cfg(unix)]
        {
            self.leader = None;
        }
        #[cfg(not(unix))]
        let _ = &mut self;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(leader) = self.leader {
            // It may have ended just now.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}
