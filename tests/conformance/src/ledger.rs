//! A store of one vector, for numbers and lines of text: binary search by key, and indices that are looked up line by line.

use std::{
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, RwLock},
    task::{Context, Poll, Waker},
};

use informer_core::{
    Batch, Cause, Change, CommitError, CommitFailure, Delta, Entry, IndexError, IndexFunc, ResourceVersion,
    Snapshot, Store, StoreWriter, UnknownIndex,
};
use informer_testkit::conformance::{Indices, Refusal, Samples};

/// Samples that are not ours: numbers and lines.
#[derive(Debug, Clone, Copy)]
pub struct Numbers;

impl Samples for Numbers {
    type Key = u32;
    type Object = String;

    fn key(&self, n: u32) -> u32 {
        // Not in the order in which the suites count.
        n.wrapping_mul(2_654_435_761) >> 8
    }

    fn object(&self, n: u32, state: u32) -> String {
        format!("{} {}", ["red", "green", "blue"][(n + state) as usize % 3], state)
    }

    fn indices(&self) -> Indices<String> {
        vec![("word".into(), Arc::new(Words))]
    }

    fn refused(&self, _: u32, how: Refusal) -> Option<String> {
        Some(match how {
            Refusal::Error => "!".to_owned(),
            Refusal::Panic => "!!".to_owned(),
        })
    }
}

struct Words;

impl IndexFunc<String> for Words {
    fn values(&self, line: &String, emit: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
        assert!(line != "!!", "no line has two marks");
        if line == "!" {
            return Err(IndexError::new("a mark is no word"));
        }
        line.split(' ').for_each(emit);
        Ok(())
    }
}

/// One state of the ledger.
pub struct Page {
    lines: Vec<Entry<u32, String>>,
    indices: Indices<String>,
    applied: ResourceVersion,
}

/// The reading side.
#[derive(Debug, Clone)]
pub struct Ledger {
    page: Arc<RwLock<Arc<Page>>>,
    waiting: Arc<Mutex<Vec<Waker>>>,
}

/// The writing side.
#[derive(Debug)]
pub struct Book(Ledger);

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} at {:?}", self.lines, self.applied)
    }
}

impl Ledger {
    /// An empty one with these indices.
    #[must_use]
    pub fn open(indices: Indices<String>) -> (Book, Self) {
        let ledger = Self {
            page: Arc::new(RwLock::new(Arc::new(Page {
                lines: Vec::new(),
                indices,
                applied: ResourceVersion::none(),
            }))),
            waiting: Arc::default(),
        };
        (Book(ledger.clone()), ledger)
    }

    fn page(&self) -> Arc<Page> {
        self.page.read().expect("nobody panics with it").clone()
    }
}

impl Store<u32, String> for Ledger {
    fn snapshot(&self) -> Arc<dyn Snapshot<u32, String>> {
        self.page()
    }

    fn len(&self) -> usize {
        self.page().lines.len()
    }

    fn poll_changed(&self, cx: &mut Context<'_>, seen: &ResourceVersion) -> Poll<()> {
        // First the waker, so that a commit between the two is not missed.
        self.waiting
            .lock()
            .expect("nobody panics with it")
            .push(cx.waker().clone());
        if self.page().applied == *seen {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    }
}

impl Page {
    fn find(&self, key: u32) -> Result<usize, usize> {
        self.lines.binary_search_by_key(&key, |line| line.key)
    }
}

impl Snapshot<u32, String> for Page {
    fn get(&self, key: &u32) -> Option<&Entry<u32, String>> {
        self.find(*key).ok().map(|at| &self.lines[at])
    }

    fn scan(&self, after: Option<&u32>, visit: &mut dyn FnMut(&Entry<u32, String>) -> ControlFlow<()>) {
        let from = after.map_or(0, |key| self.find(*key).map_or_else(|at| at, |at| at + 1));
        for line in &self.lines[from..] {
            if visit(line).is_break() {
                return;
            }
        }
    }

