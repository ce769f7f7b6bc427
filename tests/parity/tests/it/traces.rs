//! Sequences that once failed, and those that show a difference, replayed on our side.

use parity_tests::{holds, traces};

#[test]
fn every_trace_holds() {
    let traces = traces().unwrap();
    assert!(!traces.is_empty());
    for (file, trace) in traces {
        holds(&trace).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    }
}
