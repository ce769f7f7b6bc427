//! CF-08: an index function fails, or comes late (kubernetes#43605, client-go 785e19661).

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use informer_core::{Cause, Delta, IndexError, IndexFunc, Store};
use informer_store::{Indexers, indexed};

use crate::support::{
    Bad, ByTag, Thing, bad, batch, commit, commit_batch, delete, key, listed, put, tagged, tagged_with, tags,
};

#[test]
fn cf_08_a_an_add_and_an_update_that_fail_change_nothing() {
    for how in [Bad::Fails, Bad::Panics] {
        let (mut writer, reader) = tagged();
        for (name, left) in [("a@1", "[]"), ("b@3", r#"["b"@2]"#)] {
            if name == "b@3" {
                commit(&mut writer, [put("b@2", &["x"])]);
            }
            let mut batch = batch([Delta::Upsert(bad(name, how), Cause::Modified)]);
            let error = commit_batch(&mut writer, &mut batch).unwrap_err();
            assert_eq!(error.failed[0].index.as_deref(), Some("tag"));
            assert_eq!(batch.deltas.len(), 1, "nothing is lost");
            assert_eq!(listed(&reader), left);
            assert_eq!(tagged_with(&reader, "x"), left);
            assert_eq!(tagged_with(&reader, "bad"), "[]");
        }
        commit(&mut writer, [put("b@4", &["y"]), put("a@5", &["y"])]);
        assert_eq!(tags(&reader), r#"["y"]"#, "nothing is poisoned");
    }
}

#[test]
fn cf_08_a_a_delete_is_done_whatever_the_function_says_meanwhile() {
    /// Fails, or panics, once it is told to.
    struct Moody(Arc<AtomicBool>, Bad);
    impl IndexFunc<Thing> for Moody {
        fn values(&self, _: &Thing, emit: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
            emit("x");
            match self.1 {
                _ if !self.0.load(Ordering::SeqCst) => Ok(()),
                Bad::Panics => panic!("in a mood"),
                _ => Err(IndexError::new("in a mood")),
            }
        }
    }
    for how in [Bad::Fails, Bad::Panics] {
        let mood = Arc::new(AtomicBool::new(false));
        let indexers = Indexers::new().with("tag", Moody(mood.clone(), how));
        let (mut writer, reader) = indexed(indexers).unwrap();
        commit(&mut writer, [put("a@1", &[]), put("b@2", &[])]);
        mood.store(true, Ordering::SeqCst);
        assert_eq!(commit(&mut writer, [delete("a@3")]), r#"Removed "a"@1"#);
        assert_eq!(tagged_with(&reader, "x"), r#"["b"@2]"#);
        commit(&mut writer, [delete("b@4")]);
        assert_eq!(tags(&reader), "[]");
    }
}

#[test]
fn cf_08_b_duplicates_count_once_no_value_is_in_no_bucket_and_the_empty_one_is_a_value() {
    let (mut writer, reader) = tagged();
    commit(
        &mut writer,
        [put("a@1", &["x", "x"]), put("b@2", &[]), put("c@3", &["", "x"])],
    );
    assert_eq!(tags(&reader), r#"["", "x"]"#);
    assert_eq!(tagged_with(&reader, "x"), r#"["a"@1, "c"@3]"#);
    assert_eq!(tagged_with(&reader, ""), r#"["c"@3]"#);
    commit(&mut writer, [put("c@4", &[]), delete("a@5"), delete("b@6")]);
    assert_eq!(tags(&reader), "[]");
    assert_eq!(listed(&reader), r#"["c"@4]"#);
}

#[test]
fn cf_08_c_an_index_is_complete_when_the_call_returns_while_events_flow() {
    const STORED: usize = 10_000;
    let (mut writer, reader) = tagged();
    for from in (0..STORED).step_by(1000) {
        let puts: Vec<_> = (from..from + 1000)
            .map(|n| put(&format!("ns/{n:05}@{}", n + 1), &["all"]))
            .collect();
        commit(&mut writer, puts);
    }
    let ends = Arc::new(AtomicBool::new(false));
    let flows = {
        let ends = ends.clone();
        thread::spawn(move || {
            let mut n = STORED;
            while !ends.load(Ordering::SeqCst) {
                n += 1;
                // One goes, one comes, one changes: there are as many as before.
                let gone = format!("ns/{:05}@{n}", n - STORED - 1);
                let (come, changed) = (format!("ns/{n:05}@{n}"), format!("ns/{:05}@{n}", n - 7));
                commit(
                    &mut writer,
                    [delete(&gone), put(&come, &["all"]), put(&changed, &["all"])],
                );
            }
        })
    };
    for late in 0..5 {
        let name = format!("late-{late}");
        reader.add_index(name.as_str(), ByTag).unwrap();
        let view = reader.view();
        let (by_late, by_tag) = (view.index_keys(&name, "all"), view.index_keys("tag", "all"));
        assert_eq!(by_late.unwrap().len(), view.len());
        assert_eq!(by_tag.unwrap().len(), view.len());
    }
    ends.store(true, Ordering::SeqCst);
    flows.join().unwrap();
    let view = reader.view();
    let keys: Vec<_> = view.iter().map(|it| it.key.clone()).collect();
    for late in 0..5 {
        assert_eq!(view.index_keys(&format!("late-{late}"), "all").unwrap(), keys);
    }
}

#[test]
fn cf_08_d_the_same_name_twice_is_an_error_and_the_first_stays() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [put("a@1", &["x"])]);
    let error = reader.add_index("tag", |_: &Thing, emit: &mut dyn FnMut(&str)| emit("second"));
    assert!(error.unwrap_err().is_duplicate());
    commit(&mut writer, [put("b@2", &["y"])]);
    assert_eq!(tags(&reader), r#"["x", "y"]"#);
}

#[test]
fn cf_08_e_before_the_first_list_it_returns_at_once_and_is_filled_by_it() {
    let (mut writer, reader) = tagged();
    assert!(reader.view().applied().is_none(), "nothing was listed yet");
    reader.add_index("late", ByTag).unwrap();
    commit(
        &mut writer,
        [crate::support::list(
            vec![crate::support::entry("a@1", &["x"])],
            "1",
        )],
    );
    assert_eq!(reader.index_keys("late", "x").unwrap(), [key("a")]);
    assert_eq!(reader.len(), 1);
}
