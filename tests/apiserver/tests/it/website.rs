//! The example project on a real server: what it keeps, and three replicas that take over from each other.

use std::time::Duration;

use apiserver_tests::{ControlPlane, Login, wait};
use informer_hyper::HyperTransport;
use informer_kubeconfig::{Config, Overrides};
use informer_leaderelection::Options;
use informer_manager::Running;
use serde_json::{Value, json};
use tokio::task::block_in_place;

use crate::support::{LIMIT, namespace, shared};

struct Site {
    plane: &'static ControlPlane,
    namespace: String,
}

impl Site {
    async fn new() -> Self {
        let plane = shared().await;
        let definition =
            serde_json::from_str(include_str!("../../../../examples/website/website.crd.json")).unwrap();
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        send(plane, "POST", path, Some(&definition)).unwrap();
        let namespace = namespace(plane, "website");
        let site = Self { plane, namespace };
        // Until the server serves the kind.
        let websites = site.websites("");
        wait::until("websites are served", LIMIT, async || {
            send(plane, "GET", &websites, None)
        })
        .await;
        site
    }

    fn websites(&self, name: &str) -> String {
        format!(
            "/apis/example.com/v1/namespaces/{}/websites{name}",
            self.namespace
        )
    }

    fn page(&self, name: &str) -> Option<Value> {
        let path = format!("/api/v1/namespaces/{}/configmaps/{name}", self.namespace);
        send(self.plane, "GET", &path, None)
    }

    fn create(&self, name: &str) {
        let site = json!({
            "apiVersion": "example.com/v1",
            "kind": "Website",
            "metadata": {"name": name},
            "spec": {"html": name},
        });
        send(self.plane, "POST", &self.websites(""), Some(&site)).unwrap();
    }

    async fn written(&self, name: &str) -> u32 {
        let page = wait::until(name, LIMIT, async || self.page(name)).await;
        assert_eq!(page["data"]["index.html"], name);
        let term = page["metadata"]["annotations"]["example.com/term"].as_str();
        term.unwrap().parse().unwrap()
    }

    fn replica(&self, name: &str) -> Running {
        let mut overrides = Overrides::default();
        overrides.kubeconfig = Some(self.plane.kubeconfig(Login::Certificate, None).unwrap());
        let config = Config::find(&overrides).unwrap().unwrap();
        let transport = HyperTransport::builder(config.server())
            .authorize(config.authorizer())
            .tls(config.tls())
            .build()
            .unwrap();
        let mut replica = Options::new(name);
        replica.release_on_cancel = true;
        replica.lease_duration = Duration::from_secs(6);
        replica.renew_deadline = Duration::from_secs(4);
        replica.retry_period = Duration::from_millis(500);
        let address = "127.0.0.1:0".parse().unwrap();
        website::manager(transport, &self.namespace, address, replica)
            .unwrap()
            .spawn()
    }
}

/// The answer to a request, if it is one of success.
fn send(plane: &ControlPlane, method: &str, path: &str, body: Option<&Value>) -> Option<Value> {
    let answer = block_in_place(|| plane.http().send(method, path, body)).unwrap();
    answer.json().ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_example_project_keeps_websites_whoever_leads() {
    let site = Site::new().await;
    let first = site.replica("first");
    first.handle().elected().await;
    let (second, third) = (site.replica("second"), site.replica("third"));
    site.create("one");
    let term = site.written("one").await;
    let status = async || {
        let site = send(site.plane, "GET", &site.websites("/one"), None)?;
        (site["status"]["observedGeneration"] == 1).then_some(site)
    };
    let one = wait::until("the status", LIMIT, status).await;
    assert_eq!(one["metadata"]["finalizers"], json!(["example.com/page"]));

    // A polite stop hands over; so does an end without a word, when the lease has run out.
    assert!(first.stop().await.unwrap().is_clean());
    site.create("two");
    assert!(site.written("two").await > term);
    let (leader, other) = if second.handle().is_leading() {
        (second, third)
    } else {
        (third, second)
    };
    leader.handle().stop_now();
    let error = leader.ended().await.unwrap_err();
    assert!(error.is_forced(), "{error}");
    site.create("three");
    assert!(site.written("three").await > term + 1);

    // The finalizer takes the page along.
    send(site.plane, "DELETE", &site.websites("/one"), None).unwrap();
    let gone = async || {
        send(site.plane, "GET", &site.websites("/one"), None)
            .is_none()
            .then_some(())
    };
    wait::until("the website is gone", LIMIT, gone).await;
    assert_eq!(site.page("one"), None);
    assert!(other.stop().await.unwrap().is_clean());
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/websites.example.com";
    send(site.plane, "DELETE", path, None).unwrap();
}
