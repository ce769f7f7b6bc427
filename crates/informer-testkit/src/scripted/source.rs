//! `ScriptedSource`: a `ListerWatcher` that yields what a test wrote down or pushes.

use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use informer_core::{
    Cause, Decoded, FailureClass, Feed, Identity, ListRequest, Listed, ListerWatcher, ResourceVersion,
    SourceError, Stamp, WatchRequest, Watched,
};

/// What a list answers.
#[derive(Debug)]
pub struct ListScript<K> {
    items: Vec<Listed<K>>,
    end: Result<(ResourceVersion, Option<Box<str>>), SourceError>,
}

impl<K> ListScript<K> {
    /// A whole list at this version.
    #[must_use]
    pub fn at(version: &str) -> Self {
        Self {
            items: Vec::new(),
            end: Ok((version.into(), None)),
        }
    }

    /// A list that is cut with this error after its items.
    #[must_use]
    pub fn cut(error: SourceError) -> Self {
        Self {
            items: Vec::new(),
            end: Err(error),
        }
    }

    /// With this object; `key` is `namespace/name` or `name`.
    #[must_use]
    pub fn item(mut self, key: &str, version: &str, object: K) -> Self {
        self.items.push(Listed::Item(Ok(decoded(key, version, object))));
        self
    }

    /// With this item as it is.
    #[must_use]
    pub fn raw(mut self, item: Listed<K>) -> Self {
        self.items.push(item);
        self
    }

    /// As one page of many: the next begins at this token.
    #[must_use]
    pub fn more(mut self, token: &str) -> Self {
        if let Ok((_, next)) = &mut self.end {
            *next = Some(token.into());
        }
        self
    }
}

/// What a [`ScriptedSource`] was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceRequest {
    /// A list.
    List(ListRequest),
    /// A watch.
    Watch(WatchRequest),
}

enum End {
    Clean,
    Error(SourceError),
}

struct Channel<E> {
    events: VecDeque<E>,
    end: Option<End>,
    dropped: bool,
    waker: Option<Waker>,
}

type SharedChannel<E> = Arc<Mutex<Channel<E>>>;
type Script<T> = VecDeque<Result<T, SourceError>>;

struct State<K> {
    lists: Script<ListScript<K>>,
    watches: Script<Vec<Watched<K>>>,
    requests: Vec<SourceRequest>,
    open: Vec<SharedChannel<Watched<K>>>,
    waiting: Vec<Waker>,
}

/// A source whose lists and watches a test scripts, and whose open watches it pushes to. Clones share the script.
///
/// A list without a script waits until one is added. A watch without a script opens at once and brings what is pushed.
pub struct ScriptedSource<K> {
    state: Arc<Mutex<State<K>>>,
}

impl<K> ScriptedSource<K> {
    /// A source with an empty script.
    #[must_use]
    pub fn new() -> Self {
        Self {
            state: Arc::new(Mutex::new(State {
                lists: VecDeque::new(),
                watches: VecDeque::new(),
                requests: Vec::new(),
                open: Vec::new(),
                waiting: Vec::new(),
            })),
        }
    }

    /// The next list that has no answer yet gets this one.
    pub fn on_list(&self, list: ListScript<K>) -> &Self {
        self.script_list(Ok(list))
    }

    /// The next list that has no answer yet fails like this.
    pub fn on_list_error(&self, class: FailureClass, message: &str) -> &Self {
        self.script_list(Err(SourceError::new(class, message)))
    }

    /// The next watch begins with these events and stays open.
    pub fn on_watch(&self, events: impl IntoIterator<Item = Watched<K>>) -> &Self {
        lock(&self.state)
            .watches
            .push_back(Ok(events.into_iter().collect()));
        self
    }

    /// The next watch cannot be opened.
    pub fn on_watch_error(&self, class: FailureClass, message: &str) -> &Self {
        lock(&self.state)
            .watches
            .push_back(Err(SourceError::new(class, message)));
        self
    }

    /// Sends an event to the latest open watch. False when none is open.
    pub fn push(&self, event: Watched<K>) -> bool {
        self.change_open(|channel| channel.events.push_back(event))
    }

    /// Sends ADDED; `key` is `namespace/name` or `name`.
    pub fn added(&self, key: &str, version: &str, object: K) -> bool {
        self.push(Watched::Upsert(Cause::Added, Ok(decoded(key, version, object))))
    }

    /// Sends MODIFIED.
    pub fn modified(&self, key: &str, version: &str, object: K) -> bool {
        self.push(Watched::Upsert(
            Cause::Modified,
            Ok(decoded(key, version, object)),
        ))
    }

    /// Sends DELETED.
    pub fn deleted(&self, key: &str, version: &str, object: K) -> bool {
        self.push(Watched::Delete(Ok(decoded(key, version, object))))
    }

    /// Sends BOOKMARK.
    pub fn bookmark(&self, version: &str, end_of_initial: bool) -> bool {
        self.push(Watched::Bookmark {
            at: version.into(),
            end_of_initial,
        })
    }

    /// Ends the latest open watch cleanly.
    pub fn end_watch(&self) -> bool {
        self.change_open(|channel| channel.end = Some(End::Clean))
    }

    /// Ends the latest open watch with an error.
    pub fn fail_watch(&self, class: FailureClass, message: &str) -> bool {
        self.change_open(|channel| channel.end = Some(End::Error(SourceError::new(class, message))))
    }

