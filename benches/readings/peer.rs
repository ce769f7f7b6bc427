//! The informer of kube: its watcher and its reflector.

use std::{fmt::Debug, hash::Hash, pin::pin, time::Duration};

use apiserver_tests::wait::Timer;
use futures_util::{Stream, StreamExt as _};
use informer_benches::Result;
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client, Resource,
    config::{KubeConfigOptions, Kubeconfig},
    core::{ApiResource, DynamicObject, PartialObjectMeta},
    runtime::{
        WatchStreamExt as _, reflector,
        watcher::{self, Config, Event, watcher},
    },
};

use crate::task::{Said, Task, synced};

const LIMIT: Duration = Duration::from_secs(300);

pub(crate) async fn run(task: &Task) -> Result<Said> {
    let kubeconfig = Kubeconfig::read_from(&task.kubeconfig)?;
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let client = Client::try_from(config)?;
    let config = if task.streaming {
        Config::default().streaming_lists()
    } else {
        Config::default()
    };
    match &*task.form {
        "typed" => {
            let pods: Api<Pod> = Api::namespaced(client, "default");
            hold((), watcher(pods, config)).await
        }
        "metadata" => {
            let pods: Api<PartialObjectMeta<Pod>> = Api::namespaced(client, "default");
            hold((), watcher(pods, config)).await
        }
        "dynamic" => {
            let kind = ApiResource::erase::<Pod>(&());
            let pods: Api<DynamicObject> = Api::namespaced_with(client, "default", &kind);
            hold(kind, watcher(pods, config)).await
        }
        form => Err(format!("there is no {form}").into()),
    }
}

async fn hold<K>(kind: K::DynamicType, events: impl Stream<Item = watcher::Result<Event<K>>>) -> Result<Said>
where
    K: Resource<DynamicType: Clone + Debug + Eq + Hash> + Clone + 'static,
{
    let writer = reflector::store::Writer::new(kind);
    let reader = writer.as_reader();
    let timer = Timer::new(LIMIT);
    let mut events = pin!(events.reflect(writer));
    loop {
        match events.next().await {
            Some(Ok(Event::InitDone)) => break,
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(error.into()),
            None => return Err("the watcher has ended".into()),
        }
    }
    let said = synced(&timer, reader.len(), None).await?;
    // Alive until here.
    drop(reader);
    Ok(said)
}
