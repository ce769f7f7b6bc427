//! `DeltaSink`.

use std::{
    cell::RefCell,
    future::pending,
    rc::Rc,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, channel, sync_channel},
    },
    task::{Context, Poll, Waker},
};

use conformance_tests::{Ledger, Line, Numbers, Sections, shelf};
use informer_core::{
    Batch, Closed, Delta, DeltaQueue, DeltaSink, Handle, Key, ObjectKey, Stamp, Store, StoreWriter,
};
use informer_deltafifo::{Coalescing, InOrder, Options};
use informer_reflector::StoreSink;
use informer_sharedinformer::{QueueKind, SharedInformer, Sink};
use informer_testkit::conformance::{
    Thing,
    delta_sink::{Ends, Suite},
};
use tokio::{runtime, task::yield_now};

use crate::{
    store::sides,
    wrong::{all_catch, caught},
};

type Q = ObjectKey;
type K = Thing;

pub(crate) fn store_sink() -> Suite {
    Suite::new("StoreSink", || {
        let (writer, reader) = sides(Vec::new());
        let sink = StoreSink::new(writer).reusing(Arc::new(reader.clone()));
        Ends::into_store(sink, reader, || {})
    })
}

#[test]
fn ours_conforms_straight_into_a_store() {
    store_sink().run().assert_conforms();
}

/// A handle around a queue, with a consumer that commits to a store.
fn handle<D, P>(make: P) -> impl Fn() -> Ends<Q, K>
where
    D: DeltaQueue<Q, K> + 'static,
    P: Fn(Arc<dyn Store<Q, K>>) -> D,
{
    move || {
        let (mut writer, reader) = sides::<Q, K>(Vec::new());
        let handle = Handle::new(make(Arc::new(reader.clone())));
        let (consumer, closer) = (handle.clone(), handle.clone());
        let process = move || {
            let mut batch = Batch::default();
            let mut cx = Context::from_waker(Waker::noop());
            while let Poll::Ready(Ok(())) = consumer.poll_pop(&mut cx, &mut batch, 1000) {
                writer.commit(&mut batch, &mut Vec::new()).unwrap();
                consumer.settle(Vec::new());
            }
        };
        Ends::into_store(handle, reader, process).closed_by(move || closer.close())
    }
}

#[test]
fn ours_conforms_as_a_handle() {
    let in_order = handle(|_| InOrder::new(Options::default()));
    Suite::new("a handle around InOrder", in_order)
        .run()
        .assert_conforms();
    let coalescing = handle(|known| Coalescing::new(known, Options::default()));
    Suite::new("a handle around Coalescing", coalescing)
        .run()
        .assert_conforms();
    let line = handle(|_| Line::new(3));
    Suite::new("a handle around Line", line).run().assert_conforms();
    let sections = handle(|known| Sections::new(known, 30));
    Suite::new("a handle around Sections", sections)
        .run()
        .assert_conforms();
}

/// A shared informer's own sink: its source hands it out.
fn informer(queue: fn() -> QueueKind<Q, K>) -> impl Fn() -> Ends<Q, K> {
    move || {
        let runtime = runtime::Builder::new_current_thread().build().unwrap();
        let (given, taken) = channel();
        let source = move |sink: Sink<Q, K>| async move {
            given.send(sink).unwrap();
            pending().await
        };
        let informer = SharedInformer::fed_by(source).queue(queue()).build().unwrap();
        let running = runtime.block_on(async { informer.spawn().unwrap() });
        running.detach();
        let work = move || {
            runtime.block_on(async {
                for _ in 0..200 {
                    yield_now().await;
                }
            });
        };
        work();
        let (store, sink) = (informer.store(), taken.try_recv().unwrap());
        let (work, stop) = (Rc::new(work), informer);
        Ends::into_store(sink, store, move || work()).closed_by(move || stop.stop())
    }
}

#[test]
fn ours_conforms_in_a_shared_informer() {
    for queue in [|| QueueKind::InOrder, || QueueKind::Coalescing] {
        let name = format!("the sink of a shared informer, {:?}", queue());
        Suite::new(&name, informer(queue)).run().assert_conforms();
    }
}

/// Foreign: a channel without bounds.
struct Post<Q, K>(std::sync::mpsc::Sender<Delta<Q, K>>);

impl<Q: Key, K: Send + Sync> DeltaSink<Q, K> for Post<Q, K> {
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        Poll::Ready(Ok(()))
    }

    fn push(&mut self, delta: Delta<Q, K>) {
        // Whoever reads has gone: dropped.
        let _ = self.0.send(delta);
    }
}

#[test]
fn a_channel_conforms() {
    let post = Suite::new("Post", || {
        let (sender, receiver): (_, Receiver<_>) = channel();
        Ends::handing_out(Post(sender), move || receiver.try_iter().collect())
    });
    post.run().assert_conforms();
}

/// Foreign: straight into a foreign store, with a lock around both.
struct Direct<W>(Arc<Mutex<Option<W>>>, Arc<Mutex<Vec<Waker>>>);

impl<W> Clone for Direct<W> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), self.1.clone())
    }
}

impl<W> Direct<W> {
    fn close(&self) {
        self.0.lock().unwrap().take();
        self.1.lock().unwrap().drain(..).for_each(Waker::wake);
    }
}

impl<Q: Key, K: Send + Sync, W: StoreWriter<Q, K>> DeltaSink<Q, K> for Direct<W> {
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        let is_open = self.0.lock().unwrap().is_some();
        Poll::Ready(if is_open { Ok(()) } else { Err(Closed) })
    }

    fn push(&mut self, delta: Delta<Q, K>) {
        if let Some(writer) = &mut *self.0.lock().unwrap() {
            writer
                .commit(&mut Batch::of(delta, false), &mut Vec::new())
                .unwrap();
        }
    }

    fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.0.lock().unwrap().is_none() {
            return Poll::Ready(());
        }
        self.1.lock().unwrap().push(cx.waker().clone());
        Poll::Pending
    }
}