    /// What was asked so far.
    #[must_use]
    pub fn requests(&self) -> Vec<SourceRequest> {
        lock(&self.state).requests.clone()
    }

    /// How many lists were asked.
    #[must_use]
    pub fn n_lists(&self) -> usize {
        let is_list = |it: &&SourceRequest| matches!(it, SourceRequest::List(_));
        lock(&self.state).requests.iter().filter(is_list).count()
    }

    /// How many watches are open: neither ended by the script nor dropped by the reader.
    #[must_use]
    pub fn n_open_watches(&self) -> usize {
        let state = lock(&self.state);
        state.open.iter().filter(|channel| is_open(channel)).count()
    }

    fn script_list(&self, list: Result<ListScript<K>, SourceError>) -> &Self {
        let waiting = {
            let mut state = lock(&self.state);
            state.lists.push_back(list);
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
        self
    }

    fn change_open(&self, change: impl FnOnce(&mut Channel<Watched<K>>)) -> bool {
        let found = {
            let state = lock(&self.state);
            state.open.iter().rev().find(|it| is_open(it)).cloned()
        };
        let Some(channel) = found else { return false };
        let waker = {
            let mut channel = lock(&channel);
            change(&mut channel);
            channel.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    fn poll_list(&self, cx: &Context<'_>) -> Poll<Result<ListScript<K>, SourceError>> {
        let mut state = lock(&self.state);
        match state.lists.pop_front() {
            Some(list) => Poll::Ready(list),
            None => {
                state.waiting.push(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<K: Send + Sync + 'static> ListerWatcher for ScriptedSource<K> {
    type Object = K;
    type Error = SourceError;
    type List = ScriptedFeed<Listed<K>>;
    type Watch = ScriptedFeed<Watched<K>>;

    async fn list(&self, request: ListRequest) -> Result<Self::List, SourceError> {
        lock(&self.state).requests.push(SourceRequest::List(request));
        let list = poll_fn(|cx| self.poll_list(cx)).await?;
        let mut events = VecDeque::from(list.items);
        let end = match list.end {
            Ok((at, token)) => {
                events.push_back(Listed::End { at, token });
                End::Clean
            }
            Err(error) => End::Error(error),
        };
        Ok(ScriptedFeed::new(events, Some(end)).0)
    }

    async fn watch(&self, request: WatchRequest) -> Result<Self::Watch, SourceError> {
        let mut state = lock(&self.state);
        state.requests.push(SourceRequest::Watch(request));
        let events = state.watches.pop_front().transpose()?.unwrap_or_default();
        let (feed, channel) = ScriptedFeed::new(VecDeque::from(events), None);
        state.open.retain(is_open);
        state.open.push(channel);
        Ok(feed)
    }
}

impl<K> Clone for ScriptedSource<K> {
    fn clone(&self) -> Self {
        Self {
            state: self.state.clone(),
        }
    }
}

impl<K> Default for ScriptedSource<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> fmt::Debug for ScriptedSource<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = lock(&self.state);
        f.debug_struct("ScriptedSource")
            .field("requests", &state.requests)
            .field("open", &state.open.len())
            .finish_non_exhaustive()
    }
}

/// A list or a watch of a [`ScriptedSource`].
pub struct ScriptedFeed<E> {
    channel: SharedChannel<E>,
}

impl<E> ScriptedFeed<E> {
    fn new(events: VecDeque<E>, end: Option<End>) -> (Self, SharedChannel<E>) {
        let channel = Arc::new(Mutex::new(Channel {
            events,
            end,
            dropped: false,
            waker: None,
        }));
        (
            Self {
                channel: channel.clone(),
            },
            channel,
        )
    }
}

impl<E: Send> Feed for ScriptedFeed<E> {
    type Event = E;
    type Error = SourceError;

    async fn next(&mut self) -> Option<Result<E, SourceError>> {
        poll_fn(|cx| {
            let mut channel = lock(&self.channel);
            if let Some(event) = channel.events.pop_front() {
                return Poll::Ready(Some(Ok(event)));
            }
            match channel.end.replace(End::Clean) {
                Some(End::Clean) => Poll::Ready(None),
                Some(End::Error(error)) => Poll::Ready(Some(Err(error))),
                None => {
                    channel.end = None;
                    let old = channel.waker.replace(cx.waker().clone());
                    // A waker may hold the task that reads this feed: it is dropped outside of the lock.
                    drop(channel);
                    drop(old);
                    Poll::Pending
                }
            }
        })
        .await
    }
}

impl<E> Drop for ScriptedFeed<E> {
    fn drop(&mut self) {
        lock(&self.channel).dropped = true;
    }
}

impl<E> fmt::Debug for ScriptedFeed<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedFeed").finish_non_exhaustive()
    }
}

fn is_open<E>(channel: &SharedChannel<E>) -> bool {
    let channel = lock(channel);
    !channel.dropped && channel.end.is_none()
}

/// The uid is made from the key, so that the same key is the same object.
fn decoded<K>(key: &str, version: &str, object: K) -> Decoded<K> {
    let (namespace, name) = match key.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, key),
    };
    Decoded {
        identity: Identity {
            namespace: namespace.map(Into::into),
            name: name.into(),
            stamp: Stamp::new(version, format!("uid-{key}")),
        },
        object,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
