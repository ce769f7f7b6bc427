//! What it costs to take a whole state from a real kube-apiserver: by streaming list or by LIST, in both wire formats.
//!
//! `cargo bench -p informer-benches --bench starts`. Each run is a process of its own, which starts one informer and ends when that has
//! synced. Words after `--` choose among the runs: `-- protobuf plain`. `INFORMER_STARTS_PODS` says how many pods there are, 20 000 by default,
//! and `INFORMER_STARTS_TOGETHER` how many clients start at once, one by default.
//!
//! What the server holds in memory meanwhile can be read as the growth of its peak if it collects its garbage often, so that what is resident
//! is what it holds: `GOGC=10 INFORMER_STARTS_TOGETHER=8 cargo bench -p informer-benches --bench starts -- plain`.

mod client;
mod table;

use std::{
    env, fmt, io,
    process::{Child, Command, Output, Stdio},
};

use informer_benches::{Result, Server};

/// Runs of each kind.
const N_RUNS: usize = 3;

/// One way to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Way {
    start: &'static str,
    wire: &'static str,
    gzip: bool,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.wire, self.body(), self.start)
    }
}

impl Way {
    fn body(self) -> &'static str {
        if self.gzip { "gzip" } else { "plain" }
    }
}

/// What one start cost.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    /// Seconds of the client's processor.
    client: f64,
    /// Seconds of kube-apiserver's.
    server: f64,
    /// Seconds from the start of the informer until it had synced.
    wall: f64,
    /// Megabytes of memory that the client had at most.
    peak: f64,
    /// Megabytes by which kube-apiserver's memory grew at most.
    grown: f64,
    /// Megabytes that it allocated.
    allocated: f64,
}

/// As [`client`] understands them.
const STARTS: [&str; 4] = ["stream", "list in pages", "list whole", "list at 0"];

fn ways() -> impl Iterator<Item = Way> {
    let wires = ["json", "protobuf"];
    wires.into_iter().flat_map(|wire| {
        [false, true]
            .into_iter()
            .flat_map(move |gzip| STARTS.map(|start| Way { start, wire, gzip }))
    })
}

fn main() -> Result {
    if let Some(task) = client::task() {
        return client::run(&task);
    }
    let number = |name: &str, default: usize| env::var(name).map_or(Ok(default), |n| n.parse());
    let n_pods = number("INFORMER_STARTS_PODS", 20_000)?;
    let n_clients = number("INFORMER_STARTS_TOGETHER", 1)?;
    // What cargo adds begins with a dash.
    let words: Vec<String> = env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let chosen = ways().filter(|way| words.iter().all(|word| way.to_string().contains(word)));
    let mut costs: Vec<(Way, Vec<Cost>)> = chosen.map(|way| (way, Vec::new())).collect();
    let server = Server::start(n_pods)?;
    for _ in 0..N_RUNS {
        for (way, costs) in &mut costs {
            costs.push(measure(&server, *way, n_clients)?);
        }
    }
    table::print(n_pods, n_clients, &costs);
    Ok(())
}

/// Of the clients, the mean.
fn measure(server: &Server, way: Way, n_clients: usize) -> Result<Cost> {
    let task = client::Task::new(way, server.kubeconfig().to_owned(), server.n_pods());
    let (name, value) = task.variable()?;
    let program = env::current_exe()?;
    let (outputs, burden) = server.burden(|| {
        let start = |_| {
            let mut command = Command::new(&program);
            command
                .env(name, &value)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            command.spawn()
        };
        let children: Vec<Child> = (0..n_clients).map(start).collect::<io::Result<_>>()?;
        let end = |child: Child| child.wait_with_output();
        Ok(children
            .into_iter()
            .map(end)
            .collect::<io::Result<Vec<Output>>>()?)
    })?;
    let mut cost = Cost {
        server: burden.cpu,
        grown: burden.grown,
        allocated: burden.allocated,
        ..Cost::default()
    };
    for output in outputs {
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("{way}: {why}").into());
        }
        let said: client::Said = serde_json::from_slice(&output.stdout)?;
        let share = 1.0 / n_clients as f64;
        cost.client += said.cpu * share;
        cost.wall += said.wall * share;
        cost.peak += said.peak * share;
    }
    Ok(cost)
}
