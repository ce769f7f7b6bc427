//! A replica for tests of leader election: while it leads, it writes to a config map, each write fenced by its term and by the version of
//! what it read. Ends politely on SIGTERM, with a failure when its lease is lost.
//!
//! ```text
//! candidate KUBECONFIG NAMESPACE IDENTITY LEASE_MS RENEW_MS RETRY_MS
//! ```
//!
//! The config map `ledger` holds in `term` the term of the last write, in `count` how many there were, and in `log` a line for each:
//! `COUNT TERM IDENTITY`. A program that keeps such a ledger can take the place of this one.
//!
//! It is stubborn: after its lease is lost it goes on trying to write in its old term for a while, as work does that cannot be cancelled, so
//! that a test sees the fence hold and not only the clock.

use std::{
    env,
    error::Error,
    io::Write as _,
    process::ExitCode,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use informer_client::{Api, Client, DynamicObject, WriteOptions};
use informer_core::{Clock as _, Resource, ResourceVersion, TokioClock};
use informer_hyper::HyperTransport;
use informer_kubeconfig::{Config, Overrides};
use informer_leaderelection::{Elector, End, Event, Leadership, LeaseLock, Options, Term};
use informer_transport::DynamicCodec;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

const LEDGER: &str = "ledger";
/// Between writes.
const PACE: Duration = Duration::from_millis(50);
/// How often it tries to write after its lease is lost.
const STUBBORN: usize = 40;

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(End::Stopped { released }) => {
            say(&format!("stopped, released: {released}"));
            ExitCode::SUCCESS
        }
        Ok(End::Lost(loss)) => {
            say(&format!("lost: {loss}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            say(&format!("failed: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// A line for whoever reads the log, at once.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _closed = writeln!(out, "{line}").and_then(|()| out.flush());
}

async fn run() -> Result<End, Failure> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [kubeconfig, namespace, identity, lease, renew, retry] = &arguments[..] else {
        return Err("usage: candidate KUBECONFIG NAMESPACE IDENTITY LEASE_MS RENEW_MS RETRY_MS".into());
    };
    let millis = |text: &str| text.parse().map(Duration::from_millis);
    let mut options = Options::new(identity.as_str());
    options.name = "candidate".into();
    options.lease_duration = millis(lease)?;
    options.renew_deadline = millis(renew)?;
    options.retry_period = millis(retry)?;
    options.release_on_cancel = true;

    let client = connect(kubeconfig)?;
    let lock = LeaseLock::new(&client, namespace, "election");
    let elector = Elector::new(lock, options)?.on_event(|event| match event {
        Event::BecameLeader { term, .. } => say(&format!("leads in term {term}")),
        other => say(&other.to_string()),
    });
    let mut terminate = signal(SignalKind::terminate())?;
    let stop = async move {
        terminate.recv().await;
    };
    // Outside of the work, which is dropped when the lease is lost.
    let ledger = Arc::new(Ledger::new(&client, namespace, identity));
    let led = Arc::new(OnceLock::new());
    let (writer, began) = (ledger.clone(), led.clone());
    let work = move |leadership: Leadership| async move {
        let Some(term) = leadership.term() else { return };
        let _first = began.set(term.clone());
        tokio::select! {
            () = leadership.ending() => {}
            () = async { while leadership.is_leader() { writer.write(&term).await } } => {}
        }
    };
    let end = elector.run_with(stop, work).await;
    if let (End::Lost(_), Some(term)) = (&end, led.get()) {
        for _ in 0..STUBBORN {
            ledger.write(term).await;
        }
    }
    Ok(end)
}

fn connect(kubeconfig: &str) -> Result<Client<HyperTransport>, Failure> {
    let mut overrides = Overrides::default();
    overrides.kubeconfig = Some(kubeconfig.into());
    let config = Config::find(&overrides)?.ok_or("there is no kubeconfig file")?;
    let transport = HyperTransport::builder(config.server())
        .authorize(config.authorizer())
        .tls(config.tls())
        .build()?;
    Ok(Client::new(transport))
}

/// The config map that only the leader may write to.
struct Ledger {
    api: Api<HyperTransport, DynamicObject, DynamicCodec>,
    identity: String,
    /// The state that the next write is made from.
    last: Mutex<Option<Value>>,
}

impl Ledger {
    fn new(client: &Client<HyperTransport>, namespace: &str, identity: &str) -> Self {
        let config_maps = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
        Self {
            api: client.dynamic(config_maps).in_namespace(namespace),
            identity: identity.to_owned(),
            last: Mutex::new(None),
        }
    }

    /// Tries to write once in this term, and says how it went.
    async fn write(&self, term: &Term) {
        match self.try_write(term).await {
            Ok(Some(count)) => say(&format!("wrote {count} in term {term}")),
            Ok(None) => say(&format!("fenced off: a later term than {term} has written")),
            Err(error) => say(&format!("refused in term {term}: {error}")),
        }
        TokioClock.sleep_until(TokioClock.now() + PACE).await;
    }

    /// A write is made from the state that was read, and accepted only if that is still the state: the version fences off whoever is late. A
    /// state of a later term is not touched: that fences off whoever reads again. Both are needed.
    async fn try_write(&self, term: &Term) -> Result<Option<u64>, Failure> {
        let last = self.last().take();
        let state = match last {
            Some(state) => Some(state),
            None => self
                .api
                .find(LEDGER)
                .await?
                .map(|found| found.object.into_value()),
        };
        let text = |member: &str| {
            let data = state.as_ref().and_then(|state| state["data"][member].as_str());
            data.unwrap_or_default().to_owned()
        };
        if parse(&text("term")).is_some_and(|written| written.is_after(term)) {
            *self.last() = state;
            return Ok(None);
        }
        let count = text("count").parse::<u64>().unwrap_or(0) + 1;
        let log = format!("{}{count} {term} {}\n", text("log"), self.identity);
        let mut next = state
            .clone()
            .unwrap_or_else(|| json!({"metadata": {"name": LEDGER}}));
        next["data"] = json!({"term": term.to_string(), "count": count.to_string(), "log": log});
        let options = WriteOptions::default();
        let written = match &state {
            Some(_) => self.api.replace(LEDGER, &next, &options).await?,
            None => self.api.create(&next, &options).await?,
        };
        *self.last() = Some(written.object.into_value());
        Ok(Some(count))
    }

    fn last(&self) -> MutexGuard<'_, Option<Value>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A term as it prints.
fn parse(text: &str) -> Option<Term> {
    let (transitions, version) = text.split_once('@')?;
    Some(Term {
        transitions: transitions.parse().ok()?,
        version: ResourceVersion::new(version),
    })
}
