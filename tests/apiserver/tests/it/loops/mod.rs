//! Informers that follow a real server through everything that happens to one, round after round while writes go on.
//!
//! In the end each informer has what an independent LIST has, and on the way no handler was told a gap, a step back, a state that nobody
//! wrote, or of anything before it was in the store. A few rounds each, or for `INFORMER_LOOP_SECONDS` as `cargo xtask ci --long` does:
//! then with 5 000 objects, and with the figures on standard error.

pub(crate) mod churn;
mod compaction;
pub(crate) mod crd;
pub(crate) mod follower;
mod gate;
mod kills;
mod no_cache;
mod rbac;
mod short_watches;
mod two_servers;

use std::{
    env,
    io::{self, Write as _},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use apiserver_tests::{ControlPlane, Login, Relay, wait::Timer};
use informer_client::{ApiSource, DynamicObject, Selectors};
use informer_hyper::{HttpVersion, HyperTransport};
use informer_reflector::Start;
use informer_sharedinformer::ReflectorOptions;
use informer_transport::DynamicCodec;
use tokio::task::{JoinSet, spawn_blocking};

use self::{churn::Churn, follower::Follower};
use crate::support::{admin, config_maps, connect, namespace, own};

/// For how long a loop goes on, where that was asked for.
fn asked_for() -> Option<Duration> {
    let seconds = env::var("INFORMER_LOOP_SECONDS").ok()?;
    Some(Duration::from_secs(seconds.parse().unwrap()))
}

/// How many objects a loop has.
fn n_objects() -> usize {
    if asked_for().is_some() { 5_000 } else { 300 }
}

/// Counts the rounds of a loop.
#[derive(Debug)]
struct Rounds {
    timer: Timer,
    at_least: usize,
    n: usize,
}

impl Rounds {
    /// So many, or for as long as was asked for.
    fn new(at_least: usize) -> Self {
        Self {
            timer: Timer::new(asked_for().unwrap_or_default()),
            at_least,
            n: 0,
        }
    }

    /// Whether there is another one.
    fn next(&mut self) -> bool {
        let another = self.n < self.at_least || !self.timer.is_over();
        self.n += usize::from(another);
        another
    }

    /// Tells how it went.
    fn report(&self, name: &str, what: &str, churn: &Churn, followers: &[Follower]) {
        let mut text = format!(
            "loop {name}: {} rounds ({what}) in {:?}; {churn}\n",
            self.n,
            self.timer.elapsed()
        );
        for follower in followers {
            text.push_str(&format!("  {follower}\n"));
        }
        io::stderr().write_all(text.as_bytes()).unwrap();
    }
}

type DynamicSource = ApiSource<HyperTransport, DynamicObject, DynamicCodec>;

/// A control plane of its own with a namespace full of config maps, writers that go straight to it, and a relay for who follows.
struct Scene {
    plane: Arc<ControlPlane>,
    namespace: String,
    path: String,
    relay: Relay,
    churn: Churn,
}

impl Scene {
    async fn new(name: &str, arguments: &[&str], n: usize) -> Self {
        // By default an orderly end waits a minute for watches that nobody ends.
        let grace = ["--shutdown-watch-termination-grace-period=1s"];
        let plane = own(&[&grace, arguments].concat()).await;
        let namespace = namespace(&plane, name);
        let churn = Churn::new(&admin(&plane), config_maps(), &namespace, n);
        churn.fill().await;
        Self {
            path: format!("/api/v1/namespaces/{namespace}/configmaps"),
            relay: Relay::start(plane.address()).await.unwrap(),
            plane,
            namespace,
            churn,
        }
    }

    fn source(&self, login: Login, version: HttpVersion, through: Option<SocketAddr>) -> DynamicSource {
        let client = connect(&self.plane, login, version, through);
        let api = client.dynamic(config_maps()).in_namespace(&self.namespace);
        api.source(Selectors::all())
    }

    /// One that lists, over HTTP/1.1, and one that streams, over HTTP/2; both through the relay, and synced.
    async fn follow(&self) -> Vec<Follower> {
        let followers = vec![
            self.follower(Start::List, HttpVersion::Http1, None),
            self.follower(Start::StreamingList, HttpVersion::Http2, None),
        ];
        for follower in &followers {
            follower.synced().await;
        }
        followers
    }

    fn follower(&self, start: Start, version: HttpVersion, page_size: Option<u32>) -> Follower {
        let source = self.source(Login::Token, version, Some(self.relay.address()));
        let name = format!("{start:?} {version:?}");
        Follower::start(name, source, options(start, page_size))
    }

    /// Does something to the servers that blocks.
    async fn with_plane(&self, act: impl FnOnce(&ControlPlane) + Send + 'static) {
        let plane = self.plane.clone();
        spawn_blocking(move || act(&plane)).await.unwrap();
    }

    /// Ends the writes, and sees that all have followed.
    async fn settle(&self, writers: JoinSet<()>, followers: &[Follower], rounds: &Rounds) {
        let most_watches = most_watches(rounds);
        self.churn.stop(writers).await;
        for follower in followers {
            follower
                .settles(&self.plane, &self.path, &self.churn, most_watches)
                .await;
        }
    }
}

/// With short waits between attempts, so that a round is over soon and the next one finds something new.
pub(crate) fn options(start: Start, page_size: Option<u32>) -> ReflectorOptions {
    let mut options = ReflectorOptions::default();
    options.start = start;
    options.page_size = page_size;
    options.backoff.initial = Duration::from_millis(100);
    options.backoff.cap = Duration::from_secs(1);
    options
}

/// So many WATCH requests are few enough: each interruption and each outage has its attempts.
fn most_watches(rounds: &Rounds) -> u64 {
    10 + 20 * u64::try_from(rounds.n).unwrap() + 3 * rounds.timer.elapsed().as_secs()
}

async fn stop(followers: Vec<Follower>) {
    for follower in followers {
        follower.stop().await;
    }
}
