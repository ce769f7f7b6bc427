//! The table of kubeconfig files, as recorded.

use std::collections::BTreeSet;

use parity_tests::suites::kubeconfig::{cases, ours};

const PAGE: &str = include_str!("../../DIFFERENCES.md");

/// The differences that the table shows.
pub(crate) fn differences() -> BTreeSet<String> {
    let cases = cases().expect("they can be read");
    cases.into_iter().flat_map(|(_, case)| case.shows).collect()
}

#[test]
fn the_table_is_not_small() {
    assert!(cases().unwrap().len() >= 60);
}

#[test]
fn every_kubeconfig_is_read_as_recorded() {
    for (file, case) in cases().unwrap() {
        let told = ours(&case);
        assert_eq!(told.lines, case.expected(), "{}", file.display());
        assert_eq!(told.says, case.says, "{}", file.display());
    }
}

#[test]
fn a_case_is_written_as_it_was_read() {
    for (file, case) in cases().unwrap() {
        let written = case.written(&case.client_go, case.expected(), case.says.as_deref());
        assert_eq!(
            written,
            std::fs::read_to_string(&file).unwrap(),
            "{}",
            file.display()
        );
    }
}

#[test]
fn what_differs_from_client_go_differs_on_purpose() {
    for (file, case) in cases().unwrap() {
        assert!(!case.client_go.is_empty(), "{}: not recorded", file.display());
        assert_eq!(
            case.shows.is_empty(),
            case.ours.is_none(),
            "{}: what differs is named by `@shows`, and only that",
            file.display()
        );
    }
    for name in differences() {
        assert!(
            PAGE.contains(&format!("\n## {name}\n")),
            "{name} is not explained"
        );
    }
}

#[test]
fn every_refusal_names_the_file_or_the_override() {
    for (file, case) in cases().unwrap() {
        let Some(says) = &case.says else { continue };
        assert!(
            [
                "/case/",
                "overrides",
                "KUBECONFIG",
                "no configuration",
                "no kubeconfig file"
            ]
            .iter()
            .any(|place| says.contains(place)),
            "{}: {says}",
            file.display()
        );
    }
}
