//! A controller of kube that shares an informer with two others, against the embedded API server.
//!
//! It began as `Controller::new(Api::<ConfigMap>::all(client), watcher::Config::default())`, with a list, a watch and a copy of every object of
//! its own. Only that line changes: the stream and the store that kube makes of an `Api` are made of an informer instead. A second controller
//! of kube, with a predicate, and one of ours read from the same informer. The server sees one list and one watch.

#![expect(clippy::print_stdout, reason = "an example tells a person what it saw")]

use std::{collections::BTreeSet, convert::Infallible, error::Error, sync::Arc, time::Duration};

use futures_util::StreamExt as _;
use informer_apiserver::Server;
use informer_client::{Client, Selectors};
use informer_controller::ForObject;
use informer_core::{ObjectKey, Resource};
use informer_kube::{KubeClientExt as _, KubeInformerExt as _, KubeTransport, Shared};
use informer_sharedinformer::{HandlerOptions, Lister, SharedInformer};
use informer_testkit::Verb;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    ResourceExt as _,
    runtime::{Controller, WatchStreamExt as _, controller::Action, predicates, reflector},
};
use serde_json::json;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// What a controller of kube hands to its reconciler. The lister is new: the whole informer, with its indices.
struct Context {
    name: &'static str,
    lister: Lister<ObjectKey, ConfigMap>,
    told: UnboundedSender<(&'static str, String)>,
}

/// As it was, but for the type: a [`Shared`] reads as the object that it holds.
async fn reconcile(map: Arc<Shared<ConfigMap>>, context: Arc<Context>) -> Result<Action, Infallible> {
    let app = map.labels().get("app").map_or("", |it| it);
    let n_others = context.lister.by_index("app", app).map_or(0, |maps| maps.len());
    let line = format!("{} is one of {n_others} of {app}", map.name_any());
    // Who listens may have gone.
    let _ = context.told.send((context.name, line));
    Ok(Action::requeue(Duration::from_secs(300)))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::start(Default::default()).await?;
    let maps = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
    for (name, app) in [("a", "web"), ("b", "web"), ("c", "db")] {
        server.with(|api| api.create(&maps, json!({"metadata": {"name": name, "labels": {"app": app}}})))?;
    }
    // The configuration that the program has: its credentials, proxies and certificates stay. A client that it has would do as well.
    let transport = KubeTransport::from_config(kube::Config::new(server.url().parse()?))?;

    let source = Client::new(transport).kube::<ConfigMap>();
    let informer = SharedInformer::builder(source.source(Selectors::all()))
        .name("configmaps")
        .index("app", |map: &ConfigMap, emit: &mut dyn FnMut(&str)| {
            map.labels().get("app").into_iter().for_each(|app| emit(app));
        })
        .build()?;

    let (told, mut heard) = unbounded_channel();
    let context = |name| {
        Arc::new(Context {
            name,
            lister: informer.lister(),
            told: told.clone(),
        })
    };
    let (store, writer) = reflector::store();
    let events = informer.kube_events(HandlerOptions::named("first"))?;
    let first = Controller::for_stream(events.reflect(writer).applied_objects(), store)
        .run(reconcile, |_, error, _| match *error {}, context("first"))
        .for_each(|_| std::future::ready(()));

    let (store, writer) = reflector::store();
    let events = informer.kube_events(HandlerOptions::named("second"))?;
    let labelled = events
        .reflect(writer)
        .applied_objects()
        .predicate_filter(predicates::labels, Default::default());
    let second = Controller::for_stream(labelled, store)
        .run(reconcile, |_, error, _| match *error {}, context("second"))
        .for_each(|_| std::future::ready(()));

    let (third, lister) = (told.clone(), informer.lister());
    let ours = informer_controller::Controller::builder("third")
        .watches(&informer, ForObject)
        .reconcile(move |key: ObjectKey, _| {
            let is_there = lister.get(&key).is_some();
            let _ = third.send(("third", format!("{} is there: {is_there}", key.name())));
            async { Ok::<_, Infallible>(informer_controller::Action::Done) }
        })
        .build()?;

    let (reconciling, watching) = (ours.spawn()?, informer.spawn()?);
    let all_heard = async {
        let mut lines = BTreeSet::new();
        while lines.len() < 9 {
            lines.extend(heard.recv().await);
        }
        lines
    };
    let lines = tokio::select! {
        () = first => return Err("the first controller ended".into()),
        () = second => return Err("the second controller ended".into()),
        lines = tokio::time::timeout(Duration::from_secs(60), all_heard) => lines?,
    };
    for (who, line) in &lines {
        println!("{who}: {line}");
    }
    let (n_lists, n_watches) = server.with(|api| {
        let count = |verb| api.request_log().of(verb, "configmaps").count();
        (count(Verb::List) + count(Verb::StreamingList), count(Verb::Watch))
    });
    reconciling.stop().await?;
    watching.stop().await;
    server.shutdown().await;
    if n_lists != 1 || n_watches > 1 {
        return Err(format!("{n_lists} lists and {n_watches} watches for one informer").into());
    }
    println!("three controllers, {n_lists} list, {n_watches} watch");
    Ok(())
}
