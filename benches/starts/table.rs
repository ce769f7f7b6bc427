//! The figures, as a table of Markdown.

use crate::{Cost, Result, Way};

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
pub(crate) fn print(n_pods: usize, costs: &[(Way, Vec<Cost>)]) -> Result {
    println!("{n_pods} pods; medians (least to most)\n");
    println!("| wire | body | start | client CPU s | server CPU s | both CPU s | wall s | client peak MB |");
    println!("|---|---|---|---|---|---|---|---|");
    for (way, costs) in costs {
        let column = |of: fn(&Cost) -> f64, digits: usize| spread(costs.iter().map(of), digits);
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            way.wire,
            if way.gzip { "gzip" } else { "plain" },
            way.start,
            column(|it| it.client, 2),
            column(|it| it.server, 2),
            column(|it| it.client + it.server, 2),
            column(|it| it.wall, 2),
            column(|it| it.peak, 0),
        );
    }
    Ok(())
}

fn spread(values: impl Iterator<Item = f64>, digits: usize) -> String {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (values.first(), values.last()) else {
        return String::new();
    };
    let median = values[values.len() / 2];
    format!("{median:.digits$} ({least:.digits$}–{most:.digits$})")
}
