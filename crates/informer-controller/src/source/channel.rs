//! Requests that the program itself sends.

use std::{error::Error, fmt, sync::Arc};

use tokio::sync::mpsc;

use super::{Source, SourceContext, Started};
use crate::{BoxError, Request};

/// How many requests wait for a controller that does not run yet (controller-runtime `source.Channel`).
const BUFFER: usize = 1024;

/// A source that is fed from elsewhere: a webhook, a timer, another system. Also how a test feeds a controller.
pub fn channel<R: Request>(name: impl Into<Arc<str>>) -> (Requests<R>, ChannelSource<R>) {
    let (sender, receiver) = mpsc::channel(BUFFER);
    let source = ChannelSource {
        name: name.into(),
        receiver,
    };
    (Requests { sender }, source)
}

/// Sends requests to a controller. Clones send to the same.
pub struct Requests<R> {
    sender: mpsc::Sender<R>,
}

impl<R: Request> Requests<R> {
    /// Sends a request. Waits while the controller does not run and 1024 wait already.
    ///
    /// # Errors
    /// When the controller has ended.
    ///
    /// # Cancel safety
    /// A request whose future is dropped was not sent.
    pub async fn send(&self, request: R) -> Result<(), ChannelClosed> {
        self.sender.send(request).await.map_err(|_| ChannelClosed)
    }

    /// Sends a request if there is room for it.
    ///
    /// # Errors
    /// The request itself, when the controller has ended, or 1024 wait already.
    pub fn try_send(&self, request: R) -> Result<(), R> {
        self.sender
            .try_send(request)
            .map_err(mpsc::error::TrySendError::into_inner)
    }
}

impl<R> Clone for Requests<R> {
    fn clone(&self) -> Self {
        Self {
            sender: self.sender.clone(),
        }
    }
}

impl<R> fmt::Debug for Requests<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Requests")
            .field("closed", &self.sender.is_closed())
            .finish_non_exhaustive()
    }
}

/// The controller that would read the requests has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelClosed;

impl fmt::Display for ChannelClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the controller has ended")
    }
}

impl Error for ChannelClosed {}

/// The controller's side of [`channel`].
pub struct ChannelSource<R> {
    name: Arc<str>,
    receiver: mpsc::Receiver<R>,
}

impl<R: Request> Source<R> for ChannelSource<R> {
    fn name(&self) -> Arc<str> {
        self.name.clone()
    }

    fn start(self: Box<Self>, context: SourceContext<R>) -> Result<Started, BoxError> {
        let mut receiver = self.receiver;
        Ok(Started::in_sync().run(async move {
            while let Some(request) = receiver.recv().await {
                context.enqueue(request);
            }
        }))
    }
}

impl<R> fmt::Debug for ChannelSource<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelSource")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
