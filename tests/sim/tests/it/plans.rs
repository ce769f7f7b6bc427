//! Plans as text and back, and what the same plan gives.

use sim_tests::{Plan, run};

#[test]
fn a_plan_is_read_back_as_it_was_written() {
    for seed in 0..200 {
        let plan = Plan::of_seed(seed);
        let again = Plan::parse(&plan.to_string()).unwrap();
        assert_eq!(plan, again, "seed {seed}");
    }
}

#[test]
fn a_plan_says_which_line_is_none() {
    let text = format!("{}{}\n", Plan::of_seed(1), r#"{"op":"dance"}"#);
    let error = Plan::parse(&text).unwrap_err().to_string();
    let number = text.lines().count();
    assert!(error.starts_with(&format!("line {number}: ")), "{error}");
    assert!(Plan::parse("# nothing\n").is_err());
}

#[test]
fn the_same_plan_gives_the_same_trace_and_another_one_another() {
    let (one, other) = (Plan::of_seed(3), Plan::of_seed(4));
    let first = run(&one, true);
    assert_eq!(first, run(&one, true));
    assert_ne!(first.hash, run(&other, false).hash);
    assert!(!first.lines.is_empty());
}
