//! The figures, as a table of Markdown.

use informer_benches::spread;

use crate::{Cost, cells::Cell};

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
pub(crate) fn print(n_pods: usize, n_runs: usize, costs: &[(Cell, Vec<Cost>)]) {
    println!("{n_pods} pods; medians of {n_runs} (least to most)\n");
    println!(
        "| form | wire | start | who | CPU s | wall s | peak MB | steady MB | garbage given back MB | received MB | server CPU s | server grown MB | server allocated MB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (cell, costs) in costs {
        let column = |of: fn(&Cost) -> f64, digits: usize| spread(costs.iter().map(of), digits);
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            cell.form,
            cell.wire,
            cell.start,
            cell.who,
            column(|it| it.said.cpu, 2),
            column(|it| it.said.wall, 2),
            column(|it| it.said.peak, 0),
            column(|it| it.said.steady, 0),
            column(|it| it.said.least.unwrap_or(f64::NAN), 0),
            column(|it| it.said.received.unwrap_or(f64::NAN), 0),
            column(|it| it.server.cpu, 2),
            column(|it| it.server.grown, 0),
            column(|it| it.server.allocated, 0),
        );
    }
}
