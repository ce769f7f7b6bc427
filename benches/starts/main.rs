//! What it costs to take a whole state from a real kube-apiserver: by streaming list or by LIST, in both wire formats.
//!
//! `cargo bench -p informer-benches --bench starts`. Each run is a process of its own, which starts one informer and ends when that has
//! synced. `INFORMER_STARTS_PODS` says how many pods there are, 20 000 by default.

mod client;
mod server;
mod table;

use std::error::Error;

type Result<T = ()> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Runs of each kind.
const N_RUNS: usize = 3;

/// One way to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Way {
    start: &'static str,
    wire: &'static str,
    gzip: bool,
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
    let server = server::Server::start()?;
    let mut costs: Vec<(Way, Vec<Cost>)> = ways().map(|way| (way, Vec::new())).collect();
    for _ in 0..N_RUNS {
        for (way, costs) in &mut costs {
            costs.push(server.measure(*way)?);
        }
    }
    table::print(server.n_pods, &costs)
}
