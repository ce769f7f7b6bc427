//! A candidate's way to the server of leases: slow, lossy, cut off at times; what was sent may arrive long after its sender gave it up.

use std::{
    fmt, io,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Request, Response};
use informer_core::Clock;
use informer_testkit::{ApiBody, FakeApi, ManualClock, Rng, SharedApi};
use informer_transport::Transport;
use tokio::sync::oneshot;

use crate::{
    config::PostConfig,
    fact::{Fact, Probe},
};

/// What can be changed of it while it is in use.
#[derive(Debug, Default)]
pub(crate) struct Line {
    cut_until: Mutex<Option<Instant>>,
    calm: Mutex<bool>,
}

impl Line {
    /// Nothing gets through before that.
    pub(crate) fn cut(&self, until: Instant) {
        *self.cut_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
    }

    /// Everything gets through from now on.
    pub(crate) fn calm(&self) {
        *self.calm.lock().unwrap_or_else(PoisonError::into_inner) = true;
        *self.cut_until.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn is_calm(&self) -> bool {
        *self.calm.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_cut(&self, now: Instant) -> bool {
        let until = *self.cut_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| now < until)
    }
}

#[derive(Clone)]
pub(crate) struct Post {
    api: SharedApi<ManualClock>,
    config: PostConfig,
    line: Arc<Line>,
    scribe: Scribe,
    rng: Arc<Mutex<Rng>>,
}

/// Notes what the server makes of a candidate's writes.
#[derive(Clone)]
pub(crate) struct Scribe {
    pub(crate) candidate: u32,
    pub(crate) probe: Probe,
    /// Who holds the lease, by the server.
    pub(crate) holder: fn(&FakeApi) -> String,
}

/// What becomes of a request.
struct Fate {
    refused: bool,
    there: Duration,
    back: Duration,
    answer_is_lost: bool,
}

impl fmt::Debug for Post {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Post")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl Post {
    pub(crate) fn new(
        api: SharedApi<ManualClock>,
        config: PostConfig,
        line: Arc<Line>,
        scribe: Scribe,
        rng: Rng,
    ) -> Self {
        Self {
            api,
            config,
            line,
            scribe,
            rng: Arc::new(Mutex::new(rng)),
        }
    }

    fn fate(&self) -> Fate {
        let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ms = |most: u32| Duration::from_millis(rng.range(0..u64::from(most) + 1));
        let (there, back, late) = (ms(self.config.latency_ms), ms(self.config.latency_ms), ms(20_000));
        let mut percent = |percent: u8| rng.range(0..100) < u64::from(percent);
        let (refused, is_late, lost) = (
            percent(self.config.refused_percent),
            percent(self.config.late_percent),
            percent(self.config.lost_percent),
        );
        let calm = self.line.is_calm();
        Fate {
            refused: refused && !calm,
            there: if is_late && !calm { late } else { there },
            back,
            answer_is_lost: lost && !calm,
        }
    }
}

impl Scribe {
    /// Nothing comes between the two looks and the answer: the model answers all but watches at once.
    async fn watch(
        &self,
        api: &SharedApi<ManualClock>,
        request: Request<Bytes>,
    ) -> io::Result<Response<ApiBody<ManualClock>>> {
        let before = api.with(|api| (self.holder)(api));
        let answer = api.answer(request).await;
        let after = api.with(|api| (self.holder)(api));
        if before != after {
            self.probe.note(Fact::LeaseWritten {
                candidate: self.candidate,
                before,
                after,
            });
        }
        answer
    }
}

impl Transport for Post {
    type Body = ApiBody<ManualClock>;
    type Error = io::Error;

    async fn send(&self, request: Request<Bytes>) -> io::Result<Response<Self::Body>> {
        let fate = self.fate();
        let clock = self.api.clock().clone();
        if self.line.is_cut(clock.now()) {
            return std::future::pending().await;
        }
        if fate.refused {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let (answered, answer) = oneshot::channel();
        let (api, line, scribe) = (self.api.clone(), self.line.clone(), self.scribe.clone());
        let travel = async move {
            let clock = api.clock().clone();
            clock.sleep_until(clock.now() + fate.there).await;
            let answer = scribe.watch(&api, request).await;
            clock.sleep_until(clock.now() + fate.back).await;
            if !fate.answer_is_lost && !line.is_cut(clock.now()) {
                // Whoever asked may have given it up.
                let _ = answered.send(answer);
            }
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "what was sent goes on though its sender drops the request; it ends by itself"
        )]
        drop(tokio::spawn(travel));
        match answer.await {
            Ok(answer) => answer,
            // Lost on its way: silence.
            Err(_) => std::future::pending().await,
        }
    }
}
