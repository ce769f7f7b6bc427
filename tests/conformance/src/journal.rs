//! A source that is not ours: a journal in memory, read from its pages.

use std::{
    collections::BTreeMap,
    error::Error,
    fmt,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use informer_core::{
    Cause, Classify, Decoded, FailureClass, Feed, Identity, ListRequest, Listed, ListerWatcher, Stamp,
    WatchRequest, Watched,
};
use informer_testkit::conformance::lister_watcher::World;

/// A journal: source and world in one. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Journal(Arc<Mutex<Pages>>);

/// What the journal holds of an object.
pub type Note = String;

#[derive(Debug, Default)]
struct Pages {
    version: u64,
    objects: BTreeMap<u32, Decoded<Note>>,
    /// Every event ever, with its version.
    events: Vec<(u64, Happened)>,
    /// What came before this version was torn out.
    torn_out: u64,
    /// Watches opened before this one have ended.
    n_ended: u64,
    n_opened: u64,
    n_open: usize,
    fails: Option<FailureClass>,
    wakers: Vec<Waker>,
}

#[derive(Debug, Clone)]
enum Happened {
    Set(Cause, Decoded<Note>),
    Removed(Decoded<Note>),
    Marked,
}

/// How it fails.
#[derive(Debug)]
pub struct Lost(FailureClass);

impl Lost {
    /// An error of this class.
    #[must_use]
    pub fn new(class: FailureClass) -> Self {
        Self(class)
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the journal is lost: {}", self.0)
    }
}

impl Error for Lost {}

impl Classify for Lost {
    fn class(&self) -> FailureClass {
        self.0
    }
}

impl Journal {
    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, what: impl FnOnce(&mut Pages)) {
        let wakers = {
            let mut pages = self.lock();
            what(&mut pages);
            std::mem::take(&mut pages.wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Everything it holds, and its version.
    #[must_use]
    pub fn read(&self) -> (Vec<Decoded<Note>>, String) {
        let pages = self.lock();
        (
            pages.objects.values().cloned().collect(),
            pages.version.to_string(),
        )
    }
}

impl World for Journal {
    async fn set(&mut self, n: u32) {
        self.write(|pages| {
            pages.version += 1;
            let version = pages.version;
            let before = pages.objects.get(&n);
            let cause = before.map_or(Cause::Added, |_| Cause::Modified);
            let uid = before.map_or_else(
                || format!("born-at-{version}").into(),
                |it| it.identity.stamp.uid.clone(),
            );
            let decoded = Decoded {
                identity: Identity {
                    namespace: None,
                    name: format!("note-{n}").into(),
                    stamp: Stamp::new(&*version.to_string(), uid),
                },
                object: format!("note {n} of version {version}"),
            };
            pages.objects.insert(n, decoded.clone());
            pages.events.push((version, Happened::Set(cause, decoded)));
        });
    }

    async fn remove(&mut self, n: u32) {
        self.write(|pages| {
            pages.version += 1;
            let version = pages.version;
            if let Some(mut last) = pages.objects.remove(&n) {
                last.identity.stamp.version = (&*version.to_string()).into();
                pages.events.push((version, Happened::Removed(last)));
            }
        });
    }

    fn name(&self, n: u32) -> (Option<String>, String) {
        (None, format!("note-{n}"))
    }

    async fn bookmark(&mut self) -> bool {
        self.write(|pages| pages.events.push((pages.version, Happened::Marked)));
        true
    }

    async fn end_watches(&mut self) -> bool {
        self.write(|pages| pages.n_ended = pages.n_opened);
        true
    }

    async fn forget(&mut self) -> bool {
        self.write(|pages| pages.torn_out = pages.version);
        true
    }

    async fn fail_next(&mut self, class: FailureClass) -> bool {
        self.write(|pages| pages.fails = Some(class));
        true
    }

    fn n_open(&self) -> Option<usize> {
        Some(self.lock().n_open)
    }
}

impl ListerWatcher for Journal {
    type Object = Note;
    type Error = Lost;
    type List = JournalList;
    type Watch = JournalWatch;

    async fn list(&self, _: ListRequest) -> Result<JournalList, Lost> {
        if let Some(class) = self.lock().fails.take() {
            return Err(Lost(class));
        }
        let (items, at) = self.read();
        let items = items.into_iter().map(|item| Listed::Item(Ok(item)));
        let end = Listed::End {
            at: (&*at).into(),
            token: None,
        };
        let events: Vec<_> = items.chain([end]).collect();
        Ok(JournalList(events.into_iter()))
    }

    async fn watch(&self, request: WatchRequest) -> Result<JournalWatch, Lost> {
        let mut pages = self.lock();
        if let Some(class) = pages.fails.take() {
            return Err(Lost(class));
        }
        if request.initial_events {
            return Err(Lost(FailureClass::Unsupported));
        }
        let from = match &request.version {
            Some(version) => version.as_str().parse().map_err(|_| Lost(FailureClass::Fatal))?,
            None => pages.version,
        };
        if from < pages.torn_out {
            return Err(Lost(FailureClass::Expired));
        }
        pages.n_opened += 1;
        pages.n_open += 1;
        Ok(JournalWatch {
            number: pages.n_opened,
            // Bookmarks of that version tell nothing new.
            at: pages
                .events
                .iter()
                .take_while(|(version, _)| *version <= from)
                .count(),
            bookmarks: request.bookmarks,
            journal: self.clone(),
        })
    }
}

/// All at once.
#[derive(Debug)]
pub struct JournalList(std::vec::IntoIter<Listed<Note>>);

impl Feed for JournalList {
    type Event = Listed<Note>;
    type Error = Lost;

    async fn next(&mut self) -> Option<Result<Listed<Note>, Lost>> {
        self.0.next().map(Ok)
    }
}

/// Reads on from a place in the journal.
#[derive(Debug)]
pub struct JournalWatch {
    journal: Journal,
    number: u64,
    at: usize,
    bookmarks: bool,
}

impl JournalWatch {
    fn poll(&mut self, cx: &Context<'_>) -> Poll<Option<Result<Watched<Note>, Lost>>> {
        let mut pages = self.journal.lock();
        while let Some((version, happened)) = pages.events.get(self.at) {
            self.at += 1;
            let event = match happened.clone() {
                Happened::Set(cause, decoded) => Watched::Upsert(cause, Ok(decoded)),
                Happened::Removed(last) => Watched::Delete(Ok(last)),
                Happened::Marked if self.bookmarks => Watched::Bookmark {
                    at: (&*version.to_string()).into(),
                    end_of_initial: false,
                },
                Happened::Marked => continue,
            };
            return Poll::Ready(Some(Ok(event)));
        }
        if self.number <= pages.n_ended {
            return Poll::Ready(None);
        }
        pages.wakers.push(cx.waker().clone());
        Poll::Pending
    }
}

impl Feed for JournalWatch {
    type Event = Watched<Note>;
    type Error = Lost;

    async fn next(&mut self) -> Option<Result<Watched<Note>, Lost>> {
        poll_fn(|cx| self.poll(cx)).await
    }
}

impl Drop for JournalWatch {
    fn drop(&mut self) {
        self.journal.lock().n_open -= 1;
    }
}
