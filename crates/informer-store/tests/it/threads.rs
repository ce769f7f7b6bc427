//! Readers, a writer and a late index at once.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use informer_core::Store;

use crate::support::{Thing, commit, entry, list, put, tagged};

/// Every commit moves all objects to one tag: a view with two tags, or with an index that disagrees with its objects, is torn.
#[test]
fn every_view_is_of_one_time() {
    const N_OBJECTS: usize = 40;
    const N_COMMITS: usize = 300;
    let (mut writer, reader) = tagged();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            let (reader, done) = (reader.clone(), &done);
            scope.spawn(move || {
                let mut n_views = 0;
                while !done.load(Ordering::SeqCst) || n_views == 0 {
                    let view = reader.view();
                    let tags = view.index_values("tag").unwrap();
                    assert!(tags.len() <= 1, "{tags:?}");
                    if let Some(tag) = tags.first() {
                        assert_eq!(view.len(), N_OBJECTS);
                        assert_eq!(view.index_keys("tag", tag).unwrap().len(), N_OBJECTS);
                        assert!(view.iter().all(|it| it.object.tags == [&**tag]));
                        assert_eq!(view.applied().as_str(), &**tag);
                    }
                    n_views += 1;
                }
            });
        }
        let late = reader.clone();
        scope.spawn(move || {
            for n in 0..20 {
                let name = format!("late-{n}");
                late.add_index(name.as_str(), |thing: &Thing, emit: &mut dyn FnMut(&str)| {
                    thing.tags.iter().for_each(|tag| emit(tag));
                })
                .unwrap();
                let view = late.view();
                assert_eq!(view.index_values(&name), view.index_values("tag"));
            }
        });
        for at in 1..=N_COMMITS {
            let tag = at.to_string();
            let names = (0..N_OBJECTS).map(|n| format!("ns/{n}@{at}"));
            if at % 10 == 1 {
                commit(
                    &mut writer,
                    [list(names.map(|it| entry(&it, &[&tag])).collect(), &tag)],
                );
            } else {
                commit(&mut writer, names.map(|it| put(&it, &[&tag])).collect::<Vec<_>>());
            }
        }
        done.store(true, Ordering::SeqCst);
    });
    assert_eq!(reader.view().index_names().count(), 21);
    assert_eq!(reader.index_values("late-7").unwrap().len(), 1);
    assert_eq!(reader.len(), N_OBJECTS);
}
