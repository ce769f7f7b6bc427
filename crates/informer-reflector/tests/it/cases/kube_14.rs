//! kube-rs case A14: the first pages of a list were lost.

use std::sync::{Arc, Mutex};

use informer_core::Identity;

use crate::rig::{Answer, Object, Rig, end, item, page};

#[test]
fn kube_14_every_page_counts_and_is_worked_in_before_the_next() {
    let mut rig = Rig::new();
    rig.source
        .list(Answer::Open(vec![item("a@1"), page("9", Some("t1"))]))
        .list(Answer::Open(vec![item("b@2"), page("9", Some("t2"))]))
        .list(Answer::Open(vec![item("c@3"), end("9")]));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (log, source) = (seen.clone(), rig.source.clone());
    rig.transform = Some(Arc::new(move |identity: &Identity, _: &mut Object| {
        log.lock()
            .unwrap()
            .push((identity.name.to_string(), source.requests().len()));
        Ok(())
    }));
    rig.start();
    let told = seen.lock().unwrap().clone();
    let wanted = [("a", 1), ("b", 2), ("c", 3)].map(|(name, n)| (name.to_owned(), n));
    assert_eq!(told, wanted);
    rig.assert_taken(&["Replace@9 [a@1, b@2, c@3]"]);
}
