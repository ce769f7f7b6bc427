//! The figures, as a table of Markdown.

use informer_benches::spread;

use crate::{Cost, Way};

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
pub(crate) fn print(n_pods: usize, n_clients: usize, costs: &[(Way, Vec<Cost>)]) {
    println!("{n_pods} pods, {n_clients} clients at once; medians (least to most)\n");
    println!(
        "| wire | body | start | client CPU s | server CPU s | both CPU s | wall s | client peak MB | server grown MB | server allocated MB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (way, costs) in costs {
        let column = |of: &dyn Fn(&Cost) -> f64, digits: usize| spread(costs.iter().map(of), digits);
        let both = |it: &Cost| it.client * n_clients as f64 + it.server;
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            way.wire,
            way.body(),
            way.start,
            column(&|it| it.client, 2),
            column(&|it| it.server, 2),
            column(&both, 2),
            column(&|it| it.wall, 2),
            column(&|it| it.peak, 0),
            column(&|it| it.grown, 0),
            column(&|it| it.allocated, 0),
        );
    }
}
