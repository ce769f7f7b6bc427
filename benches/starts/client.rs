//! One start, in a process of its own.

use std::{env, path::PathBuf, time::Duration};

use apiserver_tests::wait::{self, Timer};
use informer_benches::{Process, Result, connect, resource};
use informer_client::{Client, Selectors};
use informer_core::{ListerWatcher, Store as _};
use informer_sharedinformer::{ReflectorOptions, SharedInformer};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::Way;

/// The variable that makes this program a client.
const VARIABLE: &str = "INFORMER_STARTS_TASK";
const LIMIT: Duration = Duration::from_secs(300);

/// What a client is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) start: String,
    pub(crate) wire: String,
    pub(crate) gzip: bool,
    pub(crate) kubeconfig: PathBuf,
    pub(crate) n_pods: usize,
}

impl Task {
    pub(crate) fn new(way: Way, kubeconfig: PathBuf, n_pods: usize) -> Self {
        Self {
            start: way.start.to_owned(),
            wire: way.wire.to_owned(),
            gzip: way.gzip,
            kubeconfig,
            n_pods,
        }
    }

    pub(crate) fn variable(&self) -> Result<(&'static str, String)> {
        Ok((VARIABLE, serde_json::to_string(self)?))
    }
}

/// What it says in the end.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Said {
    pub(crate) cpu: f64,
    pub(crate) wall: f64,
    pub(crate) peak: f64,
}

/// The fields that one controller needs.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pod {
    #[expect(dead_code, reason = "decoded and kept, as a controller would")]
    spec: Spec,
    #[expect(dead_code, reason = "decoded and kept, as a controller would")]
    status: Status,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[expect(dead_code, reason = "decoded and kept, as a controller would")]
    node_name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Status {
    #[expect(dead_code, reason = "decoded and kept, as a controller would")]
    phase: Option<String>,
}

/// The same fields in protobuf (k8s.io/api core/v1/generated.proto).
#[derive(prost::Message)]
struct PodMessage {
    #[prost(message, optional, tag = "2")]
    spec: Option<SpecMessage>,
    #[prost(message, optional, tag = "3")]
    status: Option<StatusMessage>,
}

#[derive(prost::Message)]
struct SpecMessage {
    #[prost(string, optional, tag = "10")]
    node_name: Option<String>,
}

#[derive(prost::Message)]
struct StatusMessage {
    #[prost(string, optional, tag = "1")]
    phase: Option<String>,
}

pub(crate) fn task() -> Option<String> {
    env::var(VARIABLE).ok()
}

pub(crate) fn run(task: &str) -> Result {
    let task: Task = serde_json::from_str(task)?;
    // As many threads as processors, as a program would have.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let said = runtime.block_on(async {
        let client = Client::new(connect(task.kubeconfig.clone(), task.gzip)?);
        match task.wire.as_str() {
            "json" => {
                let api = client.objects::<Pod>(resource()).in_namespace("default");
                start(&task, api.source(Selectors::all())).await
            }
            _ => {
                let api = client.messages::<PodMessage>(resource()).in_namespace("default");
                start(&task, api.source(Selectors::all())).await
            }
        }
    })?;
    #[expect(clippy::print_stdout, reason = "the parent reads it")]
    {
        println!("{}", serde_json::to_string(&said)?);
    }
    Ok(())
}

async fn start<S>(task: &Task, source: S) -> Result<Said>
where
    S: ListerWatcher + 'static,
    S::Object: Send + Sync + 'static,
{
    use informer_reflector::{FirstVersion, Start};
    let mut options = ReflectorOptions::default();
    options.start = Start::List;
    match task.start.as_str() {
        "stream" => options.start = Start::StreamingList,
        "list whole" => options.page_size = Some(u32::MAX / 2),
        "list at 0" => options.first_version = FirstVersion::Any,
        _ => {}
    }
    let informer = SharedInformer::builder(source)
        .reflector_options(options)
        .build()?;
    let timer = Timer::new(LIMIT);
    let running = informer.spawn()?;
    informer.wait_synced(wait::scaled(LIMIT)).await?;
    let wall = timer.elapsed().as_secs_f64();
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let n = informer.store().len();
    if n != task.n_pods {
        return Err(format!("{n} pods of {}", task.n_pods).into());
    }
    let status = informer.status().source.reflector.ok_or("no reflector")?;
    if (task.start == "stream") != (status.lists == 0) {
        return Err(format!("not started as wanted: {status:?}").into());
    }
    running.stop().await;
    Ok(Said {
        cpu: time.tv_sec as f64 + time.tv_nsec as f64 / 1e9,
        wall,
        peak: Process::own().memory()?.peak,
    })
}
