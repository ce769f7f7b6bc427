//! Calling handlers: on a task, asynchronously, or on a thread of their own. A panic ends the call, not the handler.

use std::{
    any::Any,
    cell::Cell,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
};

use crossbeam_channel::{Sender, bounded};
use informer_core::{Change, EventHandler, Key};
use tokio::task::coop::consume_budget;

use super::mailbox::{Mailbox, Serving};
use crate::{error::Trouble, handler::AsyncHandler};

/// Is told of what happens to the informer's handlers.
pub(crate) type Reporter = Arc<dyn Fn(Trouble) + Send + Sync>;

thread_local! {
    /// The handler whose call runs on this thread right now, so that a callback that waits for its own end is not waited for.
    static CALLING: Cell<usize> = const { Cell::new(0) };
}

/// Whether this thread is inside a call of the handler of this mailbox.
pub(crate) fn is_calling(token: usize) -> bool {
    CALLING.get() == token
}

/// Calls a synchronous handler from a task.
pub(crate) async fn on_task<Q: Key, K, H>(serving: Serving<Q, K>, mut handler: H, report: Reporter)
where
    H: EventHandler<Q, K>,
{
    let mailbox = &serving.0;
    while let Some(change) = poll_fn(|cx| mailbox.poll_take(cx.waker())).await {
        call(mailbox, &mut handler, &change, &report);
        consume_budget().await;
    }
}

/// Calls an asynchronous handler from a task.
pub(crate) async fn on_task_async<Q: Key, K, H>(serving: Serving<Q, K>, mut handler: H, report: Reporter)
where
    H: AsyncHandler<Q, K>,
{
    let mailbox = &serving.0;
    while let Some(change) = poll_fn(|cx| mailbox.poll_take(cx.waker())).await {
        let key = change.key().clone();
        let mut panic = None;
        // The handler's own code runs before its future is there, too.
        match within(mailbox.token(), || handler.on_change(change)) {
            Err(payload) => panic = Some(payload),
            Ok(future) => {
                let mut future = pin!(future);
                let poll = |cx: &mut Context<'_>| poll_within(mailbox.token(), future.as_mut(), cx);
                if let Err(payload) = poll_fn(poll).await {
                    panic = Some(payload);
                }
            }
        }
        ended(mailbox, &key, panic, &report);
        consume_budget().await;
    }
}

/// Calls a handler that may block, on the thread that this runs on. The doorbell is a channel of one.
pub(crate) fn on_thread<Q: Key, K, H>(serving: &Serving<Q, K>, mut handler: H, report: &Reporter)
where
    H: EventHandler<Q, K>,
{
    let mailbox = &serving.0;
    let (ring, bell) = bounded(1);
    let waker = Waker::from(Arc::new(Bell(ring)));
    loop {
        match mailbox.poll_take(&waker) {
            Poll::Ready(Some(change)) => call(mailbox, &mut handler, &change, report),
            Poll::Ready(None) => return,
            // It cannot fail: `waker` holds the other end.
            Poll::Pending => drop(bell.recv()),
        }
    }
}

struct Bell(Sender<()>);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Full: it has been rung and not heard yet.
        let _ = self.0.try_send(());
    }
}

/// Calls the handler once, and counts it.
pub(crate) fn call<Q: Key, K, H: EventHandler<Q, K>>(
    mailbox: &Mailbox<Q, K>,
    handler: &mut H,
    change: &Change<Q, K>,
    report: &Reporter,
) {
    let panic = within(mailbox.token(), || handler.on_change(change)).err();
    ended(mailbox, change.key(), panic, report);
}

fn ended<Q: Key, K>(mailbox: &Mailbox<Q, K>, key: &Q, panic: Option<Box<dyn Any + Send>>, report: &Reporter) {
    mailbox.returned(panic.is_some());
    if let Some(payload) = panic {
        report(Trouble::HandlerPanicked {
            handler: mailbox.name.clone(),
            key: format!("{key:?}").into_boxed_str(),
            message: message(&*payload).into(),
        });
    }
}

/// Runs foreign code, marked as a call of this handler. The handler is used again after a panic: what it left half done is its own.
fn within<T>(token: usize, run: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    let before = CALLING.replace(token);
    let result = catch_unwind(AssertUnwindSafe(run));
    CALLING.set(before);
    result
}

fn poll_within<F: Future<Output = ()>>(
    token: usize,
    future: Pin<&mut F>,
    cx: &mut Context<'_>,
) -> Poll<Result<(), Box<dyn Any + Send>>> {
    match within(token, || future.poll(cx)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(())) => Poll::Ready(Ok(())),
        Err(payload) => Poll::Ready(Err(payload)),
    }
}

fn message(payload: &(dyn Any + Send)) -> &str {
    if let Some(text) = payload.downcast_ref::<&str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        "a panic without a message"
    }
}
