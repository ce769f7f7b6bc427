//! A thousand watches on the embedded server, over HTTP/1.1 and over HTTP/2, and what each costs either side in memory and file descriptors.
//!
//! Server and client are processes of their own, so that each is measured alone: this test is the server, and runs itself again as the
//! client. The figures are printed to standard error (`cargo test -p apiserver-tests --test many_watches -- --nocapture`); nothing is
//! asserted of them but that a connection of HTTP/2 is shared.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be unwrapped in a test has failed it"
)]

use std::{
    env, fs,
    io::{self, Write as _},
    process::Stdio,
};

use informer_apiserver::Server;
use informer_client::{ApiSource, Client, PartialMetadata, Selectors};
use informer_core::{Feed as _, ListerWatcher as _, Resource, ResourceVersion, WatchRequest, Watched};
use informer_hyper::{HttpVersion, HyperTransport};
use rustix::process::{Resource as Limited, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::Command,
    task::JoinSet,
};

const N_WATCHES: usize = 1000;
/// Files besides those of watches.
const N_FILES: u64 = N_WATCHES as u64 + 500;
const NAME: &str = "a_thousand_watches_hear_of_one_change";

/// Resident memory in KiB, and open files.
#[derive(Debug, Clone, Copy)]
struct Cost {
    memory: i64,
    files: i64,
}

impl Cost {
    fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let memory = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .unwrap();
        Self {
            memory: memory.trim().trim_end_matches(" kB").parse().unwrap(),
            files: i64::try_from(fs::read_dir("/proc/self/fd").unwrap().count()).unwrap(),
        }
    }

    fn of_each(self, before: Self) -> String {
        let n = N_WATCHES as f64;
        let memory = (self.memory - before.memory) as f64 / n;
        let files = (self.files - before.files) as f64 / n;
        format!("{memory:.1} KiB and {files:.2} file descriptors a watch")
    }
}

/// As many files as the system lets this process have, if it needs them.
fn raise_limit() {
    let limit = getrlimit(Limited::Nofile);
    if limit.current.is_some_and(|current| current < N_FILES) {
        let current = limit.maximum.map_or(N_FILES, |most| most.min(N_FILES));
        assert!(
            current >= N_FILES,
            "the system allows {current} open files, {N_FILES} are needed"
        );
        let raised = Rlimit {
            current: Some(current),
            maximum: limit.maximum,
        };
        setrlimit(Limited::Nofile, raised).unwrap();
    }
}

fn config_maps() -> Resource {
    Resource::namespaced("", "v1", "configmaps", "ConfigMap")
}

#[tokio::test]
async fn a_thousand_watches_hear_of_one_change() {
    raise_limit();
    if let Ok(url) = env::var("INFORMER_WATCHES_AT") {
        let version = match &*env::var("INFORMER_WATCHES_OVER").unwrap() {
            "HTTP/2" => HttpVersion::Http2,
            _ => HttpVersion::Http1,
        };
        return watch(url, version).await;
    }
    for version in ["HTTP/1.1", "HTTP/2"] {
        serve(version).await;
    }
}

/// The server's side.
async fn serve(version: &str) {
    let server = Server::start(Default::default()).await.unwrap();
    let mut client = Command::new(env::current_exe().unwrap())
        .args(["--exact", NAME, "--nocapture"])
        .env("INFORMER_WATCHES_AT", server.url())
        .env("INFORMER_WATCHES_OVER", version)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(client.stderr.take().unwrap()).lines();
    let mut said = Vec::new();
    let mut hear = async |wanted: &str| {
        while let Some(line) = lines.next_line().await.unwrap() {
            if let Some(rest) = line.strip_prefix(wanted) {
                return rest.to_owned();
            }
            said.push(line);
        }
        panic!("the client ended before it said {wanted:?}: {said:#?}");
    };
    hear("first").await;
    let before = Cost::now();
    let mut input = client.stdin.take().unwrap();
    input.write_all(b"go on\n").await.unwrap();
    let costs = hear("open: ").await;
    let cost = Cost::now();
    assert_eq!(server.with(|api| api.n_watches()), N_WATCHES);
    let files = cost.files - before.files;
    if version == "HTTP/2" {
        // The first of ten was there before; a hundred streams each.
        assert!((9..=10).contains(&files), "{files} connections");
    } else {
        assert!((990..=1010).contains(&files), "{files} connections");
    }
    server
        .with(|api| api.create(&config_maps(), json!({"metadata": {"name": "news"}})))
        .unwrap();
    hear("all have heard").await;
    assert!(client.wait().await.unwrap().success());
    let text = format!(
        "{N_WATCHES} watches over {version}: client {costs}; server {}\n",
        cost.of_each(before)
    );
    io::stderr().write_all(text.as_bytes()).unwrap();
    server.shutdown().await;
}

/// The client's side.
async fn watch(url: String, version: HttpVersion) {
    let say = |line: String| io::stderr().write_all((line + "\n").as_bytes()).unwrap();
    let transport = HyperTransport::builder(url)
        .http_version(version)
        .build()
        .unwrap();
    let client = Client::new(transport);
    let source = client.metadata(config_maps()).source(Selectors::all());
    // What is only there once is not counted.
    let first = open(&source).await;
    say("first".to_owned());
    // The server measures what it has now, before there is more.
    io::stdin().read_line(&mut String::new()).unwrap();
    let before = Cost::now();
    let mut feeds = vec![first];
    while feeds.len() < N_WATCHES {
        feeds.push(open(&source).await);
    }
    say(format!("open: {}", Cost::now().of_each(before)));
    let mut heard = JoinSet::new();
    for mut feed in feeds {
        heard.spawn(async move {
            loop {
                match feed.next().await {
                    Some(Ok(Watched::Upsert(_, Ok(object)))) => return object.identity.name,
                    Some(Ok(_)) => {}
                    Some(Err(error)) => panic!("{error}"),
                    None => panic!("the watch ended"),
                }
            }
        });
    }
    assert!(heard.join_all().await.iter().all(|name| &**name == "news"));
    say("all have heard".to_owned());
}

type Source = ApiSource<HyperTransport, PartialMetadata, informer_transport::MetadataCodec>;

async fn open(source: &Source) -> <Source as informer_core::ListerWatcher>::Watch {
    let mut request = WatchRequest::default();
    request.version = Some(ResourceVersion::new("1"));
    source.watch(request).await.unwrap()
}
