//! A stop in each phase, within 200 ms on a machine of one's own.

use std::time::Duration;

use apiserver_tests::{Login, Relay, wait};
use informer_client::Selectors;
use informer_core::FailureClass;
use informer_hyper::HttpVersion;
use informer_reflector::{Phase, Start};
use informer_sharedinformer::{HandlerOptions, ReflectorOptions, Running, SharedInformer};

use crate::ledger::Ledger;
use crate::support::{ConfigMap, LIMIT, admin, config_maps, connect, fill, namespace, reflector, shared};

const STOP: Duration = Duration::from_millis(200);
const VERSIONS: [HttpVersion; 2] = [HttpVersion::Http1, HttpVersion::Http2];
/// Objects in the namespace, and bytes in each: more than is let through.
const N: usize = 100;
const BYTES: usize = 1_000;
const LET_THROUGH: u64 = 10_000;

type Informer = SharedInformer<informer_core::ObjectKey, ConfigMap>;

/// An informer behind a relay.
struct Scene {
    relay: Relay,
    client: crate::support::TestClient,
    namespace: &'static str,
    ledger: Ledger,
}

impl Scene {
    async fn new(version: HttpVersion, login: Login) -> Self {
        let plane = shared().await;
        static NAMESPACE: tokio::sync::OnceCell<String> = tokio::sync::OnceCell::const_new();
        let namespace = NAMESPACE.get_or_init(async || {
            let namespace = namespace(plane, "stop");
            fill(&admin(plane), &namespace, N, BYTES).await;
            namespace
        });
        let namespace = namespace.await;
        let relay = Relay::start(plane.address()).await.unwrap();
        let client = connect(plane, login, version, Some(relay.address()));
        // Its connection is open from here on.
        let path = "/version";
        client
            .get_json::<serde_json::Value>(path, "application/json")
            .await
            .unwrap();
        Self {
            relay,
            client,
            namespace,
            ledger: Ledger::default(),
        }
    }

    fn start(&self, start: Start) -> (Informer, Running<informer_core::ObjectKey, ConfigMap>) {
        let api = self
            .client
            .objects::<ConfigMap>(config_maps())
            .in_namespace(self.namespace);
        let mut options = ReflectorOptions::default();
        options.start = start;
        let informer = SharedInformer::builder(api.source(Selectors::all()))
            .reflector_options(options)
            .build()
            .unwrap();
        informer
            .add_handler(self.ledger.clone(), HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        (informer, running)
    }

    async fn reaches(&self, informer: &Informer, phase: Phase) {
        wait::until(&format!("{phase:?}"), LIMIT, async || {
            (reflector(informer).phase == phase).then_some(())
        })
        .await;
    }

    /// Stops it, in time, and sees that nothing goes on.
    async fn stop(
        self,
        informer: &Informer,
        running: Running<informer_core::ObjectKey, ConfigMap>,
        phase: Phase,
    ) {
        assert_eq!(reflector(informer).phase, phase);
        let (took, ended) = wait::timed(running.stop()).await;
        assert!(took <= wait::scaled(STOP), "{phase:?}: it took {took:?}");
        assert!(ended.still_running.is_empty(), "{phase:?}: {ended:?}");
        assert_eq!(reflector(informer).phase, Phase::Stopped);
        let n_told = self.ledger.n_told();
        self.relay.release();
        // With the client the last connection goes: nobody else holds one.
        drop(self.client);
        wait::until("all connections are closed", LIMIT, async || {
            (self.relay.n_open() == 0).then_some(())
        })
        .await;
        assert_eq!(
            self.ledger.n_told(),
            n_told,
            "{phase:?}: a handler was called after the stop"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_list_is_not_answered() {
    for version in VERSIONS {
        let scene = Scene::new(version, Login::Token).await;
        scene.relay.hold_after(0);
        let (informer, running) = scene.start(Start::List);
        scene.reaches(&informer, Phase::Listing).await;
        scene.stop(&informer, running, Phase::Listing).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn in_the_middle_of_a_list() {
    for version in VERSIONS {
        let scene = Scene::new(version, Login::Token).await;
        scene.relay.hold_after(LET_THROUGH);
        let (informer, running) = scene.start(Start::List);
        wait::until("the list is held", LIMIT, async || {
            (scene.relay.n_held() > 0).then_some(())
        })
        .await;
        assert!(!informer.has_synced());
        scene.stop(&informer, running, Phase::Listing).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn in_the_middle_of_a_streaming_list() {
    for version in VERSIONS {
        let scene = Scene::new(version, Login::Token).await;
        scene.relay.hold_after(LET_THROUGH);
        let (informer, running) = scene.start(Start::StreamingList);
        wait::until("the stream is held", LIMIT, async || {
            (scene.relay.n_held() > 0).then_some(())
        })
        .await;
        assert!(!informer.has_synced());
        scene.stop(&informer, running, Phase::Streaming).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn during_a_quiet_watch() {
    for version in VERSIONS {
        for start in [Start::List, Start::StreamingList] {
            let scene = Scene::new(version, Login::Token).await;
            let (informer, running) = scene.start(start);
            informer.wait_synced(LIMIT).await.unwrap();
            wait::until("the handler knows all", LIMIT, async || {
                (scene.ledger.n_told() == N).then_some(())
            })
            .await;
            scene.reaches(&informer, Phase::Watching).await;
            scene.stop(&informer, running, Phase::Watching).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_it_backs_off_since_nobody_listens() {
    for version in VERSIONS {
        let scene = Scene::new(version, Login::Token).await;
        let (informer, running) = scene.start(Start::StreamingList);
        informer.wait_synced(LIMIT).await.unwrap();
        scene.relay.refuse().await;
        wait::until("the connection is refused", LIMIT, async || {
            let status = informer.status().source;
            (status.class == Some(FailureClass::Refused)).then_some(())
        })
        .await;
        scene.reaches(&informer, Phase::BackingOff).await;
        scene.stop(&informer, running, Phase::BackingOff).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_it_backs_off_since_it_may_not() {
    let scene = Scene::new(HttpVersion::Http2, Login::Outsider).await;
    let (informer, running) = scene.start(Start::StreamingList);
    wait::until("it is forbidden", LIMIT, async || {
        let status = informer.status().source;
        (status.class == Some(FailureClass::Forbidden)).then_some(())
    })
    .await;
    scene.reaches(&informer, Phase::BackingOff).await;
    let text = informer.status().source.to_string();
    assert!(text.contains("outsider") && text.contains("configmaps"), "{text}");
    scene.stop(&informer, running, Phase::BackingOff).await;
}
