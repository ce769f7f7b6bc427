//! The controller on the embedded API server: in this process, and as three replicas of which one leads.
#![expect(clippy::unwrap_used, reason = "a failed test says where")]

use std::{
    collections::BTreeMap,
    path::PathBuf,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use informer::{
    leaderelection::{Options, Term},
    manager::Running,
    prelude::*,
};
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

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
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

/// What a newcomer copies: code alone, without blank lines and comments.
#[test]
fn the_project_is_of_less_than_200_lines() {
    let sources = [
        include_str!("../src/api.rs"),
        include_str!("../src/lib.rs"),
        include_str!("../src/main.rs"),
        include_str!("../src/reconcile.rs"),
    ];
    let lines = sources.iter().flat_map(|source| source.lines()).map(str::trim);
    let n_lines = lines
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .count();
    assert!(n_lines < 200, "{n_lines}");
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
    let term = page["metadata"]["annotations"]["example.com/term"]
        .as_str()
        .unwrap();
    assert!(term.starts_with("0@"), "{term}");
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

/// Replicas as processes of their own, of which something starts a new one when one has ended by itself: a leader that cannot renew its lease in
/// time, on a machine that is very busy, ends as a failure.
struct Fleet {
    folder: PathBuf,
    running: BTreeMap<String, Child>,
    n_started: usize,
}

impl Fleet {
    fn new(server: &Server) -> Self {
        let folder = std::env::temp_dir().join(format!("website-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let config = json!({
            "clusters": [{"name": "c", "cluster": {"server": server.url()}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "namespace": "default"}}],
            "current-context": "c",
        });
        std::fs::write(folder.join("config"), config.to_string()).unwrap();
        Self {
            folder,
            running: BTreeMap::new(),
            n_started: 0,
        }
    }

    /// So many run from here on.
    fn keep(&mut self, n: usize) {
        let ended = |(name, child): (&String, &mut Child)| {
            let status = child.try_wait().unwrap()?;
            Some((name.clone(), status))
        };
        let ended: Vec<_> = self.running.iter_mut().filter_map(ended).collect();
        for (name, status) in ended {
            self.assert_lost(&name, status);
            self.running.remove(&name);
        }
        while self.running.len() < n {
            let name = format!("replica-{}", self.n_started);
            let mut command = Command::new(env!("CARGO_BIN_EXE_website"));
            command
                .arg("127.0.0.1:0")
                .env("KUBECONFIG", self.folder.join("config"))
                .env("POD_NAME", &name)
                .stdout(Stdio::null())
                .stderr(std::fs::File::create(self.log(&name)).unwrap())
                .kill_on_drop(true);
            self.running.insert(name, command.spawn().unwrap());
            self.n_started += 1;
        }
    }

    fn log(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.log"))
    }

    /// Nothing but a lost lease ends a replica with a failure.
    fn assert_lost(&self, name: &str, status: ExitStatus) {
        let log = std::fs::read_to_string(self.log(name)).unwrap();
        assert_eq!(status.code(), Some(1), "{name}: {log}");
        assert!(log.contains("Lost"), "{name}: {log}");
    }

    /// Kills a replica, or stops it politely. `false`: it had ended by itself, or lost its lease before it could give it back.
    async fn end(&mut self, name: &str, kills: bool) -> bool {
        let Some(mut process) = self.running.remove(name) else {
            return false;
        };
        if kills {
            process.kill().await.unwrap();
            return true;
        }
        if let Some(pid) = process.id() {
            let told = Command::new("kill")
                .args(["-TERM", &pid.to_string()])
                .status()
                .await;
            assert!(told.unwrap().success());
        }
        let status = process.wait().await.unwrap();
        if !status.success() {
            self.assert_lost(name, status);
        }
        status.success()
    }
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

/// The term that a page was claimed in last.
fn term(server: &Server, page: &str) -> Term {
    let page = find(server, &config_maps(), page).unwrap();
    let term = page["metadata"]["annotations"]["example.com/term"].as_str();
    term.unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn three_replicas_take_over_from_each_other() {
    let server = server().await;
    let mut fleet = Fleet::new(&server);
    let mut ended: Option<Term> = None;
    let mut pages = (0..20).map(|n| format!("page-{n}"));
    for kills in [false, true, false] {
        loop {
            let page = pages.next().expect("a leader keeps its lease for a moment");
            create(&server, &page, &page);
            until(&page, || {
                fleet.keep(3);
                html(&server, &page).is_some()
            })
            .await;
            let now = term(&server, &page);
            if let Some(ended) = &ended {
                assert!(now.is_after(ended), "another one leads: {ended}, {now}");
            }
            // The one that the lease names may have ended by itself.
            let name = leader(&server).unwrap_or_default();
            if fleet.end(&name, kills).await {
                ended = Some(now);
                break;
            }
        }
    }
    // The last one leaves the lease to nobody.
    until("another one leads", || {
        fleet.keep(1);
        leader(&server).is_some_and(|name| fleet.running.contains_key(&name))
    })
    .await;
    let last = leader(&server).unwrap_or_default();
    let others: Vec<String> = fleet
        .running
        .keys()
        .filter(|name| **name != last)
        .cloned()
        .collect();
    for name in others {
        fleet.end(&name, true).await;
    }
    if fleet.end(&last, false).await {
        assert_eq!(leader(&server), None, "it gave the lease back");
    }
    std::fs::remove_dir_all(&fleet.folder).unwrap();
    server.shutdown().await;
}
