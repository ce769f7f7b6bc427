//! A bare reflector in a program that has a sink of its own, a clock of its own, and no runtime.

use std::{
    future::{Future, pending},
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
    time::Instant,
};

use informer_core::{
    Clock, Closed, Decoded, Delta, DeltaSink, Identity, NamespaceName, ObjectKey, SourceError, Stamp,
};
use informer_reflector::{ListWatch, Options, Reflector, Start, feed};

/// Names, as the first list had them.
pub type Names = Arc<Mutex<Vec<String>>>;

/// Takes one list and closes.
#[derive(Debug, Clone, Default)]
pub struct FirstList(Names);

impl DeltaSink<ObjectKey, u32> for FirstList {
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        if self.names().is_empty() {
            Poll::Ready(Ok(()))
        } else {
            Poll::Ready(Err(Closed))
        }
    }

    fn push(&mut self, delta: Delta<ObjectKey, u32>) {
        if let Delta::Replace { items, .. } = delta {
            let names = items.iter().map(|item| item.key.to_string()).collect();
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = names;
        }
    }

    fn poll_closed(&mut self, _: &mut Context<'_>) -> Poll<()> {
        if self.names().is_empty() {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    }
}

impl FirstList {
    /// The names in the first list; empty before it.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A clock that stands still.
#[derive(Debug, Clone, Copy)]
pub struct Stopped(pub Instant);

impl Clock for Stopped {
    fn now(&self) -> Instant {
        self.0
    }

    async fn sleep_until(&self, at: Instant) {
        if at > self.0 {
            pending().await
        }
    }
}

/// Reflects these names once, polled by hand. `None`: it did not come to an end.
#[must_use]
pub fn reflect(names: Vec<String>, clock: impl Clock) -> Option<Vec<String>> {
    let source = ListWatch::new(
        move |_| {
            let names = names.clone();
            let named = move |name: String| Decoded {
                identity: Identity {
                    namespace: None,
                    name: name.into(),
                    stamp: Stamp::new("1", ""),
                },
                object: 0_u32,
            };
            async move { Ok::<_, SourceError>(feed::list(names.into_iter().map(named).collect::<Vec<_>>(), "1")) }
        },
        |_| async { Ok::<_, SourceError>(feed::from_iter([])) },
    );
    let mut options = Options::named("names");
    options.start = Start::List;
    options.seed = Some(1);
    let sink = FirstList::default();
    let mut run = pin!(Reflector::new(source, NamespaceName, sink.clone(), clock, options).run());
    let mut cx = Context::from_waker(Waker::noop());
    let ended = (0..100).any(|_| run.as_mut().poll(&mut cx).is_ready());
    ended.then(|| sink.names())
}

#[test]
#[expect(clippy::disallowed_methods, reason = "an `Instant` can be had no other way")]
fn a_list_goes_into_a_sink_of_ones_own_and_the_sink_ends_the_reflector() {
    let names = vec!["a".to_owned(), "b".to_owned()];
    assert_eq!(reflect(names.clone(), Stopped(Instant::now())), Some(names));
}
