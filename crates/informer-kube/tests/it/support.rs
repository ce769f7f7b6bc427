//! What the tests share: a server, a kube client of it, and a kind of its own.

use std::{future::Future, time::Duration};

use informer_apiserver::Server;
use informer_client::Client;
use informer_core::Resource;
use informer_kube::KubeTransport;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, CustomResource, CustomResourceExt as _, api::PostParams};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A kind of its own, as a program on kube defines one.
#[derive(CustomResource, Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "example.org",
    version = "v1",
    kind = "Gadget",
    namespaced,
    status = "GadgetStatus"
)]
#[kube(derive = "PartialEq")]
pub(crate) struct GadgetSpec {
    pub(crate) size: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub(crate) struct GadgetStatus {
    pub(crate) ready: bool,
}

pub(crate) fn maps() -> Resource {
    Resource::namespaced("", "v1", "configmaps", "ConfigMap")
}

pub(crate) fn gadgets() -> Resource {
    Resource::namespaced("example.org", "v1", "gadgets", "Gadget")
}

pub(crate) fn named(name: &str) -> Value {
    json!({"metadata": {"namespace": "default", "name": name, "labels": {"app": name}}})
}

pub(crate) async fn serve() -> Server {
    Server::start(Default::default()).await.unwrap()
}

/// Puts config maps of these names, and nothing in them.
pub(crate) fn put(server: &Server, names: &[&str]) {
    for name in names {
        server.with(|api| api.put(&maps(), named(name))).unwrap();
    }
}

pub(crate) fn kube_client(server: &Server) -> kube::Client {
    let mut config = kube::Config::new(server.url().parse().unwrap());
    config.default_retry = false;
    kube::Client::try_from(config).unwrap()
}

pub(crate) fn client(server: &Server) -> Client<KubeTransport> {
    Client::new(KubeTransport::new(kube_client(server)))
}

/// Defines the kind, as a program on kube does, and makes gadgets of these sizes.
pub(crate) async fn define_gadgets(server: &Server, sizes: &[u32]) {
    let client = kube_client(server);
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    definitions
        .create(&PostParams::default(), &Gadget::crd())
        .await
        .unwrap();
    let api: Api<Gadget> = Api::namespaced(client, "default");
    for size in sizes {
        let gadget = Gadget::new(&format!("g{size}"), GadgetSpec { size: *size });
        api.create(&PostParams::default(), &gadget).await.unwrap();
    }
}

/// What must come soon.
pub(crate) async fn soon<F: Future>(what: &str, future: F) -> F::Output {
    let limit = Duration::from_secs(60);
    match tokio::time::timeout(limit, future).await {
        Ok(output) => output,
        Err(_) => panic!("{what} does not come"),
    }
}

/// What must come to hold, and wakes nobody.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let poll = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(5));
        while !holds() {
            ticks.tick().await;
        }
    };
    soon(what, poll).await;
}
