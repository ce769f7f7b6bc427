//! A feed that is not ours: a channel.

use informer_core::Feed;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Numbers through a channel.
#[derive(Debug)]
pub struct Pipe(UnboundedReceiver<Result<u32, Broken>>);

/// How it fails.
#[derive(Debug)]
pub struct Broken;

impl Pipe {
    /// Both ends.
    #[must_use]
    pub fn lay() -> (UnboundedSender<Result<u32, Broken>>, Self) {
        let (sender, receiver) = unbounded_channel();
        (sender, Self(receiver))
    }
}

impl Feed for Pipe {
    type Event = u32;
    type Error = Broken;

    async fn next(&mut self) -> Option<Result<u32, Broken>> {
        self.0.recv().await
    }
}
