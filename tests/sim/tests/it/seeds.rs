//! Some seeds, each twice. `cargo xtask sim` runs many.

use sim_tests::run_many;

#[test]
fn some_seeds_hold() {
    let report = run_many(0, 60, 2, false);
    let told: Vec<String> = report
        .failures
        .iter()
        .map(|(seed, violation)| format!("seed {seed}: {violation}"))
        .collect();
    assert_eq!(told, Vec::<String>::new());
    assert_eq!(report.n_seeds, 60);
    assert!(report.n_steps > 10_000, "{} steps are no test", report.n_steps);
}
