//! Candidates on the API server model, in paused time: each with a line of its own that can be disturbed, and a journal of what they told.

use std::{
    io,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use informer_client::Client;
use informer_core::{Clock, TokioClock};
use informer_leaderelection::{
    Elector, End, Event, Leadership, Lease, LeaseLock, LeaseSpec, MicroTime, Options,
};
use informer_testkit::{FakeApi, FakeTransport, SharedApi};
use informer_transport::Transport;
use serde_json::{Value, json};
use tokio::{sync::oneshot, task::JoinHandle};

pub(crate) const NAMESPACE: &str = "default";
pub(crate) const LEASE: &str = "election";

/// What befalls the requests of one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    Open,
    /// No request arrives.
    Hole,
    /// Requests arrive and have their effect, and no answer comes back.
    LoseAnswers,
    /// Writes are answered by this failure, without effect.
    Refuse(u16),
    /// All requests are.
    RefuseAll(u16),
}

#[derive(Debug, Clone)]
pub(crate) struct TestTransport {
    fake: FakeTransport<TokioClock>,
    line: Arc<Mutex<Line>>,
}

impl Transport for TestTransport {
    type Body = Full<Bytes>;
    type Error = io::Error;

    async fn send(&self, request: Request<Bytes>) -> io::Result<Response<Full<Bytes>>> {
        let line = *self.line.lock().unwrap();
        let reads = request.method() == http::Method::GET;
        match line {
            Line::Hole => return std::future::pending().await,
            Line::Refuse(code) if !reads => return Ok(refusal(code)),
            Line::RefuseAll(code) => return Ok(refusal(code)),
            Line::Open | Line::LoseAnswers | Line::Refuse(_) => {}
        }
        let answer = self.fake.send(request).await?;
        if line == Line::LoseAnswers {
            return std::future::pending().await;
        }
        let (parts, body) = answer.into_parts();
        let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
        Ok(Response::from_parts(parts, Full::new(body)))
    }
}

fn refusal(code: u16) -> Response<Full<Bytes>> {
    let reason = if code == 409 { "Conflict" } else { "InternalError" };
    let body =
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason});
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = StatusCode::from_u16(code).unwrap();
    response
}

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) at: Duration,
    pub(crate) who: String,
    pub(crate) event: Event,
}

pub(crate) struct World {
    pub(crate) api: SharedApi<TokioClock>,
    start: Instant,
    journal: Arc<Mutex<Vec<Entry>>>,
}

