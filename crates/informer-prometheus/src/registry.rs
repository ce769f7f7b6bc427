//! `Registry`: all metrics of a program, as one text.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use prometheus::TextEncoder;

use crate::{
    QueueMetrics,
    families::{self, Making},
    queue::Probes,
    scopes::Scopes,
};

#[cfg(feature = "informer")]
use crate::asked::Informers;
#[cfg(feature = "kubeconfig")]
use crate::plugins::Expiries;

/// What can be chosen about a registry.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// So many queues, controllers, informers, handlers and the like have series, together; further ones are not measured and counted as
    /// `informer_metrics_refused_total`.
    pub max_measured: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_measured: 2000 }
    }
}

/// All metrics of a program. Clones are the same registry; a program has as many as it wants, and none is global.
///
/// It is handed to whatever is to be measured, and rendered by whatever serves `/metrics`: see the crate documentation.
#[derive(Clone)]
pub struct Registry(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    registry: prometheus::Registry,
    rendering: Mutex<()>,
    pub(crate) scopes: Arc<Scopes>,
    pub(crate) probes: Probes,
    pub(crate) queue: families::QueueFamilies,
    #[cfg(feature = "cache")]
    pub(crate) client: families::ClientFamilies,
    #[cfg(feature = "controller")]
    pub(crate) reconcile: families::ReconcileFamilies,
    #[cfg(feature = "leaderelection")]
    pub(crate) election: families::ElectionFamilies,
    #[cfg(feature = "informer")]
    pub(crate) informer: families::InformerFamilies,
    #[cfg(feature = "informer")]
    pub(crate) reflector: families::ReflectorFamilies,
    #[cfg(feature = "informer")]
    pub(crate) informers: Informers,
    #[cfg(feature = "events")]
    pub(crate) events: families::EventFamilies,
    #[cfg(feature = "transport")]
    pub(crate) requests: families::RequestFamilies,
    #[cfg(feature = "hyper")]
    pub(crate) connections: families::ConnectionFamilies,
    #[cfg(feature = "kubeconfig")]
    pub(crate) plugins: families::PluginFamilies,
    #[cfg(feature = "kubeconfig")]
    pub(crate) expiries: Expiries,
}

impl Registry {
    /// The `Content-Type` of what [`render`](Self::render) returns.
    pub const CONTENT_TYPE: &'static str = prometheus::TEXT_FORMAT;

    /// A registry with nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self::with_options(&Options::default())
    }

    /// A registry with nothing in it and these options.
    #[must_use]
    pub fn with_options(options: &Options) -> Self {
        let registry = prometheus::Registry::new();
        let make = Making(&registry);
        let refused = make.plain_counter(
            "informer_metrics_refused_total",
            "Queues, controllers, informers and the like that are not measured, since there are too many.",
        );
        Self(Arc::new(Inner {
            scopes: Scopes::new(options.max_measured, refused),
            rendering: Mutex::default(),
            probes: Probes::default(),
            queue: families::QueueFamilies::new(&make),
            #[cfg(feature = "cache")]
            client: families::ClientFamilies::new(&make),
            #[cfg(feature = "controller")]
            reconcile: families::ReconcileFamilies::new(&make),
            #[cfg(feature = "leaderelection")]
            election: families::ElectionFamilies::new(&make),
            #[cfg(feature = "informer")]
            informer: families::InformerFamilies::new(&make),
            #[cfg(feature = "informer")]
            reflector: families::ReflectorFamilies::new(&make),
            #[cfg(feature = "informer")]
            informers: Informers::default(),
            #[cfg(feature = "events")]
            events: families::EventFamilies::new(&make),
            #[cfg(feature = "transport")]
            requests: families::RequestFamilies::new(&make),
            #[cfg(feature = "hyper")]
            connections: families::ConnectionFamilies::new(&make),
            #[cfg(feature = "kubeconfig")]
            plugins: families::PluginFamilies::new(&make),
            #[cfg(feature = "kubeconfig")]
            expiries: Expiries::default(),
            registry,
        }))
    }

    /// Metrics for the work queue of this name.
    #[must_use]
    pub fn queue(&self, name: &str) -> QueueMetrics {
        QueueMetrics::new(self, name)
    }

    /// Adds what the operating system knows of this process: CPU time, memory, open files, threads and the time of its start, as
    /// `process_*` (Linux only, elsewhere nothing is added). A second call adds nothing.
    #[cfg(feature = "process")]
    pub fn measure_process(&self) {
        #[cfg(target_os = "linux")]
        {
            let collector = prometheus::process_collector::ProcessCollector::for_self();
            // It is there already: one process is measured once.
            let _again = self.0.registry.register(Box::new(collector));
        }
    }

    /// Everything as text, in the exposition format that Prometheus reads, by name. Cheap enough for each scrape; asks the queues and
    /// informers that live for what grows while nothing happens.
    #[must_use]
    pub fn render(&self) -> String {
        // Two scrapes at once must not see each other's half.
        let _rendering = self.0.rendering.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.probes.refresh(&self.0.queue);
        #[cfg(feature = "informer")]
        self.0.informers.refresh(&self.0.informer);
        #[cfg(feature = "kubeconfig")]
        self.0.expiries.refresh(&self.0.plugins);
        TextEncoder::new()
            .encode_to_string(&self.0.registry.gather())
            .expect("families of this crate can be written")
    }

    /// The registry below, to register collectors of the program's own. What it gathers by itself lacks what [`render`](Self::render)
    /// asks for.
    #[must_use]
    pub fn collectors(&self) -> &prometheus::Registry {
        &self.0.registry
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}
