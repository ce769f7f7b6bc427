//! A source that follows a script and keeps what it was asked.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Mutex},
    task::{Poll, Waker},
};

use informer_core::{Feed, ListRequest, Listed, ListerWatcher, SourceError, WatchRequest, Watched};

use super::{Object, lock};

/// What the source does when it is asked.
pub(crate) enum Answer<E> {
    /// It opens a feed that brings these and then waits for more.
    Open(Vec<Step<E>>),
    /// It fails.
    Fail(SourceError),
    /// It never answers.
    Hang,
}

pub(crate) enum Step<E> {
    Event(E),
    Fail(SourceError),
    End,
}

#[derive(Clone, Default)]
pub(crate) struct Source(Arc<Mutex<Script>>);

#[derive(Default)]
struct Script {
    lists: VecDeque<Answer<Listed<Object>>>,
    watches: VecDeque<Answer<Watched<Object>>>,
    requests: Vec<String>,
    /// Where later events of the open watch go.
    watch: Option<Arc<Mutex<Tape<Watched<Object>>>>>,
    open: Arc<()>,
}

pub(crate) struct Tape<E> {
    steps: VecDeque<Step<E>>,
    waker: Option<Waker>,
}

pub(crate) struct TapeFeed<E> {
    tape: Arc<Mutex<Tape<E>>>,
    /// Each event counts as a hundred bytes.
    bytes_read: u64,
    _open: Arc<()>,
}

impl<E: Send> Feed for TapeFeed<E> {
    type Event = E;
    type Error = SourceError;

    async fn next(&mut self) -> Option<Result<E, SourceError>> {
        poll_fn(|cx| {
            let mut tape = lock(&self.tape);
            match tape.steps.pop_front() {
                Some(Step::Event(event)) => {
                    self.bytes_read += 100;
                    Poll::Ready(Some(Ok(event)))
                }
                Some(Step::Fail(error)) => Poll::Ready(Some(Err(error))),
                Some(Step::End) => Poll::Ready(None),
                None => {
                    tape.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    fn bytes_read(&self) -> Option<u64> {
        Some(self.bytes_read)
    }
}

impl Source {
    pub(crate) fn list(&self, answer: Answer<Listed<Object>>) -> &Self {
        lock(&self.0).lists.push_back(answer);
        self
    }

    pub(crate) fn watch(&self, answer: Answer<Watched<Object>>) -> &Self {
        lock(&self.0).watches.push_back(answer);
        self
    }

    /// Adds to the watch that is open.
    pub(crate) fn send(&self, steps: impl IntoIterator<Item = Step<Watched<Object>>>) {
        let tape = lock(&self.0).watch.clone().unwrap();
        let mut tape = lock(&tape);
        tape.steps.extend(steps);
        tape.waker.take().into_iter().for_each(Waker::wake);
    }

    /// Steps of the open watch that were not read.
    pub(crate) fn unread(&self) -> usize {
        let tape = lock(&self.0).watch.clone().unwrap();
        lock(&tape).steps.len()
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        lock(&self.0).requests.clone()
    }

    /// Feeds and requests that were not dropped.
    pub(crate) fn open(&self) -> usize {
        Arc::strong_count(&lock(&self.0).open) - 1
    }

    fn answer<E>(answer: Option<Answer<E>>) -> Result<Option<Arc<Mutex<Tape<E>>>>, SourceError> {
        match answer {
            Some(Answer::Open(steps)) => Ok(Some(Arc::new(Mutex::new(Tape {
                steps: steps.into(),
                waker: None,
            })))),
            Some(Answer::Fail(error)) => Err(error),
            Some(Answer::Hang) | None => Ok(None),
        }
    }
}

impl ListerWatcher for Source {
    type Object = Object;
    type Error = SourceError;
    type List = TapeFeed<Listed<Object>>;
    type Watch = TapeFeed<Watched<Object>>;

    async fn list(&self, request: ListRequest) -> Result<Self::List, SourceError> {
        let (answer, open) = {
            let mut script = lock(&self.0);
            let version = request
                .version
                .map_or_else(|| "-".to_owned(), |it| it.to_string());
            let limit = request.limit.unwrap_or(0);
            let token = request.token.unwrap_or_default();
            script.requests.push(format!("list {version}/{limit}/{token}"));
            (script.lists.pop_front(), script.open.clone())
        };
        match Self::answer(answer)? {
            Some(tape) => Ok(TapeFeed {
                tape,
                bytes_read: 0,
                _open: open,
            }),
            None => std::future::pending().await,
        }
    }

    async fn watch(&self, request: WatchRequest) -> Result<Self::Watch, SourceError> {
        let (answer, open) = {
            let mut script = lock(&self.0);
            let version = request
                .version
                .map_or_else(|| "-".to_owned(), |it| it.to_string());
            let how = if request.initial_events { "stream" } else { "watch" };
            script.requests.push(format!("{how} {version}"));
            (script.watches.pop_front(), script.open.clone())
        };
        match Self::answer(answer)? {
            Some(tape) => {
                lock(&self.0).watch = Some(tape.clone());
                Ok(TapeFeed {
                    tape,
                    bytes_read: 0,
                    _open: open,
                })
            }
            None => std::future::pending().await,
        }
    }
}