/// A candidate that runs.
pub(crate) struct Candidate {
    pub(crate) leadership: Leadership,
    line: Arc<Mutex<Line>>,
    stop: Option<oneshot::Sender<()>>,
    run: JoinHandle<End>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            api: SharedApi::new(FakeApi::with_builtins(), TokioClock),
            start: TokioClock.now(),
            journal: Arc::default(),
        }
    }

    pub(crate) fn now(&self) -> Duration {
        TokioClock.now() - self.start
    }

    pub(crate) fn client(&self) -> Client<FakeTransport<TokioClock>> {
        Client::new(FakeTransport::new(self.api.clone()))
    }

    pub(crate) fn elector(&self, options: Options) -> (Elector<LeaseLock<TestTransport>>, Arc<Mutex<Line>>) {
        let line = Arc::new(Mutex::new(Line::Open));
        let transport = TestTransport {
            fake: FakeTransport::new(self.api.clone()),
            line: line.clone(),
        };
        let (journal, start, who) = (self.journal.clone(), self.start, options.identity.to_string());
        let elector = Elector::new(LeaseLock::new(&Client::new(transport), NAMESPACE, LEASE), options)
            .unwrap()
            .seed(7)
            .wall_clock(move || {
                let since = TokioClock.now() - start;
                MicroTime::from_micros(1_764_000_000_000_000 + i64::try_from(since.as_micros()).unwrap())
            })
            .on_event(move |event| {
                journal.lock().unwrap().push(Entry {
                    at: TokioClock.now() - start,
                    who: who.clone(),
                    event: event.clone(),
                });
            });
        (elector, line)
    }

    /// Runs a candidate without work.
    pub(crate) fn run(&self, options: Options) -> Candidate {
        let (elector, line) = self.elector(options);
        let leadership = elector.leadership();
        let (stop, stopped) = stopper();
        let run = spawn(elector.run(stopped));
        Candidate::new(leadership, line, stop, run)
    }

    /// Runs a candidate whose work takes so long to end.
    pub(crate) fn run_with_work(&self, options: Options, takes: Duration) -> Candidate {
        let (elector, line) = self.elector(options);
        let leadership = elector.leadership();
        let (stop, stopped) = stopper();
        let work = move |leadership: Leadership| async move {
            leadership.ending().await;
            rest(takes).await;
        };
        let run = spawn(elector.run_with(stopped, work));
        Candidate::new(leadership, line, stop, run)
    }

    /// When this candidate began and ceased to lead.
    pub(crate) fn reigns(&self, who: &str) -> Vec<(Duration, Option<Duration>)> {
        let mut reigns: Vec<(Duration, Option<Duration>)> = Vec::new();
        for entry in self
            .journal
            .lock()
            .unwrap()
            .iter()
            .filter(|entry| entry.who == who)
        {
            match &entry.event {
                Event::BecameLeader { .. } => reigns.push((entry.at, None)),
                Event::StoppedLeading { .. } => {
                    let last = reigns.last_mut().expect("it led before it stopped");
                    assert_eq!(last.1.replace(entry.at), None, "{who} stopped twice");
                }
                _ => {}
            }
        }
        reigns
    }

    /// No two of them led at once.
    pub(crate) fn assert_no_overlap(&self, names: &[&str]) {
        let mut reigns: Vec<_> = names.iter().flat_map(|who| self.reigns(who)).collect();
        reigns.sort();
        for pair in reigns.windows(2) {
            let stopped = pair[0].1.expect("the one before has stopped");
            assert!(stopped <= pair[1].0, "{reigns:?}");
        }
    }

    pub(crate) fn journal(&self) -> Vec<Entry> {
        self.journal.lock().unwrap().clone()
    }

    pub(crate) fn lease(&self) -> Option<Value> {
        self.api
            .with(|api| api.get(&Lease::resource(), Some(NAMESPACE), LEASE).ok())
    }

    pub(crate) fn spec(&self) -> LeaseSpec {
        serde_json::from_value(self.lease().expect("there is a lease")["spec"].clone()).unwrap()
    }

    /// Writes the lease as somebody else would, whatever its version.
    pub(crate) fn put_spec(&self, spec: Value) {
        let lease = json!({"metadata": {"name": LEASE, "namespace": NAMESPACE}, "spec": spec});
        self.api.with(|api| api.put(&Lease::resource(), lease)).unwrap();
    }

    pub(crate) fn delete_lease(&self) {
        self.api
            .with(|api| api.delete(&Lease::resource(), Some(NAMESPACE), LEASE))
            .unwrap();
    }
}

impl Candidate {
    fn new(
        leadership: Leadership,
        line: Arc<Mutex<Line>>,
        stop: oneshot::Sender<()>,
        run: JoinHandle<End>,
    ) -> Self {
        let stop = Some(stop);
        Self {
            leadership,
            line,
            stop,
            run,
        }
    }

    pub(crate) fn line(&self, line: Line) {
        *self.line.lock().unwrap() = line;
    }

    /// Asks it to stop.
    pub(crate) fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ended = stop.send(());
        }
    }

    pub(crate) async fn end(self) -> End {
        // Kept until then: dropping it would stop the candidate.
        let _stop = self.stop;
        self.run.await.unwrap()
    }
}

fn stopper() -> (oneshot::Sender<()>, impl Future<Output = ()> + Send) {
    let (stop, stopped) = oneshot::channel();
    (stop, async move {
        let _dropped = stopped.await;
    })
}

/// client-go's numbers, giving the lease back.
pub(crate) fn options(identity: &str) -> Options {
    let mut options = Options::new(identity);
    options.release_on_cancel = true;
    options
}

#[expect(clippy::disallowed_methods, reason = "the test owns its candidates")]
pub(crate) fn spawn<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    tokio::spawn(future)
}

/// Lets time pass.
pub(crate) async fn rest(time: Duration) {
    TokioClock.sleep_until(TokioClock.now() + time).await;
}

pub(crate) fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
