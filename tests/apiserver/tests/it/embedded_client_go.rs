//! The embedded API server, judged by client-go: its discovery and its shared informer, through thousands of random changes.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Lines, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use apiserver_tests::assets;
use informer_apiserver::{Options, Server};
use informer_core::Resource;
use informer_testkit::FakeApi;
use serde_json::{Map, Value, json};
use tokio::task::block_in_place;

use crate::support::{Random, config_maps};

const N_CHANGES: usize = 3_000;
/// Changes between two looks at client-go's cache.
const STEP: usize = 300;

/// A program around client-go. It ends with this, since its standard input does.
struct ClientGo {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    /// What its walk through discovery found.
    discovery: Value,
    synced: Value,
}

impl ClientGo {
    fn start(server: &Server, arguments: &[&str]) -> Self {
        block_in_place(|| {
            let program = assets::folder().unwrap().join("informer-harness");
            let mut child = Command::new(program)
                .args(["--server", &server.url(), "--timeout", "60s"])
                .args(arguments)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
            let lines = BufReader::new(stdout).lines();
            let mut this = Self {
                child,
                stdin,
                lines,
                discovery: Value::Null,
                synced: Value::Null,
            };
            this.discovery = this.told("discovery");
            this.synced = this.told("synced");
            this
        })
    }

    /// The next that it tells.
    fn told(&mut self, event: &str) -> Value {
        let line = self.lines.next().expect("it goes on").unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(told["event"], event, "{told}");
        told
    }

    fn ask(&mut self, command: &str, event: &str) -> Value {
        block_in_place(|| {
            writeln!(self.stdin, "{command}").unwrap();
            self.told(event)
        })
    }

    /// Waits until its cache is as far as the model, and compares.
    fn assert_equal(&mut self, server: &Server, wanted: impl Fn(&Value) -> bool) -> Value {
        let (revision, expected) = server.with(|api| (api.revision(), contents(api, &wanted)));
        self.ask(&format!("wait {revision}"), "applied");
        let dump = self.ask("dump", "dump");
        assert_eq!(dump["objects"], Value::Object(expected), "at revision {revision}");
        assert_eq!(
            dump["handler"]["equal"], true,
            "its handler was told something else"
        );
        assert_eq!(dump["handler"]["violations"], json!([]));
        dump
    }

    fn quit(mut self) {
        block_in_place(|| {
            writeln!(self.stdin, "quit").unwrap();
            assert!(self.child.wait().unwrap().success());
        });
    }
}

/// What the model holds of the objects that are wanted, as the program dumps its cache.
fn contents(api: &FakeApi, wanted: impl Fn(&Value) -> bool) -> Map<String, Value> {
    let all = api.all(&config_maps());
    all.iter()
        .filter(|object| wanted(object))
        .map(|object| {
            let meta = &object["metadata"];
            let key = format!(
                "{}/{}",
                meta["namespace"].as_str().unwrap(),
                meta["name"].as_str().unwrap()
            );
            let labels = meta.get("labels").cloned().unwrap_or_else(|| json!({}));
            (
                key,
                json!({"resourceVersion": meta["resourceVersion"], "uid": meta["uid"], "labels": labels}),
            )
        })
        .collect()
}

/// One change: creates, relabels, rewrites or deletes one of a few hundred objects in two namespaces.
fn change(api: &mut FakeApi, random: &mut Random) {
    let namespace = ["default", "kube-public"][usize::try_from(random.below(2)).unwrap()];
    let name = format!("object-{}", random.below(200));
    let kind = config_maps();
    if random.below(4) == 0 {
        // It may not be there.
        let _ = api.delete(&kind, Some(namespace), &name);
        return;
    }
    let labels: BTreeMap<_, _> = [("x", random.below(3).to_string())].into();
    let value = random.below(1_000_000).to_string();
    let object = json!({
        "metadata": {"namespace": namespace, "name": name, "labels": labels},
        "data": {"value": value},
    });
    api.put(&kind, object).unwrap();
}

