//! That a reflector begins and that it is gone, told whatever ended it.

use informer_core::{BoxClock, Clock};

use crate::{
    Options, StatusReader,
    log::{self, Labels},
    status::StatusBoard,
};

/// Where its status is shown. Says so when the reflector is dropped, whether it ran or not.
pub(crate) struct Life<C: Clock> {
    pub(crate) board: StatusBoard,
    pub(crate) labels: Labels,
    clock: C,
    started: bool,
}

impl<C: Clock> Life<C> {
    pub(crate) fn new(options: &Options, clock: C) -> Self {
        Self {
            board: StatusBoard::new(options),
            labels: Labels::new(options),
            clock,
            started: false,
        }
    }

    pub(crate) fn reader(&self) -> StatusReader {
        self.board.reader(BoxClock::new(self.clock.clone()))
    }

    pub(crate) fn start(&mut self) {
        self.started = true;
        log::starting(&self.labels);
    }
}

impl<C: Clock> Drop for Life<C> {
    fn drop(&mut self) {
        if self.started {
            log::stopping(&self.labels);
        }
        self.board.stopped(self.clock.now());
    }
}
