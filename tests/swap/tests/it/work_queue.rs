//! A foreign work queue: a list, a set of what is in work, wakers. It limits nothing: what failed comes again after the rest.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, Waker},
};

use informer_core::ObjectKey;
use informer_sharedinformer::SharedInformer;
use informer_swap_tests::{Cluster, Program, play};
use informer_workqueue::{AddOptions, Holder, Lease, Outcome, Shutdown, Ticket, WorkQueue};

#[derive(Clone, Default)]
struct Heap(Arc<Inner>);

#[derive(Default)]
struct Inner(Mutex<State>);

#[derive(Default)]
struct State {
    waiting: VecDeque<ObjectKey>,
    in_work: BTreeMap<u64, (ObjectKey, bool)>,
    failures: BTreeMap<ObjectKey, u32>,
    last: u64,
    closed: bool,
    wakers: Vec<Waker>,
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

impl State {
    fn add(&mut self, item: ObjectKey) {
        let running = self.in_work.values_mut().find(|(running, _)| *running == item);
        if self.closed || self.waiting.contains(&item) {
            return;
        }
        match running {
            Some((_, again)) => *again = true,
            None => self.waiting.push_back(item),
        }
        self.wakers.drain(..).for_each(Waker::wake);
    }
}

impl WorkQueue<ObjectKey> for Heap {
    fn add(&self, item: ObjectKey, how: AddOptions) {
        // Nothing here comes later: an hourly repetition is left out.
        if how.after.is_none_or(|after| after.is_zero()) {
            self.0.lock().add(item);
        }
    }

    fn poll_take(&self, cx: &mut Context<'_>) -> Poll<Option<Lease<ObjectKey>>> {
        let mut state = self.0.lock();
        if let Some(item) = state.waiting.pop_front() {
            state.last += 1;
            let ticket = state.last;
            state.in_work.insert(ticket, (item.clone(), false));
            let failures = state.failures.get(&item).copied().unwrap_or(0);
            return Poll::Ready(Some(Lease::new(
                item,
                Ticket(ticket),
                0,
                failures,
                self.0.clone(),
            )));
        }
        if state.closed {
            return Poll::Ready(None);
        }
        state.wakers.push(cx.waker().clone());
        Poll::Pending
    }

    fn shut_down(&self, _: Shutdown) -> Vec<ObjectKey> {
        let mut state = self.0.lock();
        state.closed = true;
        state.wakers.drain(..).for_each(Waker::wake);
        state.waiting.drain(..).collect()
    }

    fn len(&self) -> usize {
        self.0.lock().waiting.len()
    }
}

impl Holder<ObjectKey> for Inner {
    fn release(&self, ticket: Ticket, _: i32, outcome: Outcome) {
        let mut state = self.lock();
        let Some((item, again)) = state.in_work.remove(&ticket.0) else {
            return;
        };
        let failed = outcome == Outcome::Retry;
        if failed {
            *state.failures.entry(item.clone()).or_default() += 1;
        } else {
            state.failures.remove(&item);
        }
        if again || failed {
            state.add(item);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_and_a_set_are_the_work_queue() {
    let cluster = Cluster::default();
    let heap = Heap::default();
    let informer = SharedInformer::builder(cluster.source()).build().unwrap();
    let program = Program::with(informer, crate::name, |builder| builder.queue(heap.clone()));
    play(&cluster, program).await;
    assert!(heap.0.lock().last > 10);
}
