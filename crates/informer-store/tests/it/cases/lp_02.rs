//! LP-02: the same key twice in the first list (client-go 1d175299a).

use informer_core::Batch;

use crate::support::{commit_batch, entry, lines, list, listed, tagged, tagged_with};

#[test]
fn lp_02_the_later_entry_of_a_key_counts_and_is_added_once() {
    let (mut writer, reader) = tagged();
    let first = list(
        vec![
            entry("a@10", &["x"]),
            entry("a@12", &["y"]),
            entry("b@11", &["x"]),
        ],
        "12",
    );
    let changes = commit_batch(&mut writer, &mut Batch::of(first, true)).unwrap();
    assert_eq!(lines(&changes), "Added \"a\"@12 initial\nAdded \"b\"@11 initial");
    assert_eq!(listed(&reader), r#"["a"@12, "b"@11]"#);
    assert_eq!(tagged_with(&reader, "x"), r#"["b"@11]"#);
}

#[test]
fn lp_02_the_later_entry_counts_even_if_its_version_is_older() {
    let (mut writer, reader) = tagged();
    let first = list(
        vec![entry("a@12", &[]), entry("b@11", &[]), entry("a@10", &[])],
        "12",
    );
    commit_batch(&mut writer, &mut Batch::of(first, true)).unwrap();
    assert_eq!(listed(&reader), r#"["a"@10, "b"@11]"#);
}
