//! WP-11: one object that nobody can decode.

use informer_core::{Cause, Watched};

use crate::rig::{Answer, Rig, Step, bad_item, end, item, modified, undecodable, whole};

#[test]
fn wp_11_in_a_list_the_good_ones_are_served() {
    let mut rig = Rig::new();
    rig.source.list(Answer::Open(vec![
        item("a@1"),
        bad_item("bad@2"),
        item("c@3"),
        end("3"),
    ]));
    rig.start();
    rig.assert_taken(&["Replace@3 [a@1, c@3] unreadable [bad]"]);
    assert!(rig.status().get().synced);
    assert_eq!(
        rig.errors(),
        ["foos: object skipped: cannot decode Foo ns/bad: field spec is a string"]
    );
    rig.assert_requests(&["list -/500/", "watch 3"]);
}

#[test]
fn wp_11_in_a_watch_its_copy_turns_stale_until_it_is_fixed() {
    let mut rig = Rig::new();
    rig.source.list(whole("a@1 b@2", "2")).watch(Answer::Open(vec![
        Step::Event(Watched::Upsert(Cause::Modified, Err(undecodable("b@3")))),
        modified("a@4"),
        modified("b@5"),
    ]));
    rig.start();
    rig.assert_taken(&[
        "Replace@2 [a@1, b@2]",
        "Unreadable b@3",
        "Modified a@4",
        "Modified b@5",
    ]);
    rig.assert_requests(&["list -/500/", "watch 2"]);
    assert_eq!(rig.status().get().version.as_str(), "5");
}