#[test]
fn a_lock_around_a_foreign_store_conforms() {
    let ledger = Suite::over(Numbers, "straight into a Ledger", || {
        let (writer, reader) = Ledger::open(Vec::new());
        let sink = Direct(Arc::new(Mutex::new(Some(writer))), Arc::default());
        let closer = sink.clone();
        Ends::into_store(sink, reader, || {}).closed_by(move || closer.close())
    });
    // Its list of lines is not made for many.
    ledger.full_after(300).run().assert_conforms();
    let shelf = Suite::new("straight into a Shelf", || {
        let (writer, reader) = shelf(Vec::new());
        let sink = Direct(Arc::new(Mutex::new(Some(writer))), Arc::default());
        let closer = sink.clone();
        Ends::into_store(sink, reader, || {}).closed_by(move || closer.close())
    });
    shelf.full_after(300).run().assert_conforms();
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    NotReadyAtFirst,
    DropsUnreadable,
    Blocks,
    DropsWhenFull,
    KeepsNoWaker,
    NeverSaysClosed,
    NeverWakesOnClose,
    TakesWhenClosed,
    KnowsByUid,
    DropsEveryTenth,
}

const WRONG: [(Fault, &str); 10] = [
    (Fault::NotReadyAtFirst, "welcome_at_first"),
    (Fault::DropsUnreadable, "what_is_pushed_arrives"),
    (Fault::Blocks, "nothing_blocks"),
    (Fault::DropsWhenFull, "push_when_not_ready"),
    (Fault::KeepsNoWaker, "whoever_waits_is_woken"),
    (Fault::NeverSaysClosed, "closed_is_said"),
    (Fault::NeverWakesOnClose, "closed_wakes"),
    (Fault::TakesWhenClosed, "closed_drops"),
    (Fault::KnowsByUid, "known_is_exact"),
    (Fault::DropsEveryTenth, "the_store_follows"),
];

/// A handle with a fault.
struct Bent {
    handle: Handle<InOrder<Q, K>, Q, K>,
    fault: Fault,
    known: Arc<dyn Store<Q, K>>,
    n_pushed: usize,
    full: std::sync::mpsc::SyncSender<()>,
}

impl DeltaSink<Q, K> for Bent {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        match self.fault {
            Fault::NotReadyAtFirst if self.n_pushed == 0 => Poll::Pending,
            Fault::NeverSaysClosed if self.handle.is_closed() => Poll::Pending,
            Fault::KeepsNoWaker => self.handle.poll_ready(&mut Context::from_waker(Waker::noop())),
            _ => self.handle.poll_ready(cx),
        }
    }

    fn push(&mut self, delta: Delta<Q, K>) {
        self.n_pushed += 1;
        let is_dropped = match self.fault {
            Fault::DropsUnreadable => matches!(delta, Delta::Unreadable { .. }),
            Fault::DropsWhenFull => self.handle.len() >= 50,
            Fault::DropsEveryTenth => self.n_pushed.is_multiple_of(10),
            _ => false,
        };
        if self.fault == Fault::Blocks {
            // Nobody takes from it, as long as nobody processes.
            self.full.send(()).unwrap();
        }
        if !is_dropped {
            self.handle.push(delta);
        }
    }

    fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self.fault {
            Fault::NeverWakesOnClose => self.handle.poll_closed(&mut Context::from_waker(Waker::noop())),
            _ => self.handle.poll_closed(cx),
        }
    }

    fn known(&self, key: &Q, stamp: &Stamp) -> Option<Arc<K>> {
        match self.fault {
            Fault::KnowsByUid => {
                let stored = self.known.get(key)?;
                (stored.stamp.uid == stamp.uid).then_some(stored.object)
            }
            _ => self.handle.known(key, stamp),
        }
    }
}

fn bent(fault: Fault) -> impl Fn() -> Ends<Q, K> {
    move || {
        let (writer, reader) = sides::<Q, K>(Vec::new());
        let writer = Rc::new(RefCell::new(writer));
        let handle = Handle::new(InOrder::new(Options::new(1000, 50)));
        let (full, taken) = sync_channel(20);
        let sink = Bent {
            handle: handle.clone(),
            fault,
            known: Arc::new(reader.clone()),
            n_pushed: 0,
            full,
        };
        let (consumer, closer) = (handle.clone(), handle);
        let process = move || {
            while taken.try_recv().is_ok() {}
            let mut batch = Batch::default();
            let mut cx = Context::from_waker(Waker::noop());
            while let Poll::Ready(Ok(())) = consumer.poll_pop(&mut cx, &mut batch, 1000) {
                let committed = writer.borrow_mut().commit(&mut batch, &mut Vec::new());
                committed.unwrap();
                consumer.settle(Vec::new());
            }
        };
        // One that takes what it must drop is one that was never closed.
        let close = move || {
            if fault != Fault::TakesWhenClosed {
                closer.close();
            }
        };
        Ends::into_store(sink, reader, process).closed_by(close)
    }
}

#[test]
fn wrong_ones_are_found_out() {
    for (fault, check) in WRONG {
        let suite = Suite::new(&format!("{fault:?}"), bent(fault))
            .only(check)
            .full_after(200);
        caught(check, &suite.run());
    }
    all_catch(&store_sink().run(), &WRONG.map(|(_, check)| check));
}
