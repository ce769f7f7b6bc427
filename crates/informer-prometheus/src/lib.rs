//! The metrics of informers, queues and controllers under the names of client-go and controller-runtime.
//!
//! # What it is
//! A [`Registry`] counts for whatever it is handed to, and renders all of it as text. Dashboards and alerts made for Go controllers work:
//! `workqueue_*`, `controller_runtime_*`, `leader_election_*`, `rest_client_*`, `informer_*` and `reflector_*` have upstream's names, labels and
//! buckets. What upstream lacks is beside them: objects and bytes of a cache, lag, handlers' backlogs, list and watch counts, and why a
//! reflector listed again.
//!
//! # What it is not
//! It serves nothing: a manager's `/metrics`, or any HTTP server, calls [`Registry::render`]. It is not global, and starts no task. Whatever
//! is measured works the same without it: the hooks cost nothing where nobody set them.
//!
//! # Example
//! ```
//! use informer_prometheus::Registry;
//! use informer_workqueue::{Config, Queue, WorkQueue as _};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let registry = Registry::new();
//! let queue = Queue::with(Config::default().metrics(registry.queue("pods")), informer_core::TokioClock);
//! queue.add("default/web", Default::default());
//!
//! let text = registry.render();
//! assert!(text.contains(r#"workqueue_adds_total{controller="pods",name="pods"} 1"#), "{text}");
//! assert!(text.contains(r#"workqueue_depth{controller="pods",name="pods",priority="0"} 1"#));
//! # }
//! ```
//!
//! | measured | by |
//! |---|---|
//! | a work queue | `Config::metrics(registry.queue("name"))` |
//! | a controller and its queue | `Builder::metrics_from(registry.clone())` |
//! | informers and their reflectors | the `metrics` method of factory or builder, with `registry.informers()` |
//! | reads that wait for own writes | `ReadYourWrites::metrics(registry.clone())` |
//! | elections | the elector's `metrics`, with `registry.clone()` |
//! | recorded events | `Broadcaster::with_metrics(registry.events("name"))` |
//! | requests, and responses that are being read | `registry.transport(transport, "host")` |
//! | connections, retries and waits for the rate limit | `HyperTransport::builder(url).metrics(Arc::new(registry.connections("host")))` |
//! | exec plug-ins | `Overrides::exec_metrics`, with `Arc::new(registry.clone())` |
//! | the process | `registry.measure_process()` |
//!
//! # Bounds
//! Each queue, controller, informer or handler has a fixed number of series. They go when it is gone. So many of them are measured at most
//! ([`Options::max_measured`]); a queue has 25 priorities with series of their own, all others share one, as upstream.
//!
//! # The library below
//! `prometheus`, rather than `prometheus-client`: it writes the text format that client-go's programs write, name for name and type for type,
//! while the other one writes OpenMetrics, in which counters are called otherwise (`workqueue_adds`, with `_total` at the sample). Neither has
//! summaries; where upstream names one, it is a histogram here, whose `_sum` and `_count` are the same.
//!
//! # Features
//! `cache`, `controller`, `events`, `informer`, `leaderelection`, `transport`: on by default; each is the metrics of one crate, and brings it as a
//! dependency. So do `hyper` (connections) and `kubeconfig` (exec plug-ins), which a program with a transport of its own has no use for.
//! `process`: what the operating system says of the process.
//!
//! # What upstream has and this has not
//! `rest_client_dns_resolution_duration_seconds`, which client-go does not register either; `rest_client_transport_cache_*` and
//! `rest_client_transport_cert_rotation_gc_calls_total`, as there is no cache of transports here; `go_*`.
//!
//! # Swap it
//! Implement the `Metrics` traits of the crates for another library. The program's own collectors go into [`Registry::collectors`].

#[cfg(feature = "informer")]
mod asked;
#[cfg(feature = "cache")]
mod client;
#[cfg(feature = "hyper")]
mod connections;
#[cfg(feature = "leaderelection")]
mod election;
#[cfg(feature = "events")]
mod events;
mod families;
#[cfg(feature = "informer")]
mod informer;
#[cfg(feature = "kubeconfig")]
mod plugins;
mod queue;
#[cfg(feature = "controller")]
mod reconcile;
#[cfg(feature = "informer")]
mod reflector;
mod registry;
mod scopes;
#[cfg(feature = "transport")]
mod transport;

#[cfg(feature = "hyper")]
pub use connections::ConnectionMetrics;
#[cfg(feature = "events")]
pub use events::EventMetrics;
pub use queue::QueueMetrics;
#[cfg(feature = "controller")]
pub use reconcile::ControllerMetrics;
pub use registry::{Options, Registry};
#[cfg(feature = "transport")]
pub use transport::{MeasuredBody, MeasuredTransport};