    fn by_index(
        &self,
        index: &str,
        value: &str,
        visit: &mut dyn FnMut(&Entry<u32, String>) -> ControlFlow<()>,
    ) -> Result<(), UnknownIndex> {
        let Some((_, function)) = self.indices.iter().find(|(name, _)| **name == *index) else {
            return Err(UnknownIndex::new(
                index,
                self.indices.iter().map(|(name, _)| &**name),
            ));
        };
        for line in &self.lines {
            let mut is_there = false;
            // What fails was never taken in.
            let _ = function.values(&line.object, &mut |it| is_there |= it == value);
            if is_there && visit(line).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn applied(&self) -> &ResourceVersion {
        &self.applied
    }
}

impl StoreWriter<u32, String> for Book {
    fn commit(
        &mut self,
        batch: &mut Batch<u32, String>,
        changes: &mut Vec<Change<u32, String>>,
    ) -> Result<(), CommitError<u32>> {
        let page = self.0.page();
        let mut next = Page {
            lines: page.lines.clone(),
            indices: page.indices.clone(),
            applied: page.applied.clone(),
        };
        let (initial, in_order) = (batch.initial, batch.in_order);
        let mut failed = Vec::new();
        let mut left = Vec::new();
        for delta in std::mem::take(&mut batch.deltas) {
            let is_list = matches!(delta, Delta::Replace { .. });
            for delta in next.spread(delta) {
                let (back, told) = next.take_in(delta, initial, in_order);
                changes.extend(told);
                if let Some((delta, failure)) = back {
                    if let (true, Ok(at)) = (is_list, next.find(failure.key)) {
                        next.lines[at].stale = true;
                    }
                    left.push(delta);
                    failed.push(failure);
                }
            }
        }
        batch.deltas = left;
        *self.0.page.write().expect("nobody panics with it") = Arc::new(next);
        let waiting = std::mem::take(&mut *self.0.waiting.lock().expect("nobody panics with it"));
        waiting.into_iter().for_each(Waker::wake);
        if failed.is_empty() {
            Ok(())
        } else {
            Err(CommitError { failed })
        }
    }
}

type Refused = (Delta<u32, String>, CommitFailure<u32>);

impl Page {
    /// A list is its single lines, the missing ones first, and a bookmark.
    fn spread(&self, delta: Delta<u32, String>) -> Vec<Delta<u32, String>> {
        let Delta::Replace {
            items,
            unreadable,
            at,
            may_rewind,
        } = delta
        else {
            return vec![delta];
        };
        let mut deltas = Vec::new();
        let is_listed = |key: u32| items.iter().any(|item| item.key == key);
        for line in self.lines.iter().filter(|line| !is_listed(line.key)) {
            deltas.push(if unreadable.contains(&line.key) {
                Delta::Unreadable {
                    key: line.key,
                    stamp: Default::default(),
                }
            } else {
                Delta::Delete {
                    key: line.key,
                    stamp: line.stamp.clone(),
                    last: None,
                    observed: false,
                }
            });
        }
        for (n, item) in items.iter().enumerate() {
            if !items[n + 1..].iter().any(|later| later.key == item.key) {
                deltas.push(Delta::Upsert(item.clone(), Cause::Listed));
            }
        }
        deltas.push(Delta::Bookmark { at, may_rewind });
        deltas
    }

    fn take_in(
        &mut self,
        delta: Delta<u32, String>,
        initial: bool,
        in_order: bool,
    ) -> (Option<Refused>, Vec<Change<u32, String>>) {
        let mut told = Vec::new();
        let found = delta.key().map(|key| self.find(*key));
        match delta {
            Delta::Upsert(line, Cause::Sync) => {
                let stored = found.and_then(Result::ok).map(|at| self.lines[at].clone());
                told.extend(
                    stored
                        .filter(|it| it.key == line.key)
                        .map(|current| Change::Resynced { current }),
                );
            }
            Delta::Upsert(line, cause) => {
                let version = line.stamp.version.clone();
                if let Err(failure) = self.write(line.clone(), initial, &mut told) {
                    return (Some((Delta::Upsert(line, cause), failure)), told);
                }
                if in_order && cause != Cause::Listed {
                    self.move_to(version, false);
                }
            }
            Delta::Delete {
                key,
                stamp,
                last,
                observed,
            } => {
                if let Some(Ok(at)) = found {
                    let stored = self.lines.remove(at);
                    let same = stored.stamp.same_object(&stamp);
                    let last = match last {
                        Some(object) if same => Entry::new(key, stamp.clone(), object),
                        _ => stored,
                    };
                    told.push(Change::Removed {
                        last,
                        observed: observed && same,
                    });
                }
                if in_order && observed {
                    self.move_to(stamp.version, false);
                }
            }
            Delta::Unreadable { stamp, .. } => {
                if let Some(Ok(at)) = found {
                    self.lines[at].stale = true;
                }
                if in_order {
                    self.move_to(stamp.version, false);
                }
            }
            Delta::Bookmark { at, may_rewind } => self.move_to(at, may_rewind),
            Delta::Resync | Delta::Replace { .. } => {
                told.extend(
                    self.lines
                        .iter()
                        .cloned()
                        .map(|current| Change::Resynced { current }),
                );
            }
        }
        (None, told)
    }

    fn write(
        &mut self,
        new: Entry<u32, String>,
        initial: bool,
        told: &mut Vec<Change<u32, String>>,
    ) -> Result<(), CommitFailure<u32>> {
        let found = self.find(new.key);
        if let Ok(at) = found {
            let old = &mut self.lines[at];
            let same = match new.stamp.version.is_none() {
                true => Arc::ptr_eq(&old.object, &new.object),
                false => old.stamp.version == new.stamp.version && old.stamp.same_object(&new.stamp),
            };
            if same {
                old.stale = false;
                return Ok(());
            }
        }
        for (name, function) in &self.indices {
            let refuses = |cause| CommitFailure {
                key: new.key,
                index: Some(name.clone()),
                cause,
            };
            match catch_unwind(AssertUnwindSafe(|| function.values(&new.object, &mut |_| {}))) {
                Ok(Ok(())) => {}
                Ok(Err(cause)) => return Err(refuses(cause)),
                Err(_) => return Err(refuses(IndexError::new("it panicked"))),
            }
        }
        match found {
            Err(at) => {
                self.lines.insert(at, new.clone());
                told.push(Change::Added { new, initial });
            }
            Ok(at) => {
                let old = std::mem::replace(&mut self.lines[at], new.clone());
                if old.stamp.same_object(&new.stamp) {
                    told.push(Change::Updated { old, new });
                } else {
                    told.push(Change::Removed {
                        last: old,
                        observed: false,
                    });
                    told.push(Change::Added { new, initial });
                }
            }
        }
        Ok(())
    }

    fn move_to(&mut self, at: ResourceVersion, may_rewind: bool) {
        let back = self.applied.compare(&at).is_ok_and(std::cmp::Ordering::is_gt);
        if !at.is_none() && (may_rewind || !back) {
            self.applied = at;
        }
    }
}
