//! client-go's own tests, as traces that both sides play: what each of them pins, under a name that says it. `UPSTREAM.md` lists them all.

mod delta_fifo;
mod informer;
mod real_fifo;
mod store;

use std::fs;

use parity_tests::{Trace, folder, holds};

/// The trace of that name, with client-go's answer in it, holds on our side. `cargo xtask parity` asks client-go again.
fn holds_on_both_sides(name: &str) {
    let file = folder().join("upstream").join(format!("{name}.txt"));
    let trace = Trace::read(&fs::read_to_string(&file).expect("the trace is there")).expect("it is a trace");
    assert!(
        trace.about.contains("client-go Test"),
        "{name} does not say where it comes from"
    );
    assert!(
        !trace
            .answer
            .iter()
            .all(|step| step.said.is_empty() && step.seen.is_empty()),
        "{name} is not recorded"
    );
    holds(&trace).unwrap_or_else(|why| panic!("{name}: {why}"));
}
