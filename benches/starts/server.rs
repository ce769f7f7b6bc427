//! The server, full of pods, and what its processor does.

use std::{env, fs, path::PathBuf, process::Command};

use apiserver_tests::{ControlPlane, Login, Options};
use informer_client::WriteOptions;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    Cost, Result, Way,
    client::{Said, Task, connect, pods},
};

/// Ticks of the times in `/proc/PID/stat` (`USER_HZ`, the same on all machines that matter here).
const TICKS: f64 = 100.0;

pub(crate) struct Server {
    plane: ControlPlane,
    kubeconfig: PathBuf,
    pub(crate) n_pods: usize,
}

impl Server {
    pub(crate) fn start() -> Result<Self> {
        let n_pods = env::var("INFORMER_STARTS_PODS").map_or(Ok(20_000), |n| n.parse())?;
        let plane = ControlPlane::start(Options::default())?;
        let kubeconfig = plane.kubeconfig(Login::Token, None)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(fill(&kubeconfig, n_pods))?;
        Ok(Self {
            plane,
            kubeconfig,
            n_pods,
        })
    }

    pub(crate) fn measure(&self, way: Way) -> Result<Cost> {
        let task = Task::new(way, self.kubeconfig.clone(), self.n_pods);
        let (name, value) = task.variable()?;
        let before = self.cpu()?;
        let output = Command::new(env::current_exe()?).env(name, value).output()?;
        let server = self.cpu()? - before;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("{way:?}: {why}").into());
        }
        let said: Said = serde_json::from_slice(&output.stdout)?;
        Ok(Cost {
            client: said.cpu,
            server,
            wall: said.wall,
            peak: said.peak,
        })
    }

    /// Seconds of processor that kube-apiserver has used, by itself and by the system for it.
    fn cpu(&self) -> Result<f64> {
        let pid = *self.plane.pids().first().ok_or("no server")?;
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        // The second field, the name, may hold anything but ends with the last parenthesis.
        let (_, rest) = stat.rsplit_once(')').ok_or("odd /proc/PID/stat")?;
        let times: Vec<f64> = rest
            .split_whitespace()
            .skip(11)
            .take(2)
            .map(str::parse)
            .collect::<std::result::Result<_, _>>()?;
        Ok(times.iter().sum::<f64>() / TICKS)
    }
}

async fn fill(kubeconfig: &std::path::Path, n: usize) -> Result {
    let client = connect(kubeconfig.to_owned(), false)?;
    let api = client.metadata(pods()).in_namespace("default");
    let mut writers: JoinSet<Result> = JoinSet::new();
    for i in 0..n {
        if writers.len() == 32 {
            writers.join_next().await.ok_or("no writer")???;
        }
        let api = api.clone();
        writers.spawn(async move {
            api.create(&pod(i), &WriteOptions::default()).await?;
            Ok(())
        });
    }
    for done in writers.join_all().await {
        done?;
    }
    Ok(())
}

/// About six kilobytes of JSON, as pods of a deployment have, with what the server adds.
fn pod(i: usize) -> Value {
    let variables: Vec<Value> = (0..24)
        .map(|j| {
            json!({
                "name": format!("SETTING_OF_THE_PROGRAM_{j}"),
                "value": format!("value-{}-{}", i * 31 + j, "x".repeat(40)),
            })
        })
        .collect();
    json!({
        "metadata": {
            "name": format!("web-{:08x}-{i:05}", i.wrapping_mul(2_654_435_761) % 0xffff_ffff),
            "labels": {"app": format!("web-{}", i % 50), "pod-template-hash": format!("{:08x}", i % 50), "tier": "front"},
            "annotations": {"example.com/checksum": format!("{:064x}", i as u128 * 0x9e37_79b9_7f4a_7c15)},
        },
        "spec": {
            "nodeName": format!("node-{:04}", i % 200),
            "containers": [{
                "name": "web",
                "image": format!("registry.example.com/team/web:1.{}", i % 50),
                "env": variables,
                "ports": [{"containerPort": 8080, "name": "http"}],
                "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
            }],
        },
    })
}
