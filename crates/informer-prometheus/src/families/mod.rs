//! Every metric there is: name, help, labels, buckets.

use prometheus::{
    GaugeVec, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec, Opts, core::Collector,
};

#[cfg(feature = "cache")]
mod client;
#[cfg(feature = "hyper")]
mod connections;
#[cfg(feature = "controller")]
mod controller;
#[cfg(feature = "leaderelection")]
mod election;
#[cfg(feature = "events")]
mod events;
#[cfg(feature = "informer")]
mod informer;
#[cfg(feature = "kubeconfig")]
mod plugins;
mod queue;
#[cfg(feature = "informer")]
mod reflector;
#[cfg(feature = "transport")]
mod requests;

#[cfg(feature = "cache")]
pub(crate) use self::client::ClientFamilies;
#[cfg(feature = "hyper")]
pub(crate) use self::connections::ConnectionFamilies;
#[cfg(feature = "controller")]
pub(crate) use self::controller::ReconcileFamilies;
#[cfg(feature = "leaderelection")]
pub(crate) use self::election::ElectionFamilies;
#[cfg(feature = "events")]
pub(crate) use self::events::EventFamilies;
#[cfg(feature = "informer")]
pub(crate) use self::informer::{INFORMER, InformerFamilies};
#[cfg(feature = "kubeconfig")]
pub(crate) use self::plugins::PluginFamilies;
pub(crate) use self::queue::QueueFamilies;
#[cfg(feature = "informer")]
pub(crate) use self::reflector::ReflectorFamilies;
#[cfg(feature = "transport")]
pub(crate) use self::requests::RequestFamilies;

/// A registry under construction.
pub(crate) struct Making<'a>(pub(crate) &'a prometheus::Registry);

impl Making<'_> {
    fn register<M: Collector + Clone + 'static>(&self, metric: prometheus::Result<M>) -> M {
        let metric = metric.expect("names and labels are constants that are tested");
        self.0
            .register(Box::new(metric.clone()))
            .expect("names differ, as is tested");
        metric
    }

    fn counter(&self, name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
        self.register(IntCounterVec::new(Opts::new(name, help), labels))
    }

    fn gauge(&self, name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
        self.register(IntGaugeVec::new(Opts::new(name, help), labels))
    }

    fn seconds(&self, name: &str, help: &str, labels: &[&str]) -> GaugeVec {
        self.register(GaugeVec::new(Opts::new(name, help), labels))
    }

    fn histogram(&self, name: &str, help: &str, labels: &[&str], buckets: &[f64]) -> HistogramVec {
        let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
        self.register(HistogramVec::new(options, labels))
    }

    pub(crate) fn plain_counter(&self, name: &str, help: &str) -> IntCounter {
        self.register(IntCounter::new(name, help))
    }
}

/// The values that some labels have in a family, for those series in which other labels have these values.
pub(crate) fn children(family: &impl Collector, of: &[(&str, &str)], labels: &[&str]) -> Vec<Vec<String>> {
    let families = family.collect();
    let metrics = families.iter().flat_map(|family| family.get_metric());
    let value = |metric: &prometheus::proto::Metric, label: &str| {
        let mut pairs = metric.get_label().iter();
        pairs
            .find(|pair| pair.name() == label)
            .map(|pair| pair.value().to_owned())
    };
    metrics
        .filter(|metric| {
            of.iter()
                .all(|(label, wanted)| value(metric, label).as_deref() == Some(wanted))
        })
        .map(|metric| labels.iter().filter_map(|label| value(metric, label)).collect())
        .collect()
}

/// Upstream: component-base `requestLatency`.
#[cfg(any(feature = "events", feature = "transport"))]
const REQUEST_BUCKETS: [f64; 12] = [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0];
