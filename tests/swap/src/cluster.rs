//! The usual world: the model of an API server, whose lamps are config maps.

use std::collections::BTreeMap;

use informer_client::{Api, ApiSource, Client, Selectors};
use informer_core::{Clock, Resource, TokioClock};
use informer_testkit::{FakeApi, FakeTransport, SharedApi};
use informer_transport::{JsonCodec, Transport};
use serde_json::{Value, json};

use crate::{Lamp, story::World};

/// An API server in memory.
#[derive(Debug, Clone)]
pub struct Cluster<C = TokioClock>(SharedApi<C>);

impl Default for Cluster {
    fn default() -> Self {
        Self::new(TokioClock)
    }
}

impl<C: Clock> Cluster<C> {
    /// A cluster with this clock.
    pub fn new(clock: C) -> Self {
        Self(SharedApi::new(FakeApi::with_builtins(), clock))
    }

    /// The server.
    #[must_use]
    pub fn api(&self) -> &SharedApi<C> {
        &self.0
    }

    /// Our transport to it.
    #[must_use]
    pub fn transport(&self) -> FakeTransport<C> {
        FakeTransport::new(self.0.clone())
    }

    /// Our source of its lamps.
    #[must_use]
    pub fn source(&self) -> ApiSource<FakeTransport<C>, Lamp, JsonCodec<Lamp>> {
        source_over(self.transport())
    }
}

/// Our source of the lamps that are behind a transport.
pub fn source_over<T: Transport>(transport: T) -> ApiSource<T, Lamp, JsonCodec<Lamp>> {
    let api: Api<_, Lamp, _> = Client::new(transport).objects(lamps());
    api.source(Selectors::all())
}

fn lamps() -> Resource {
    Resource::namespaced("", "v1", "configmaps", "ConfigMap")
}

impl<C: Clock> World for Cluster<C> {
    fn set(&self, name: &str, state: &str) {
        let lamp = json!({"metadata": {"namespace": "home", "name": name}, "data": {"state": state}});
        self.0.with(|api| api.put(&lamps(), lamp)).unwrap();
    }

    fn remove(&self, name: &str) {
        self.0
            .with(|api| api.delete(&lamps(), Some("home"), name))
            .unwrap();
    }

    fn fail(&self, meanwhile: &dyn Fn(&Self)) {
        self.0.with(FakeApi::restart);
        meanwhile(self);
        self.0.with(|api| {
            api.restart();
            api.compact(api.revision());
        });
    }

    fn lamps(&self) -> BTreeMap<String, String> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let all = self.0.with(|api| api.all(&lamps()));
        all.iter()
            .map(|lamp| (text(&lamp["metadata"]["name"]), text(&lamp["data"]["state"])))
            .collect()
    }
}
