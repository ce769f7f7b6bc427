//! When the program ends by itself: the time that `--for` gave, or an interrupt.

use std::{
    future::pending,
    time::{Duration, Instant},
};

use informer::contracts::{Clock as _, TokioClock};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::Failure;

pub(crate) struct Until {
    at: Option<Instant>,
    interrupt: Signal,
    terminate: Signal,
}

impl Until {
    /// After this long, counted from now; without it, only when somebody says so.
    pub(crate) fn new(period: Option<Duration>) -> Result<Self, Failure> {
        let listen = |kind| signal(kind).map_err(|error| Failure::at("signals", &error));
        Ok(Self {
            // A time too far to be told is no end.
            at: period.and_then(|period| TokioClock.now().checked_add(period)),
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// Returns when the end has come.
    ///
    /// # Cancel safety
    /// Dropping the future loses no signal.
    pub(crate) async fn reached(&mut self) {
        let time = async {
            match self.at {
                Some(at) => TokioClock.sleep_until(at).await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = time => {}
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
