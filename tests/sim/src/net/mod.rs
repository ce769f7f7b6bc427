//! The network between clients and the API server: replicas of which some lag, latency, and bodies that arrive in pieces.

mod ask;
mod body;
mod post;

use std::{
    fmt, io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Request, Response, Uri};
use informer_core::Clock;
use informer_testkit::{Fault, ManualClock, On, Rng, SharedApi};
use informer_transport::Transport;
use serde::{Deserialize, Serialize};

pub(crate) use self::ask::{Ask, AskKind};
use self::body::WireBody;
pub(crate) use self::post::{Line, Post, Scribe};
use crate::fact::{Fact, InformerId, Probe};

/// How good the network is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Quality {
    /// Latency in microseconds, at most.
    pub(crate) latency_us: u32,
    /// How often in a hundred a piece of a body is held up, and by how many milliseconds at most.
    pub(crate) held_percent: u8,
    pub(crate) held_ms: u32,
    /// How often in a hundred a piece of a body is split further.
    pub(crate) split_percent: u8,
    /// How often in a hundred a line of a streaming list is preceded by a bookmark that marks no end.
    pub(crate) bookmark_percent: u8,
}

/// A replica of the API server that is behind.
#[derive(Debug, Clone, Copy)]
struct Lag {
    revisions: u64,
    until: Instant,
}

#[derive(Debug)]
struct State {
    replicas: Vec<Option<Lag>>,
    n_requests: u64,
    /// Grows when what is under way comes from a server that is no more.
    generation: u64,
}

/// What all wires share.
pub(crate) struct Network {
    api: SharedApi<ManualClock>,
    probe: Probe,
    quality: Quality,
    state: Mutex<State>,
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network")
            .field("quality", &self.quality)
            .finish_non_exhaustive()
    }
}

impl Network {
    pub(crate) fn new(api: SharedApi<ManualClock>, probe: Probe, quality: Quality, replicas: u8) -> Self {
        Self {
            api,
            probe,
            quality,
            state: Mutex::new(State {
                replicas: vec![None; usize::from(replicas.max(1))],
                n_requests: 0,
                generation: 0,
            }),
        }
    }

    /// From now on a replica is this far behind, until it has caught up.
    pub(crate) fn lag(&self, replica: u8, revisions: u64, for_ms: u32) {
        let until = self.api.clock().now() + Duration::from_millis(for_ms.into());
        let mut state = self.lock();
        let at = usize::from(replica) % state.replicas.len();
        state.replicas[at] = Some(Lag { revisions, until });
    }

    /// What is under way never arrives.
    pub(crate) fn lose_all(&self) {
        self.lock().generation += 1;
    }

    fn generation(&self) -> u64 {
        self.lock().generation
    }

    /// All replicas have caught up.
    pub(crate) fn calm(&self) {
        self.lock().replicas.fill(None);
    }

    /// Chooses a replica for a request. One that lags is told to the model by a rule for this request alone.
    fn route(&self, mut request: Request<Bytes>, rng: &mut Rng) -> Request<Bytes> {
        let now = self.api.clock().now();
        let (lag, number) = {
            let mut state = self.lock();
            state.n_requests += 1;
            let at = rng.index(state.replicas.len());
            (state.replicas[at].filter(|lag| lag.until > now), state.n_requests)
        };
        let Some(Lag { revisions, until }) = lag else {
            return request;
        };
        let number = number.to_string();
        if let Some(uri) = marked(request.uri(), &number) {
            *request.uri_mut() = uri;
            let fault = Fault::Lag {
                revisions,
                catches_up_in: until - now,
            };
            self.api.with(|api| {
                api.faults().once(On::any().with(MARK, &number), fault);
            });
        }
        request
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A query parameter that names a request. The server ignores it.
const MARK: &str = "simulated";

fn marked(uri: &Uri, number: &str) -> Option<Uri> {
    let between = if uri.query().is_some() { '&' } else { '?' };
    format!("{uri}{between}{MARK}={number}").parse().ok()
}

/// One client's way to the server.
#[derive(Clone)]
pub(crate) struct Wire {
    network: Arc<Network>,
    informer: InformerId,
    rng: Arc<Mutex<Rng>>,
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire")
            .field("informer", &self.informer)
            .finish_non_exhaustive()
    }
}

impl Wire {
    pub(crate) fn new(network: Arc<Network>, informer: InformerId, rng: Rng) -> Self {
        Self {
            network,
            informer,
            rng: Arc::new(Mutex::new(rng)),
        }
    }

    fn note(&self, fact: Fact) {
        self.network.probe.note(fact);
    }

    fn random(&self) -> MutexGuard<'_, Rng> {
        self.rng.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn latency(&self) {
        let longest = u64::from(self.network.quality.latency_us);
        if longest == 0 {
            return;
        }
        let clock = self.network.api.clock();
        let at = clock.now() + Duration::from_micros(self.random().range(0..longest));
        clock.sleep_until(at).await;
    }
}

/// Something of a request is open; the end of it is a fact.
#[derive(Debug)]
struct Open(Wire);

impl Drop for Open {
    fn drop(&mut self) {
        let informer = self.0.informer;
        self.0.note(Fact::Closed { informer });
    }
}

impl Transport for Wire {
    type Body = WireBody;
    type Error = io::Error;

    async fn send(&self, request: Request<Bytes>) -> io::Result<Response<WireBody>> {
        let ask = Ask::of(request.uri());
        let informer = self.informer;
        self.note(Fact::Asked {
            informer,
            ask: ask.clone(),
        });
        let open = Open(self.clone());
        self.latency().await;
        let generation = self.network.generation();
        let request = self.network.route(request, &mut self.random());
        let answer = self.network.api.answer(request).await;
        self.latency().await;
        let answer = answer.and_then(|answer| {
            if generation == self.network.generation() {
                Ok(answer)
            } else {
                Err(io::ErrorKind::ConnectionReset.into())
            }
        });
        let status = answer.as_ref().map_or(0, |answer| answer.status().as_u16());
        self.note(Fact::Answered { informer, status });
        let (parts, body) = answer?.into_parts();
        let success = parts.status.is_success();
        Ok(Response::from_parts(
            parts,
            WireBody::new(body, open, success.then_some(ask.kind)),
        ))
    }

    fn is_refused(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::ConnectionRefused
    }
}
