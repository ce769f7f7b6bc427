//! How a manager is put together.

use std::{fmt, net::SocketAddr, sync::Arc, time::Duration};

use informer_controller::{Controller, Defaults, Request};
use informer_core::{BoxClock, Clock, Key, TokioClock};
use informer_sharedinformer::SharedInformer;

use crate::{
    BuildError, Candidate, Check, Checks, Cluster, Endpoint, Handle, Informers, Limits, Manager, Render,
    Reply, Runnable, Server, Signals, Stop, controllers,
    kinds::Kinds,
    machine::{Grace, Late, Options},
    serve,
    shared::Shared,
};

/// Puts a manager together: begun by [`Manager::builder`], ended by [`build`](Self::build).
pub struct Builder {
    runnables: Vec<Box<dyn Runnable>>,
    candidates: Vec<Box<dyn Candidate>>,
    options: Options,
    how: Stop,
    clock: BoxClock,
    signals: Signals,
    health: Option<SocketAddr>,
    metrics: Option<Arc<dyn Render>>,
    metrics_at: Option<SocketAddr>,
    limits: Limits,
    routes: Vec<(String, Arc<dyn Endpoint>)>,
    live: Checks,
    ready: Checks,
    kinds: Kinds,
    defaults: Defaults,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            runnables: Vec::new(),
            candidates: Vec::new(),
            options: Options::default(),
            how: Stop::Finish,
            clock: BoxClock::new(TokioClock),
            signals: Signals::none(),
            health: None,
            metrics: None,
            metrics_at: None,
            limits: Limits::default(),
            routes: Vec::new(),
            live: Checks::new(),
            ready: Checks::new(),
            kinds: Kinds::default(),
            defaults: Defaults::new(),
        }
    }

    /// Runs this. May be called several times.
    #[must_use]
    pub fn runnable(mut self, runnable: impl Runnable) -> Self {
        self.runnables.push(Box::new(runnable));
        self
    }

    /// Runs this controller, on the leader.
    #[must_use]
    pub fn controller<R: Request>(self, controller: &Controller<R>) -> Self {
        self.runnable(controller.clone())
    }

    /// What holds for the controllers of this program and they do not say otherwise (controller-runtime `Options.Controller`): for those
    /// that [`Handle::controller`] begins, and for whoever gives them to a builder of a controller.
    #[must_use]
    pub fn controller_defaults(mut self, defaults: Defaults) -> Self {
        self.defaults = defaults;
        self
    }

    /// Runs the cache of this cluster, and asks for the sync of its kinds in `/readyz`. May be called several times; their names differ
    /// then. More can be added and removed while the manager runs ([`Handle::add_cluster`]).
    #[must_use]
    pub fn cluster(self, cluster: &Cluster) -> Self {
        self.observe(cluster.name(), cluster.clone())
            .runnable(cluster.clone())
    }

    /// Runs this informer among the caches, and asks for its sync in `/readyz`.
    #[must_use]
    pub fn informer<Q: Key, K: Send + Sync + 'static>(self, informer: &SharedInformer<Q, K>) -> Self {
        self.observe("", informer.clone()).runnable(informer.clone())
    }

    /// Asks for the sync of informers that something else runs, in `/readyz` and the debug endpoint. The name is that of their cluster; it
    /// may be empty.
    #[must_use]
    pub fn observe(self, cluster: impl Into<Arc<str>>, informers: impl Informers + 'static) -> Self {
        self.kinds.add(cluster.into(), Arc::new(informers));
        self
    }

    /// Stands for election: what runs on the leader starts when it is won. Without it, this replica leads.
    #[must_use]
    pub fn leader_election(mut self, candidate: impl Candidate) -> Self {
        self.candidates.push(Box::new(candidate));
        self
    }

    /// How long a stop may take, in all; 30 seconds by default. Zero waits for nothing, [`Grace::Forever`] for everything.
    #[must_use]
    pub fn grace(mut self, grace: impl Into<Grace>) -> Self {
        self.options.grace = grace.into();
        self
    }

    /// What a stop does to what runs: by default it may finish within the grace time; [`Stop::Cancel`] drops it at once, as
    /// controller-runtime cancels its reconcilers.
    #[must_use]
    pub fn on_stop(mut self, how: Stop) -> Self {
        self.how = how;
        self
    }

    /// How long a group may take until it is ready, `None` for ever; two minutes by default. Then the next group starts without it, or
    /// the manager ends.
    #[must_use]
    pub fn ready_within(mut self, within: impl Into<Option<Duration>>, late: Late) -> Self {
        self.options.ready_within = within.into();
        self.options.late = late;
        self
    }

    /// A clock of your own; tokio's by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = BoxClock::new(clock);
        self
    }

    /// What tells it from outside to stop; nothing by default.
    #[must_use]
    pub fn signals(mut self, signals: Signals) -> Self {
        self.signals = signals;
        self
    }

    /// Serves `/healthz`, `/readyz`, `/debug/informers`, `/debug/controllers`, and `/metrics` if nothing else does, at this address. Port 0 picks a free one,
    /// which [`Manager::health_addr`] tells. None by default.
    #[must_use]
    pub fn health_addr(mut self, address: SocketAddr) -> Self {
        self.health = Some(address);
        self
    }

    /// What `/metrics` answers: text of whatever registry.
    #[must_use]
    pub fn metrics(mut self, render: impl Render + 'static) -> Self {
        self.metrics = Some(Arc::new(render));
        self
    }

    /// Serves `/metrics` at an address of its own.
    #[must_use]
    pub fn metrics_addr(mut self, address: SocketAddr) -> Self {
        self.metrics_at = Some(address);
        self
    }

    /// What bounds the clients of its servers.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Answers requests for another path, beside `/healthz` (controller-runtime `AddMetricsServerExtraHandler`).
    #[must_use]
    pub fn route(mut self, path: impl Into<String>, endpoint: impl Endpoint + 'static) -> Self {
        self.routes.push((path.into(), Arc::new(endpoint)));
        self
    }

    /// A check of `/healthz`: a process that fails it should be restarted. [`Handle::healthz`] takes more at any time.
    #[must_use]
    pub fn healthz(self, name: impl Into<Arc<str>>, check: impl Check + 'static) -> Self {
        self.live.add(name, check);
        self
    }

    /// A check of `/readyz`: a process that fails it should not be asked. The sync of each informer and each controller is asked for anyway,
    /// and that the manager has started and does not stop. [`Handle::readyz`] takes more at any time.
    #[must_use]
    pub fn readyz(self, name: impl Into<Arc<str>>, check: impl Check + 'static) -> Self {
        self.ready.add(name, check);
        self
    }

    /// The manager, which does nothing until it is run; but its servers listen, so that their addresses are known.
    ///
    /// # Errors
    /// When an address cannot be listened at, when two runnables have one name, when there are several candidates, and when metrics have an
    /// address and nothing to show, or something to show and no address.
    pub fn build(mut self) -> Result<Manager, BuildError> {
        if self.candidates.len() > 1 {
            return Err(BuildError::new("several candidates for one manager"));
        }
        let candidate = self.candidates.pop();
        self.options.election = candidate.is_some();
        let election = candidate.as_ref().map(|candidate| candidate.name());
        let shared = Arc::new(Shared::new(self.options, self.clock.clone(), election));
        self.check_readiness(&shared);
        if let Some((name, check)) = candidate.as_ref().and_then(|candidate| candidate.check()) {
            self.live.add_shared(name.clone(), check.clone());
            self.ready.add_shared(name, check);
        }
        let servers = self.servers(&shared)?;
        let mut addresses = Vec::new();
        for (name, server) in servers {
            addresses.push((name, server.address()));
            add(&shared, Box::new(server))?;
        }
        for runnable in self.runnables {
            add(&shared, runnable)?;
        }
        let handle = Handle {
            shared,
            live: self.live,
            ready: self.ready,
            kinds: self.kinds,
            defaults: Arc::new(self.defaults),
        };
        Ok(Manager {
            handle,
            candidate,
            signals: self.signals,
            how: self.how,
            addresses,
        })
    }

    fn check_readiness(&self, shared: &Arc<Shared>) {
        let weak = Arc::downgrade(shared);
        self.ready.add("manager", move || match weak.upgrade() {
            Some(shared) => shared.is_ready().map_err(Into::into),
            None => Err("it is gone".into()),
        });
        let kinds = self.kinds.clone();
        self.ready.add_many("informers", move || kinds.verdicts());
        let weak = Arc::downgrade(shared);
        self.ready
            .add_many("controllers", move || controllers::verdicts(&weak));
    }

    /// The servers that were asked for, by name.
    fn servers(&mut self, shared: &Arc<Shared>) -> Result<Vec<(Arc<str>, Server)>, BuildError> {
        let metrics = self.metrics.take().map(serve::Metrics);
        let mut servers = Vec::new();
        let mut beside = None;
        match (self.metrics_at, metrics) {
            (Some(address), Some(metrics)) => {
                let server = bind("metrics", address)?.route("/metrics", metrics);
                servers.push((Arc::from("metrics"), server));
            }
            (Some(_), None) => return Err(BuildError::new("an address for metrics, and no metrics")),
            (None, metrics) => beside = metrics,
        }
        if let Some(address) = self.health {
            let (kinds, clock) = (self.kinds.clone(), self.clock.clone());
            let weak = Arc::downgrade(shared);
            let mut server = bind("health", address)?
                .route("/healthz", self.live.clone())
                .route("/readyz", self.ready.clone())
                .route("/debug/informers", move |_: &serve::Request<'_>| {
                    Reply::json(200, &kinds.json(clock.now()))
                })
                .route("/debug/controllers", move |_: &serve::Request<'_>| {
                    Reply::json(200, &controllers::json(&weak))
                });
            if let Some(metrics) = beside {
                server = server.route("/metrics", metrics);
            }
            for (path, endpoint) in self.routes.drain(..) {
                server = server.route(&path, move |request: &serve::Request<'_>| {
                    endpoint.answer(request)
                });
            }
            servers.push((Arc::from("health"), server));
        } else if beside.is_some() || !self.routes.is_empty() {
            return Err(BuildError::new(
                "metrics or paths to serve, and no address to serve them at",
            ));
        }
        let (limits, clock) = (self.limits, self.clock.clone());
        let bounded = servers
            .into_iter()
            .map(|(name, server)| (name, server.limits(limits).clock(clock.clone())));
        Ok(bounded.collect())
    }
}

fn bind(name: &str, address: SocketAddr) -> Result<Server, BuildError> {
    Server::bind(format!("{name}-server"), address)
        .map_err(|error| BuildError::because(format!("cannot serve {name} at {address}"), error))
}

fn add(shared: &Shared, runnable: Box<dyn Runnable>) -> Result<(), BuildError> {
    shared
        .add(runnable)
        .map_err(|error| BuildError::because("a runnable does not fit", error))
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.runnables.iter().map(|runnable| runnable.name()).collect();
        f.debug_struct("Builder")
            .field("runnables", &names)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
