//! Every form of object goes through the same layers: typed, three fields, dynamic, metadata only.

use std::{convert::Infallible, fmt::Debug, time::Duration};

use informer::{
    client::{DynamicMeta, PartialMeta},
    prelude::*,
};
use informer_apiserver::{Options, Server};
use k8s_openapi::api::core::v1::Pod;
use serde::Deserialize;

use crate::whole::{client_of, eventually, pod, pods};

#[derive(Debug, Deserialize)]
struct ThreeFields {
    metadata: Metadata,
    spec: Spec,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    name: String,
    labels: std::collections::BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    node_name: String,
}

/// Reads the label of a type of one's own.
struct Labels;

impl Meta<ThreeFields> for Labels {
    fn fields(&self) -> informer::contracts::MetaFields {
        let mut fields = informer::contracts::MetaFields::default();
        fields.labels = true;
        fields
    }

    fn label<'a>(&self, pod: &'a ThreeFields, name: &str) -> Option<&'a str> {
        pod.metadata.labels.get(name).map(|value| &**value)
    }
}

/// Cached, told, selected by label, reconciled.
async fn goes_through<L>(server: &Server, api: &impl ApiExt<Source = L>, meta: impl Meta<L::Object>)
where
    L: ListerWatcher + 'static,
    L::Object: Debug,
{
    let informer = api.informer().build().unwrap();
    let mut changes = informer.subscribe(HandlerOptions::default()).unwrap();
    let (reconciled, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let controller = Controller::builder("pods")
        .watches(&informer, ForObject)
        .reconcile(move |key: ObjectKey, _| {
            let _ = reconciled.send(key);
            async { Ok::<_, Infallible>(Action::Done) }
        })
        .build()
        .unwrap();
    let (watching, reconciling) = (informer.spawn().unwrap(), controller.spawn().unwrap());
    informer.wait_synced(Duration::from_secs(30)).await.unwrap();
    let first = changes.next().await.unwrap();
    assert!(
        matches!(&first, Change::Added { new, initial: true } if new.key.name() == "a"),
        "{first:?}"
    );
    assert_eq!(seen.recv().await.unwrap(), ObjectKey::namespaced("default", "a"));
    let on: LabelSelector = "on=n1".parse().unwrap();
    assert!(informer.lister().matching(&on, &meta).is_empty());
    server.with(|api| api.create(&pods(), pod("b", "n1")).unwrap());
    let second = changes.next().await.unwrap();
    assert!(
        matches!(&second, Change::Added { new, initial: false } if new.key.name() == "b"),
        "{second:?}"
    );
    assert_eq!(informer.lister().matching(&on, &meta).len(), 1);
    server.with(|api| api.delete(&pods(), Some("default"), "b").unwrap());
    let third = changes.next().await.unwrap();
    assert!(
        matches!(&third, Change::Removed { observed: true, .. }),
        "{third:?}"
    );
    eventually("the store has one", || informer.store().len() == 1).await;
    reconciling.stop().await.unwrap();
    watching.stop().await;
}

#[tokio::test]
async fn every_form_of_object_goes_through_every_layer() {
    let server = Server::start(Options::default()).await.unwrap();
    let client = client_of(&server);
    server.with(|api| api.create(&pods(), pod("a", "n0")).unwrap());
    goes_through(&server, &client.typed::<Pod>(), K8s).await;
    let own = client.objects::<ThreeFields>(pods());
    goes_through(&server, &own, Labels).await;
    let a = own.in_namespace("default").get("a").await.unwrap().object;
    assert_eq!((&*a.metadata.name, &*a.spec.node_name), ("a", "n0"));
    goes_through(&server, &client.dynamic(pods()), DynamicMeta).await;
    goes_through(&server, &client.metadata(pods()), PartialMeta).await;
    server.shutdown().await;
}
