//! A sink under test, in use.

use std::task::{Context, Poll, Waker};

use informer_core::{Closed, Delta, DeltaSink, Entry, Store};

use super::{Ends, Rig};
use crate::conformance::{
    Samples,
    check::Outcome,
    rig::{list, modified, scanned},
    samples::entry,
};

/// A sink under test, in use.
pub(super) struct Used<S: Samples> {
    pub(super) sink: Box<dyn DeltaSink<S::Key, S::Object>>,
    pub(super) ends: Ends<S::Key, S::Object>,
}

impl<S: Samples> Used<S> {
    pub(super) fn new(rig: &Rig<S>) -> Outcome<Self> {
        let mut ends = (rig.make)();
        match ends.sink.take() {
            Some(sink) => Ok(Self { sink, ends }),
            None => Err("it was made without a sink".to_owned()),
        }
    }

    pub(super) fn ready(&mut self, waker: &Waker) -> Poll<Result<(), Closed>> {
        self.sink.poll_ready(&mut Context::from_waker(waker))
    }

    pub(super) fn is_closed(&mut self, waker: &Waker) -> bool {
        self.sink.poll_closed(&mut Context::from_waker(waker)).is_ready()
    }

    pub(super) fn push(&mut self, deltas: impl IntoIterator<Item = Delta<S::Key, S::Object>>) {
        deltas.into_iter().for_each(|delta| self.sink.push(delta));
    }

    pub(super) fn held(&mut self) -> Vec<Entry<S::Key, S::Object>> {
        (self.ends.process)();
        scanned(&*self.ends.store.snapshot(), None)
    }

    /// Pushes until it is full. `None`: it never is.
    pub(super) fn fill(&mut self, rig: &Rig<S>) -> Option<u32> {
        self.push([list(Vec::new(), "10")]);
        for n in 0..rig.n_pushes {
            if self.ready(Waker::noop()).is_pending() {
                return Some(n);
            }
            self.push([modified(entry(&rig.samples, n, 0, &format!("{}", 20 + n)))]);
        }
        None
    }
}
