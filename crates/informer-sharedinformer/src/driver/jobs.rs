//! What calls a handler, before it is started: a task or a thread.

use std::{fmt, io, sync::Arc, thread};

use informer_core::{BoxFuture, EventHandler, Key};

use super::{
    mailbox::{Mailbox, Serving},
    serve::{self, Reporter},
};
use crate::handler::AsyncHandler;

pub(crate) enum Job {
    Task(BoxFuture<'static, ()>),
    Thread(Arc<str>, Box<dyn FnOnce() + Send>),
}

impl Job {
    pub(crate) fn sync<Q: Key, K: Send + Sync + 'static>(
        mailbox: Arc<Mailbox<Q, K>>,
        handler: impl EventHandler<Q, K> + 'static,
        report: Reporter,
    ) -> Self {
        Self::Task(Box::pin(serve::on_task(Serving(mailbox), handler, report)))
    }

    pub(crate) fn asynchronous<Q: Key, K: Send + Sync + 'static>(
        mailbox: Arc<Mailbox<Q, K>>,
        handler: impl AsyncHandler<Q, K> + 'static,
        report: Reporter,
    ) -> Self {
        Self::Task(Box::pin(serve::on_task_async(Serving(mailbox), handler, report)))
    }

    pub(crate) fn blocking<Q: Key, K: Send + Sync + 'static>(
        mailbox: Arc<Mailbox<Q, K>>,
        handler: impl EventHandler<Q, K> + 'static,
        report: Reporter,
    ) -> Self {
        let name = mailbox.name.clone();
        let serving = Serving(mailbox);
        Self::Thread(
            name,
            Box::new(move || serve::on_thread(&serving, handler, &report)),
        )
    }

    /// Starts it, on the runtime that this is called on.
    ///
    /// # Errors
    /// When the system gives no thread.
    #[expect(
        clippy::disallowed_methods,
        reason = "the mailbox owns the task: closing it ends the task"
    )]
    pub(crate) fn start(self) -> io::Result<()> {
        match self {
            Self::Task(future) => drop(tokio::spawn(future)),
            Self::Thread(name, run) => drop(thread::Builder::new().name(name.to_string()).spawn(run)?),
        }
        Ok(())
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Task(_) => "Task",
            Self::Thread(..) => "Thread",
        })
    }
}
