//! Readers and the writer at the same time.

use std::{
    ops::ControlFlow,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use informer_core::{Batch, Key, Store, StoreWriter};

use crate::conformance::{
    Indices, Samples,
    check::{Outcome, ensure},
    probe::elsewhere,
    rig::{StoreRig, agrees, list, modified, scanned},
};

/// Reads from another thread while a commit is under way.
pub(super) fn a_reader_does_not_wait<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.filled(3)?;
    let read: Arc<Mutex<Vec<Option<usize>>>> = Arc::default();
    let (store, results) = (instance.store.clone(), read.clone());
    instance.during_a_commit(move || {
        let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
        if results.is_empty() {
            let store = store.clone();
            results.push(elsewhere(move || scanned(&*store.snapshot(), None).len()));
        }
    });
    instance.commit_all(vec![
        modified(instance.entry(3, 0, "11")),
        modified(instance.entry(4, 0, "12")),
    ])?;
    let read = read.lock().unwrap_or_else(PoisonError::into_inner);
    match read.first() {
        None | Some(Some(3)) => Ok(()),
        Some(None) => Err("a reader that came during a commit waited for its end".to_owned()),
        Some(Some(n)) => Err(format!(
            "a reader that came during a commit saw {n} of its entries beside the three before"
        )),
    }
}

/// Commits from another thread while a query is under way.
pub(super) fn a_writer_does_not_wait<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let instance = rig.filled(3)?;
    let (store, entry) = (instance.store.clone(), instance.entry(3, 0, "11"));
    let key = entry.key.clone();
    let snapshot = store.snapshot();
    let mut writer = instance.writer;
    let mut job = Some(move || {
        let mut batch = Batch::of(modified(entry), false);
        writer.commit(&mut batch, &mut Vec::new()).is_ok()
    });
    let mut committed = None;
    snapshot.scan(None, &mut |_| {
        committed = job.take().and_then(elsewhere);
        ControlFlow::Break(())
    });
    ensure!(
        committed == Some(true),
        "a commit that came during a scan waited for its end"
    );
    ensure!(
        store.get(&key).is_some(),
        "what was committed during a scan is not there"
    );
    ensure!(
        snapshot.get(&key).is_none(),
        "what was committed during a scan is in its snapshot"
    );
    Ok(())
}

/// A writer that replaces everything at once, and a reader that must never see two lists in one.
pub(super) fn nothing_torn_is_seen<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.filled(8)?;
    let progress = Arc::new(Progress::default());
    let reader = {
        let (store, indices) = (instance.store.clone(), instance.indices.clone());
        let progress = progress.clone();
        thread::spawn(move || read_whole(&*store, &indices, &progress))
    };
    let mut outcome = Ok(());
    for at in 100..10_000 {
        if reader.is_finished() || progress.n_read.load(Ordering::Acquire) >= 50 {
            break;
        }
        let version = at.to_string();
        let items = (0..8).map(|n| instance.entry(n, at % 5, &version));
        let items = list(items.collect(), &version);
        outcome = outcome.and_then(|()| instance.commit(items).map(drop));
        progress.n_committed.fetch_add(1, Ordering::AcqRel);
        thread::yield_now();
    }
    progress.over.store(true, Ordering::Release);
    match reader.join() {
        Ok(read) => outcome.and(read),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// What two threads know of each other.
#[derive(Default)]
struct Progress {
    n_committed: AtomicUsize,
    n_read: AtomicUsize,
    over: AtomicBool,
}

/// Takes snapshots and reads them when something was committed since.
fn read_whole<Q: Key, K>(store: &dyn Store<Q, K>, indices: &Indices<K>, progress: &Progress) -> Outcome {
    while !progress.over.load(Ordering::Acquire) {
        let snapshot = store.snapshot();
        let before = progress.n_committed.load(Ordering::Acquire);
        while progress.n_committed.load(Ordering::Acquire) == before && !progress.over.load(Ordering::Acquire)
        {
            thread::yield_now();
        }
        let (entries, at) = (scanned(&*snapshot, None), snapshot.applied());
        let is_first = at.as_str() == "10";
        let torn = !is_first && entries.iter().any(|entry| entry.stamp.version != *at);
        ensure!(
            !torn && entries.len() == 8,
            "while lists of eight were committed, a snapshot at {at:?} had {entries:?}"
        );
        agrees(&*snapshot, indices)?;
        progress.n_read.fetch_add(1, Ordering::AcqRel);
    }
    Ok(())
}
