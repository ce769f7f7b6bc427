//! A source that writes down its failures as the server told them: of its watches, and of lists that were refused.

use std::sync::{Arc, Mutex};

use informer_client::Error;
use informer_core::{Classify, FailureClass, Feed, ListRequest, ListerWatcher, WatchRequest};

/// Class and status code of each failure.
pub(crate) type Failures = Arc<Mutex<Vec<(FailureClass, Option<u16>)>>>;

pub(crate) struct Overheard<S> {
    source: S,
    failures: Failures,
}

impl<S> Overheard<S> {
    pub(crate) fn new(source: S) -> (Self, Failures) {
        let failures = Failures::default();
        let this = Self {
            source,
            failures: failures.clone(),
        };
        (this, failures)
    }
}

fn note<T>(failures: &Failures, result: &Result<T, Error>) {
    if let Err(error) = result {
        failures.lock().unwrap().push((error.class(), error.code()));
    }
}

impl<S: ListerWatcher<Error = Error>> ListerWatcher for Overheard<S> {
    type Object = S::Object;
    type Error = Error;
    type List = S::List;
    type Watch = OverheardFeed<S::Watch>;

    async fn list(&self, request: ListRequest) -> Result<S::List, Error> {
        let opened = self.source.list(request).await;
        note(&self.failures, &opened);
        opened
    }

    async fn watch(&self, request: WatchRequest) -> Result<Self::Watch, Error> {
        let opened = self.source.watch(request).await;
        note(&self.failures, &opened);
        let failures = self.failures.clone();
        opened.map(|feed| OverheardFeed { feed, failures })
    }
}

pub(crate) struct OverheardFeed<F> {
    feed: F,
    failures: Failures,
}

impl<F: Feed<Error = Error>> Feed for OverheardFeed<F> {
    type Event = F::Event;
    type Error = Error;

    async fn next(&mut self) -> Option<Result<F::Event, Error>> {
        let event = self.feed.next().await;
        if let Some(event) = &event {
            note(&self.failures, event);
        }
        event
    }
}
