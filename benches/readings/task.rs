//! One run, in a process of its own.

use std::{env, path::PathBuf, time::Duration};

use apiserver_tests::wait::{self, Timer};
use informer_benches::{Process, Result};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::{
    cells::{Cell, Who},
    forms, peer,
};

/// The variable that makes this program a client.
const VARIABLE: &str = "INFORMER_READINGS_TASK";

/// How long after the sync the memory is read. The harness of client-go waits as long.
const SETTLES: Duration = Duration::from_secs(3);

/// What a run is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) of_kube: bool,
    pub(crate) form: String,
    pub(crate) wire: String,
    pub(crate) streaming: bool,
    pub(crate) kubeconfig: PathBuf,
}

/// What it says in the end: seconds and megabytes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Said {
    /// Of the processor, by the program and by the system for it, until it had synced.
    pub(crate) cpu: f64,
    /// From the start of the informer until it had synced.
    pub(crate) wall: f64,
    /// Resident at most.
    pub(crate) peak: f64,
    /// Resident in the end.
    pub(crate) steady: f64,
    /// Resident after all garbage was given back, where there is garbage.
    #[serde(default)]
    pub(crate) least: Option<f64>,
    /// In bodies, after decompression, where that is known.
    pub(crate) received: Option<f64>,
    pub(crate) objects: usize,
}

impl Task {
    pub(crate) fn new(cell: &Cell, kubeconfig: PathBuf) -> Self {
        Self {
            of_kube: cell.who == Who::Kube,
            form: cell.form.to_owned(),
            wire: cell.wire.to_owned(),
            streaming: cell.start == "streaming",
            kubeconfig,
        }
    }

    pub(crate) fn variable(&self) -> Result<(&'static str, String)> {
        Ok((VARIABLE, serde_json::to_string(self)?))
    }

    pub(crate) fn given() -> Option<Result<Self>> {
        let text = env::var(VARIABLE).ok()?;
        Some(serde_json::from_str(&text).map_err(Into::into))
    }
}

pub(crate) fn run(task: &Task) -> Result {
    // As many threads as processors, as a program would have.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let said = runtime.block_on(async {
        if task.of_kube {
            peer::run(task).await
        } else {
            forms::run(task).await
        }
    })?;
    #[expect(clippy::print_stdout, reason = "the parent reads it")]
    {
        println!("{}", serde_json::to_string(&said)?);
    }
    Ok(())
}

/// Called when the informer has synced; what it holds must live until this has ended.
pub(crate) async fn synced(timer: &Timer, objects: usize, received: Option<u64>) -> Result<Said> {
    let wall = timer.elapsed().as_secs_f64();
    let time = clock_gettime(ClockId::ProcessCPUTime);
    wait::pace(SETTLES).await;
    let memory = Process::own().memory()?;
    Ok(Said {
        cpu: time.tv_sec as f64 + time.tv_nsec as f64 / 1e9,
        wall,
        peak: memory.peak,
        steady: memory.now,
        least: None,
        received: received.map(|bytes| bytes as f64 / 1e6),
        objects,
    })
}
