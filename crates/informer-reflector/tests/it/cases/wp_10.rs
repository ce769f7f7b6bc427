//! WP-10: lines that are no events of this kind.

use informer_core::{DecodeError, Watched};
use informer_reflector::Problem;

use crate::rig::{Answer, Rig, Step, added, whole};

#[test]
fn wp_10_odd_lines_are_reported_and_skipped() {
    let mut rig = Rig::new();
    let odd = |what: &str| Step::Event(Watched::Odd(DecodeError::new(what).kind("Foo")));
    rig.source.list(whole("", "1")).watch(Answer::Open(vec![
        odd("no event type is called SPARKLE"),
        odd("this is a Bar"),
        odd("this is a Table"),
        added("ok@9"),
    ]));
    rig.start();
    rig.assert_taken(&["Replace@1 []", "Added ok@9"]);
    assert_eq!(
        rig.errors()[0],
        "foos: watch event skipped: cannot decode Foo: no event type is called SPARKLE"
    );
    assert_eq!(rig.errors().len(), 3);
    assert_eq!(rig.last_error().problem(), Problem::Odd);
    assert_eq!(rig.status().get().skipped, 3);
}
