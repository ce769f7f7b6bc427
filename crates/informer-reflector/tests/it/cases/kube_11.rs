//! kube-rs case A11: a relist from a server that lags showed the past.

use informer_core::FailureClass;

use crate::rig::{Answer, Rig, error, expired, whole};

#[test]
fn kube_11_a_relist_is_not_older_than_what_was_seen() {
    for (streaming, first, again) in [
        (false, "list -/500/", "list 100/0/"),
        (true, "stream -", "stream 100"),
    ] {
        let mut rig = if streaming { Rig::streaming() } else { Rig::new() };
        if streaming {
            rig.source
                .watch(Answer::Open(vec![
                    crate::rig::added("a@90"),
                    crate::rig::initial_end("100"),
                    expired(),
                ]))
                .watch(Answer::Fail(error(FailureClass::VersionTooLarge)))
                .watch(Answer::Open(vec![
                    crate::rig::added("a@90"),
                    crate::rig::initial_end("104"),
                ]));
        } else {
            rig.source
                .list(whole("a@90", "100"))
                .watch(Answer::Open(vec![expired()]))
                .list(Answer::Fail(error(FailureClass::VersionTooLarge)))
                .list(whole("a@90", "104"));
        }
        rig.start();
        rig.pass(1.0);
        // The server that lags says so, and then the most recent state is asked for, which is the only one that may be older: an etcd may
        // have been restored.
        let requests: Vec<String> = rig.source.requests();
        let requests: Vec<&str> = requests
            .iter()
            .map(String::as_str)
            .filter(|it| !it.starts_with("watch"))
            .collect();
        assert_eq!(requests, [first, again, first]);
        rig.assert_taken(&["Replace@100 [a@90]", "Replace@104 [a@90] may rewind"]);
    }
}
