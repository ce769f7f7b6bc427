//! Plans that once failed, small: they hold now.

use std::{fs, path::Path};

use sim_tests::{Plan, run_twice};

#[test]
fn what_once_failed_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces");
    let mut n_plans = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let plan = Plan::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let outcome = run_twice(&plan);
        if let Some(violation) = outcome.violation {
            panic!("{}: {violation}", path.display());
        }
        n_plans += 1;
    }
    assert!(n_plans > 0, "there is nothing to run");
}
