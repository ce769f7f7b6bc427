//! What one informer of 20 000 running pods costs its process, by form of object, wire format and start, beside client-go and kube.
//!
//! `cargo bench -p informer-benches --bench readings`. Each run is a process of its own, which starts one informer, waits until that has
//! synced, and then three seconds more, after which its memory is read. Words after `--` choose among the runs: `-- typed own` are those of
//! either form. Each run is told on standard error as it ends.
//! `INFORMER_READINGS_PODS` says how many pods there are, `INFORMER_READINGS_RUNS` how often each runs.

mod cells;
mod counted;
mod forms;
mod peer;
mod table;
mod task;

use std::{env, process::Command};

use apiserver_tests::assets;
use informer_benches::{Burden, Result, Server};

use crate::{
    cells::{Cell, Who},
    task::{Said, Task},
};

/// What one run cost.
#[derive(Debug, Clone, Copy)]
struct Cost {
    said: Said,
    server: Burden,
}

fn main() -> Result {
    if let Some(task) = Task::given() {
        return task::run(&task?);
    }
    let number = |name: &str, default: usize| env::var(name).map_or(Ok(default), |n| n.parse());
    let n_pods = number("INFORMER_READINGS_PODS", 20_000)?;
    let n_runs = number("INFORMER_READINGS_RUNS", 3)?;
    // What cargo adds begins with a dash.
    let words: Vec<String> = env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let is_chosen =
        |cell: &Cell| words.is_empty() || words.iter().any(|word| cell.to_string().contains(word));
    let chosen = cells::all().filter(is_chosen);
    let mut costs: Vec<(Cell, Vec<Cost>)> = chosen.map(|cell| (cell, Vec::new())).collect();
    let server = Server::start(n_pods)?;
    for _ in 0..n_runs {
        for (cell, costs) in &mut costs {
            let cost = measure(&server, cell)?;
            #[expect(clippy::print_stderr, reason = "a run takes long, and may be ended early")]
            {
                eprintln!("{cell}: {cost:.2?}");
            }
            costs.push(cost);
        }
    }
    table::print(n_pods, n_runs, &costs);
    Ok(())
}

fn measure(server: &Server, cell: &Cell) -> Result<Cost> {
    let mut command = match cell.who {
        Who::ClientGo => client_go(server, cell)?,
        Who::Informer | Who::Kube => {
            let mut command = Command::new(env::current_exe()?);
            let task = Task::new(cell, server.kubeconfig().to_owned());
            let (name, value) = task.variable()?;
            command.env(name, value);
            command
        }
    };
    let (output, burden) = server.burden(|| Ok(command.output()?))?;
    if !output.status.success() {
        let (out, err) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        return Err(format!("{cell}: {out}{err}").into());
    }
    let said: Said = serde_json::from_slice(&output.stdout)?;
    if said.objects != server.n_pods() {
        return Err(format!("{cell}: {} pods of {}", said.objects, server.n_pods()).into());
    }
    Ok(Cost { said, server: burden })
}

fn client_go(server: &Server, cell: &Cell) -> Result<Command> {
    let mut command = Command::new(assets::folder()?.join("informer-harness"));
    command
        .args(["--read", cell.form, "--wire", cell.wire])
        .args(["--namespace", "default", "--timeout", "5m", "--kubeconfig"])
        .arg(server.kubeconfig());
    if cell.start == "LIST" {
        command.arg("--no-watch-list");
    }
    Ok(command)
}
