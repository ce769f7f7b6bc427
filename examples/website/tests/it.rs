//! The controller on the embedded API server: in this process, and as three replicas of which one leads.
#![expect(clippy::unwrap_used, reason = "a failed test says where")]

use std::{process::Stdio, time::Duration};

use informer::{leaderelection::Options, manager::Running, prelude::*};
use informer_apiserver::Server;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    process::{Child, Command},
    time,
};

const PATIENCE: Duration = Duration::from_secs(180);

fn kind(group: &str, plural: &str, kind: &str) -> Resource {
    Resource::namespaced(group, "v1", plural, kind)
}

fn websites() -> Resource {
    kind("example.com", "websites", "Website")
}

fn config_maps() -> Resource {
    kind("", "configmaps", "ConfigMap")
}

/// A server that knows websites.
async fn server() -> Server {
    let server = Server::start(Default::default()).await.unwrap();
    let definitions = Resource::cluster(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
    );
    let definition = serde_json::from_str(include_str!("../website.crd.json")).unwrap();
    server.with(|api| api.create(&definitions, definition)).unwrap();
    server
}

fn replica(server: &Server) -> (std::net::SocketAddr, Running) {
    let transport = HyperTransport::builder(server.url()).build().unwrap();
    let mut replica = Options::new("test");
    replica.release_on_cancel = true;
    let manager = website::manager(transport, "default", "127.0.0.1:0".parse().unwrap(), replica).unwrap();
    (manager.health_addr().unwrap(), manager.spawn())
}

fn create(server: &Server, name: &str, html: &str) {
    let site = json!({"metadata": {"namespace": "default", "name": name}, "spec": {"html": html}});
    server.with(|api| api.create(&websites(), site)).unwrap();
}

fn find(server: &Server, resource: &Resource, name: &str) -> Option<Value> {
    server.with(|api| api.get(resource, Some("default"), name).ok())
}

fn html(server: &Server, name: &str) -> Option<String> {
    let page = find(server, &config_maps(), name)?;
    Some(page["data"]["index.html"].as_str()?.to_owned())
}

async fn until(what: &str, is_so: impl Fn() -> bool) {
    let mut ticks = time::interval(Duration::from_millis(10));
    let waited = time::timeout(PATIENCE, async {
        while !is_so() {
            ticks.tick().await;
        }
    });
    waited.await.unwrap_or_else(|_| panic!("never: {what}"));
}

async fn get(address: std::net::SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn a_website_lives_and_dies() {
    let server = server().await;
    let (address, running) = replica(&server);
    create(&server, "home", "<h1>hello</h1>");
    until("the page", || html(&server, "home").is_some()).await;
    until("the status", || {
        find(&server, &websites(), "home").unwrap()["status"]["observedGeneration"] == 1
    })
    .await;
    let page = find(&server, &config_maps(), "home").unwrap();
    assert_eq!(page["metadata"]["ownerReferences"][0]["kind"], "Website");
    assert_eq!(page["metadata"]["annotations"]["example.com/term"], "0");
    let site = find(&server, &websites(), "home").unwrap();
    assert_eq!(site["metadata"]["finalizers"], json!(["example.com/page"]));
    assert_eq!(site["status"]["page"], "home");

    // A page that somebody deletes comes back, and a change of the website is followed.
    server
        .with(|api| api.delete(&config_maps(), Some("default"), "home"))
        .unwrap();
    until("the page again", || html(&server, "home").is_some()).await;
    let mut site = find(&server, &websites(), "home").unwrap();
    site["spec"]["html"] = "<h1>news</h1>".into();
    server.with(|api| api.update(&websites(), site)).unwrap();
    until("the news", || {
        html(&server, "home").as_deref() == Some("<h1>news</h1>")
    })
    .await;

    assert!(get(address, "/readyz").await.ends_with("\r\n\r\nok"));
    let metrics = get(address, "/metrics").await;
    for name in [
        "controller_runtime_reconcile_total",
        "workqueue_adds_total",
        "leader_election_master_status",
    ] {
        assert!(metrics.contains(name), "{name} is not in {metrics}");
    }

    server
        .with(|api| api.delete(&websites(), Some("default"), "home"))
        .unwrap();
    until("the end", || find(&server, &websites(), "home").is_none()).await;
    assert_eq!(html(&server, "home"), None);
    assert!(running.stop().await.unwrap().is_clean());
    let events = kind("events.k8s.io", "events", "Event");
    let events = server
        .with(|api| api.list(&events, &Default::default()))
        .unwrap()
        .items;
    let reasons: Vec<_> = events
        .iter()
        .map(|event| event["reason"].as_str().unwrap())
        .collect();
    assert!(
        reasons.contains(&"Published") && reasons.contains(&"Removed"),
        "{reasons:?}"
    );
    server.shutdown().await;
}

/// A replica as a process of its own.
fn process(kubeconfig: &std::path::Path, name: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_website"));
    command
        .arg("127.0.0.1:0")
        .env("KUBECONFIG", kubeconfig)
        .env("POD_NAME", name);
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

fn leader(server: &Server) -> Option<String> {
    let lease = find(
        server,
        &kind("coordination.k8s.io", "leases", "Lease"),
        "websites",
    )?;
    let holder = lease["spec"]["holderIdentity"].as_str()?;
    (!holder.is_empty()).then(|| holder.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn three_replicas_take_over_from_each_other() {
    let server = server().await;
    let folder = std::env::temp_dir().join(format!("website-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let kubeconfig = folder.join("config");
    let config = json!({
        "clusters": [{"name": "c", "cluster": {"server": server.url()}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "namespace": "default"}}],
        "current-context": "c",
    });
    std::fs::write(&kubeconfig, config.to_string()).unwrap();
    let mut replicas: Vec<_> = ["a", "b", "c"]
        .map(|name| (name, process(&kubeconfig, name)))
        .into();

    // Stopped politely, then killed; each time another one goes on.
    for (round, page) in ["one", "two", "three"].into_iter().enumerate() {
        create(&server, page, page);
        until(page, || html(&server, page).is_some()).await;
        let term =
            &find(&server, &config_maps(), page).unwrap()["metadata"]["annotations"]["example.com/term"];
        assert!(
            term.as_str().unwrap().parse::<usize>().unwrap() >= round,
            "{term}"
        );
        let name = leader(&server).unwrap();
        let at = replicas.iter().position(|(replica, _)| *replica == name).unwrap();
        let (_, mut process) = replicas.remove(at);
        if round == 1 {
            process.kill().await.unwrap();
        } else {
            let pid = process.id().unwrap().to_string();
            let told = Command::new("kill").args(["-TERM", &pid]).status().await.unwrap();
            assert!(told.success());
            assert!(
                process.wait().await.unwrap().success(),
                "a polite stop is no failure"
            );
        }
    }
    assert_eq!(leader(&server), None, "the last one gave the lease back");
    std::fs::remove_dir_all(&folder).unwrap();
    server.shutdown().await;
}
