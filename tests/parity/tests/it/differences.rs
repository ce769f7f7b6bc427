//! Where ours differs from client-go on purpose: explained, and still there.

use parity_tests::{Difference, holds, traces};

const PAGE: &str = include_str!("../../DIFFERENCES.md");

#[test]
fn every_difference_is_explained_and_shown_by_a_trace() {
    let traces = traces().unwrap();
    for difference in Difference::ALL {
        assert!(
            PAGE.contains(&format!("\n## {difference}\n")),
            "{difference} is not explained"
        );
        let mut of_it = traces
            .iter()
            .filter(|(_, trace)| trace.shows(difference))
            .peekable();
        assert!(of_it.peek().is_some(), "no trace shows {difference}");
        for (file, trace) in of_it {
            holds(trace).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
        }
    }
}

#[test]
fn nothing_is_explained_that_is_no_difference() {
    let of_kubeconfigs = crate::kubeconfigs::differences();
    let headings = PAGE.lines().filter_map(|line| line.strip_prefix("## "));
    for name in headings {
        assert!(
            of_kubeconfigs.contains(name)
                || Difference::ALL.iter().any(|difference| difference.name() == name),
            "{name} is no difference any more"
        );
    }
}
