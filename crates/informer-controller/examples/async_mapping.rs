//! A mapping that asks the API: a change of a Secret leads to the ConfigMaps that name it, which nobody caches. The first answer of the API is
//! an error; the change is mapped again, and nothing is lost.

use std::{convert::Infallible, error::Error, time::Duration};

use informer_client::{Api, Client, Selectors, WriteOptions};
use informer_controller::{Action, Controller, async_map_fn};
use informer_core::{Entry, ObjectKey, Resource, TokioClock};
use informer_sharedinformer::SharedInformer;
use informer_testkit::{ApiError, FakeApi, FakeTransport, Fault, On, SharedApi};
use informer_transport::{DynamicCodec, DynamicObject};
use serde_json::json;
use tokio::sync::mpsc;

type Objects = Api<FakeTransport<TokioClock>, DynamicObject, DynamicCodec>;

/// The keys of the ConfigMaps that name this Secret.
async fn users_of(secret: &ObjectKey, configs: &Objects) -> Result<Vec<ObjectKey>, informer_client::Error> {
    let of = format!("secret={}", secret.name());
    let list = configs.list(&Selectors::all().labels(of)).await?;
    let names = list.items.into_iter().map(|config| config.identity.name);
    Ok(names
        .map(|name| ObjectKey::namespaced("default", &name))
        .collect())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = SharedApi::new(FakeApi::with_builtins(), TokioClock);
    let client = Client::new(FakeTransport::new(server.clone()));
    let of = |plural, kind| {
        client
            .dynamic(Resource::namespaced("", "v1", plural, kind))
            .in_namespace("default")
    };
    let (secrets, configs) = (of("secrets", "Secret"), of("configmaps", "ConfigMap"));
    for name in ["web", "db"] {
        let metadata = json!({"name": name, "labels": {"secret": "password"}});
        let object = json!({"metadata": metadata});
        configs.create(&object, &WriteOptions::default()).await?;
    }

    let informer = SharedInformer::builder(secrets.source(Selectors::all())).build()?;
    let informing = informer.spawn()?;
    let asking = configs.clone();
    let by_use = async_map_fn(move |secret: Entry<ObjectKey, DynamicObject>| {
        let configs = asking.clone();
        async move {
            let asked = tokio::time::timeout(Duration::from_secs(30), users_of(&secret.key, &configs));
            Ok::<_, Box<dyn Error + Send + Sync>>(asked.await??)
        }
    });
    let (seen, mut done) = mpsc::unbounded_channel();
    let controller = Controller::builder("rollout")
        .watches_async(&informer, by_use)
        .reconcile(move |config: ObjectKey, _| {
            let _ = seen.send(config);
            async { Ok::<_, Infallible>(Action::Done) }
        })
        .build()?;
    let running = controller.spawn()?;

    server.with(|api| {
        let busy = ApiError::new(503, "ServiceUnavailable", "try later");
        api.faults()
            .once(On::list().of("configmaps"), Fault::Status(busy));
    });
    let secret = json!({"metadata": {"name": "password"}});
    secrets.create(&secret, &WriteOptions::default()).await?;
    for _ in 0..2 {
        say(done.recv().await.as_ref());
    }
    running.stop().await?;
    informing.stop().await;
    Ok(())
}

#[expect(clippy::print_stdout, reason = "this is a program")]
fn say(request: Option<&ObjectKey>) {
    println!(
        "reconciled: {}",
        request.map(ToString::to_string).unwrap_or_default()
    );
}
