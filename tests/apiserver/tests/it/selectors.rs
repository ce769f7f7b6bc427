//! Label and field selectors, with objects that leave and re-enter.

use std::sync::{Arc, Mutex};

use apiserver_tests::{Login, Relay, wait};
use informer_client::{DeleteOptions, DynamicObject, Patch, Selectors, WriteOptions};
use informer_core::{Change, ObjectKey, Resource};
use informer_hyper::HttpVersion;
use informer_sharedinformer::{HandlerOptions, SharedInformer};
use serde_json::{Value, json};

use crate::ledger::Ledger;
use crate::support::{LIMIT, admin, config_maps, connect, namespace, reflector, shared};

/// What a handler was told, with the one value of the object that the selector looks at.
#[derive(Clone)]
struct Story {
    pointer: &'static str,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Story {
    fn of(pointer: &'static str) -> Self {
        Self {
            pointer,
            lines: Arc::default(),
        }
    }

    fn tell(&self, change: &Change<ObjectKey, DynamicObject>) {
        let word = match change {
            Change::Added { .. } => "added",
            Change::Updated { .. } => "updated",
            Change::Removed { observed: true, .. } => "removed",
            Change::Removed { observed: false, .. } => "vanished",
            Change::Resynced { .. } => "resynced",
        };
        let value = change.entry().object.text(self.pointer).unwrap_or("nothing");
        self.lines
            .lock()
            .unwrap()
            .push(format!("{word} {} with {value}", change.key().name()));
    }

    async fn reads(&self, expected: &[&str]) {
        wait::until(&format!("{expected:?}"), LIMIT, async || {
            (self.lines.lock().unwrap().len() >= expected.len()).then_some(())
        })
        .await;
        assert_eq!(*self.lines.lock().unwrap(), expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wp_08_an_object_leaves_and_re_enters_a_label_selector() {
    for start in [
        informer_reflector::Start::List,
        informer_reflector::Start::StreamingList,
    ] {
        leaves_and_re_enters(start).await;
    }
}

async fn leaves_and_re_enters(start: informer_reflector::Start) {
    let plane = shared().await;
    let namespace = namespace(plane, "wp-08");
    let writer = admin(plane).dynamic(config_maps()).in_namespace(&namespace);
    let options = WriteOptions::default();
    let object = |name: &str, x: &str| json!({"metadata": {"name": name, "labels": {"x": x}}});
    let label = |x: &str| Patch::Merge(json!({"metadata": {"labels": {"x": x}}}));
    // Neither LIST nor WATCH may bring this one.
    writer.create(&object("other", "2"), &options).await.unwrap();

    let relay = Relay::start(plane.address()).await.unwrap();
    let client = connect(plane, Login::Token, HttpVersion::Http1, Some(relay.address()));
    let source = client
        .dynamic(config_maps())
        .in_namespace(&namespace)
        .source(Selectors::all().labels("x=1"));
    let mut reflector_options = informer_sharedinformer::ReflectorOptions::default();
    reflector_options.start = start;
    let informer = SharedInformer::builder(source)
        .reflector_options(reflector_options)
        .build()
        .unwrap();
    let (story, ledger) = (Story::of("/metadata/labels/x"), Ledger::default());
    {
        let (story, ledger) = (story.clone(), ledger.clone());
        let handler = move |change: &Change<ObjectKey, DynamicObject>| {
            story.tell(change);
            ledger.tell(change);
        };
        informer.add_handler(handler, HandlerOptions::default()).unwrap();
    }
    let running = informer.spawn().unwrap();
    informer.wait_synced(LIMIT).await.unwrap();
    let n_lists = reflector(&informer).lists;

    writer.create(&object("a", "1"), &options).await.unwrap();
    writer.patch("other", &label("3"), &options).await.unwrap();
    story.reads(&["added a with 1"]).await;
    let left = writer.patch("a", &label("2"), &options).await.unwrap();
    // The last state that matched, under the version at which it ceased to.
    story.reads(&["added a with 1", "removed a with 1"]).await;
    assert!(informer.store().is_empty());
    let status = wait::until("a watch would resume there", LIMIT, async || {
        Some(reflector(&informer)).filter(|status| status.version == left.identity.stamp.version)
    })
    .await;

    // The watch is cut right after the DELETED line, and while it is, the object comes back.
    relay.refuse().await;
    writer.patch("a", &label("1"), &options).await.unwrap();
    relay.accept().await.unwrap();
    let mut expected = vec!["added a with 1", "removed a with 1", "added a with 1"];
    story.reads(&expected).await;
    assert_eq!(informer.store().len(), 1);

    writer.delete("a", &DeleteOptions::default()).await.unwrap();
    expected.push("removed a with 1");
    story.reads(&expected).await;
    assert!(informer.store().is_empty());
    let after = reflector(&informer);
    assert_eq!((after.lists, after.relists), (n_lists, 0), "it resumed");
    assert!(after.watches > status.watches);
    ledger.assert_sound();
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_leaves_and_re_enters_a_field_selector() {
    let plane = shared().await;
    let namespace = namespace(plane, "fields");
    let pods = Resource::namespaced("", "v1", "pods", "Pod");
    let client = admin(plane);
    let writer = client.dynamic(pods.clone()).in_namespace(&namespace);
    let options = WriteOptions::default();
    for name in ["runs", "waits"] {
        writer.create(&pod(name), &options).await.unwrap();
    }
    let phase = |phase: &str| Patch::Merge(json!({"status": {"phase": phase}}));

    let selectors = Selectors::all().fields("status.phase=Running");
    let informer = SharedInformer::builder(client.dynamic(pods).in_namespace(&namespace).source(selectors))
        .build()
        .unwrap();
    let (story, ledger) = (Story::of("/status/phase"), Ledger::default());
    {
        let (story, ledger) = (story.clone(), ledger.clone());
        let handler = move |change: &Change<ObjectKey, DynamicObject>| {
            story.tell(change);
            ledger.tell(change);
        };
        informer.add_handler(handler, HandlerOptions::default()).unwrap();
    }
    let running = informer.spawn().unwrap();
    informer.wait_synced(LIMIT).await.unwrap();
    assert!(informer.store().is_empty());

    let mut expected = Vec::new();
    for (to, told) in [
        ("Running", "added runs with Running"),
        ("Unknown", "removed runs with Running"),
        ("Running", "added runs with Running"),
    ] {
        writer.patch_status("runs", &phase(to), &options).await.unwrap();
        expected.push(told);
        story.reads(&expected).await;
    }
    writer
        .delete("runs", &DeleteOptions::default().grace_period(0))
        .await
        .unwrap();
    // The server first marks a pod for deletion, whatever its grace period.
    expected.extend(["updated runs with Running", "removed runs with Running"]);
    story.reads(&expected).await;
    assert!(informer.store().is_empty());
    assert_eq!(reflector(&informer).relists, 0);
    ledger.assert_sound();
    running.stop().await;
}

fn pod(name: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "example.com/image"}], "automountServiceAccountToken": false},
    })
}