fn change_many(server: &Server, random: &mut Random, n: usize) {
    for _ in 0..n {
        server.with(|api| change(api, random));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shared_informer_follows_thousands_of_changes_by_streaming_list() {
    let server = Server::start(Options::default()).await.unwrap();
    let mut random = Random(5);
    change_many(&server, &mut random, STEP);
    let mut client_go = ClientGo::start(&server, &["--resource", "configmaps"]);
    let requests = &client_go.synced["requests"];
    assert_eq!(
        (&requests["lists"], &requests["streamingLists"]),
        (&json!(0), &json!(1)),
        "{requests}"
    );

    let n_steps = N_CHANGES / STEP;
    for step in 0..n_steps {
        change_many(&server, &mut random, STEP);
        match step {
            // It resumes.
            3 => server.with(FakeApi::cut_connections),
            // It cannot, and begins again: what was deleted meanwhile is told all the same.
            6 => server.with(|api| {
                api.cut_connections();
                for _ in 0..STEP {
                    change(api, &mut random);
                }
                api.compact(api.revision());
            }),
            _ => {}
        }
        client_go.assert_equal(&server, |_| true);
    }
    let dump = client_go.assert_equal(&server, |_| true);
    assert!(
        dump["handler"]["finalStateUnknown"].as_u64() > Some(0),
        "{}",
        dump["handler"]
    );
    let requests = client_go.ask("requests", "requests")["requests"].clone();
    assert!(
        requests["watches"].as_u64() >= Some(1),
        "it did not resume: {requests}"
    );
    client_go.quit();
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shared_informer_follows_one_namespace_and_selector_by_list() {
    let server = Server::start(Options::default()).await.unwrap();
    let mut random = Random(6);
    change_many(&server, &mut random, STEP);
    let arguments = ["--no-watch-list", "--namespace", "default", "--selector", "x=1"];
    let mut client_go = ClientGo::start(&server, &arguments);
    let requests = &client_go.synced["requests"];
    assert_eq!(requests["streamingLists"], json!(0), "{requests}");
    assert!(requests["lists"].as_u64() >= Some(1), "{requests}");

    let wanted = |object: &Value| {
        object["metadata"]["namespace"] == "default" && object["metadata"]["labels"]["x"] == "1"
    };
    let n_before = server.with(|api| contents(api, wanted).len());
    assert!(n_before > 10, "objects leave and enter all the time");
    for step in 0..3 {
        change_many(&server, &mut random, STEP);
        // One that it sees, so that it knows how far it is.
        server.with(|api| {
            let labels = json!({"x": "1"});
            let meta = json!({"namespace": "default", "name": "mark", "labels": labels});
            api.put(
                &config_maps(),
                json!({"metadata": meta, "data": {"step": step.to_string()}}),
            )
            .unwrap();
        });
        client_go.assert_equal(&server, wanted);
    }
    client_go.quit();
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn discovery_finds_what_kubectl_would() {
    let server = Server::start(Options::default()).await.unwrap();
    server.with(|api| {
        let definitions = Resource::cluster(
            "apiextensions.k8s.io",
            "v1",
            "customresourcedefinitions",
            "CustomResourceDefinition",
        );
        api.create(&definitions, crate::crd::definition()).unwrap();
    });
    let mut client_go = ClientGo::start(&server, &["--resource", "pods"]);
    assert!(
        client_go.discovery["serverVersion"]
            .as_str()
            .unwrap()
            .starts_with("v1.")
    );
    assert_eq!(client_go.discovery["pods"]["kind"], "Pod");
    let groups = client_go.discovery["groups"].as_array().unwrap();
    for group in ["", "apps", "apiextensions.k8s.io", "example.com"] {
        assert!(groups.contains(&json!(group)), "{group:?} is not in {groups:?}");
    }
    for (name, group, resource, namespaced) in [
        ("pods", "", "pods", true),
        ("pod", "", "pods", true),
        ("po", "", "pods", true),
        ("cm", "", "configmaps", true),
        ("no", "", "nodes", false),
        ("deploy", "apps", "deployments", true),
        ("deployments.apps", "apps", "deployments", true),
        ("deployments.v1.apps", "apps", "deployments", true),
        ("widgets.example.com", "example.com", "widgets", true),
        ("wd", "example.com", "widgets", true),
    ] {
        let resolved = client_go.ask(&format!("resolve {name}"), "resolved");
        let found = (&resolved["group"], &resolved["resource"], &resolved["namespaced"]);
        assert_eq!(
            found,
            (&json!(group), &json!(resource), &json!(namespaced)),
            "{name}"
        );
    }
    client_go.quit();
    server.shutdown().await;
}
