//! Our informer, in each form of object.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use apiserver_tests::wait::{self, Timer};
use informer_benches::{Result, connect, resource};
use informer_client::Selectors;
use informer_core::{ListerWatcher, Store as _};
use informer_reflector::Start;
use informer_sharedinformer::{ReflectorOptions, SharedInformer};
use informer_transport::{MetadataCodec, PackedCodec};
use serde::Deserialize;

use crate::{
    counted::Counted,
    task::{Said, Task, synced},
};

const LIMIT: Duration = Duration::from_secs(300);

/// The fields that one controller needs.
#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "decoded and kept, as a controller would")]
struct Pod {
    metadata: Metadata,
    spec: Spec,
    status: Status,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "decoded and kept, as a controller would")]
struct Metadata {
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "decoded and kept, as a controller would")]
struct Spec {
    node_name: Option<String>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "decoded and kept, as a controller would")]
struct Status {
    phase: Option<String>,
    #[serde(rename = "podIP")]
    pod_ip: Option<String>,
}

/// The same fields in protobuf (k8s.io/api core/v1/generated.proto).
#[derive(prost::Message)]
struct PodMessage {
    #[prost(message, optional, tag = "1")]
    metadata: Option<MetadataMessage>,
    #[prost(message, optional, tag = "2")]
    spec: Option<SpecMessage>,
    #[prost(message, optional, tag = "3")]
    status: Option<StatusMessage>,
}

#[derive(prost::Message)]
struct MetadataMessage {
    #[prost(btree_map = "string, string", tag = "11")]
    labels: BTreeMap<String, String>,
}

#[derive(prost::Message)]
struct SpecMessage {
    #[prost(string, optional, tag = "10")]
    node_name: Option<String>,
}

#[derive(prost::Message)]
struct StatusMessage {
    #[prost(string, optional, tag = "1")]
    phase: Option<String>,
    #[prost(string, optional, tag = "6")]
    pod_ip: Option<String>,
}

pub(crate) async fn run(task: &Task) -> Result<Said> {
    use k8s_openapi::api::core::v1::Pod as Typed;
    use k8s_pb::api::core::v1::Pod as TypedMessage;

    // Compression as it is by default: the peer in Go has it too.
    let (client, received) = Counted::client(connect(task.kubeconfig.clone(), true)?);
    let received = &*received;
    let pods = resource();
    macro_rules! start {
        ($api:expr) => {
            start(
                task,
                $api.in_namespace("default").source(Selectors::all()),
                received,
            )
            .await
        };
    }
    match (&*task.form, &*task.wire) {
        ("typed", "json") => start!(client.typed::<Typed>()),
        ("typed", "protobuf") => start!(client.messages::<TypedMessage>(pods)),
        ("own", "json") => start!(client.objects::<Pod>(pods)),
        ("own", "protobuf") => start!(client.messages::<PodMessage>(pods)),
        ("metadata", "json") => start!(client.with_codec(pods, MetadataCodec::json())),
        ("metadata", "protobuf") => start!(client.metadata(pods)),
        ("packed", "json") => start!(client.with_codec(pods, PackedCodec::json())),
        ("packed", "protobuf") => start!(client.packed(pods)),
        ("dynamic", "json") => start!(client.dynamic(pods)),
        (form, wire) => Err(format!("there is no {form} in {wire}").into()),
    }
}

async fn start<S>(task: &Task, source: S, received: &AtomicU64) -> Result<Said>
where
    S: ListerWatcher + 'static,
    S::Object: Send + Sync + 'static,
{
    let mut options = ReflectorOptions::default();
    options.start = if task.streaming {
        Start::StreamingList
    } else {
        Start::List
    };
    let informer = SharedInformer::builder(source)
        .reflector_options(options)
        .build()?;
    let timer = Timer::new(LIMIT);
    let running = informer.spawn()?;
    informer.wait_synced(wait::scaled(LIMIT)).await?;
    let received = received.load(Ordering::Relaxed);
    let said = synced(&timer, informer.store().len(), Some(received)).await?;
    let status = informer.status().source.reflector.ok_or("no reflector")?;
    if task.streaming != (status.lists == 0) {
        return Err(format!("not started as wanted: {status:?}").into());
    }
    running.stop().await;
    Ok(said)
}
