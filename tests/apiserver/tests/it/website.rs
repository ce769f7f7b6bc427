//! The example project on a real server, as an operator runs it: three replicas as processes. The leader is killed, paused for longer than its
//! lease and continued, and asked to stop, while websites come, change and go.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use apiserver_tests::{
    ControlPlane,
    process::Leashed,
    wait::{self, Timer, scaled},
};
use informer_core::Resource;
use informer_leaderelection::{Lease, Options};
use informer_transport::{DeleteOptions, Patch, WriteOptions};
use serde_json::{Value, json};
use tokio::task::{JoinSet, block_in_place};

use crate::{
    history::{DynamicApi, History, Reign},
    support::{LIMIT, Random, admin, config_maps, kubeconfig_in, namespace, shared},
};

/// The annotation by which the example fences.
const TERM: &str = "example.com/term";
const FINALIZER: &str = "example.com/page";
const LEASE: Duration = Duration::from_secs(12);
/// How many names websites have.
const NAMES: u64 = 10;
/// Between the writes of users.
const PACE: Duration = Duration::from_millis(40);

fn websites() -> Resource {
    Resource::namespaced("example.com", "v1", "websites", "Website")
}

/// Replicas of the example in a namespace of their own.
struct Fleet {
    plane: &'static ControlPlane,
    namespace: String,
    kubeconfig: PathBuf,
    folder: tempfile::TempDir,
    running: BTreeMap<String, Leashed>,
    history: History,
}

impl Fleet {
    async fn new() -> Self {
        let plane = shared().await;
        let definition =
            serde_json::from_str(include_str!("../../../../examples/website/website.crd.json")).unwrap();
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        send(plane, "POST", path, Some(&definition)).unwrap();
        let namespace = namespace(plane, "website");
        let served = format!("/apis/example.com/v1/namespaces/{namespace}/websites");
        wait::until("websites are served", LIMIT, async || {
            send(plane, "GET", &served, None)
        })
        .await;
        let folder = tempfile::tempdir().unwrap();
        Self {
            plane,
            kubeconfig: kubeconfig_in(plane, &namespace, folder.path()),
            folder,
            running: BTreeMap::new(),
            history: History::new(&admin(plane), &namespace, &[websites(), config_maps()]),
            namespace,
        }
    }

    fn start(&mut self, name: &str) {
        let arguments = [
            format!("KUBECONFIG={}", self.kubeconfig.display()),
            format!("POD_NAME={name}"),
            format!("LEASE_SECONDS={}", LEASE.as_secs()),
            env!("CARGO_BIN_EXE_website-replica").to_owned(),
            "127.0.0.1:0".to_owned(),
        ];
        let log = self.folder.path().join(name);
        let replica = Leashed::start(Path::new("env"), &arguments, &log, None).unwrap();
        self.running.insert(name.to_owned(), replica);
    }

    fn signal(&self, name: &str, signal: &str) {
        self.running[name].signal(signal).unwrap();
    }

    /// Who leads now.
    fn leader(&self) -> Reign {
        self.history.reigns().pop().expect("somebody leads")
    }

    /// Waits until another replica leads and has written, and says how long that took.
    async fn taken_over(&self, from: Option<&Reign>) -> (Reign, Duration) {
        let timer = Timer::new(LIMIT);
        let next = wait::until("somebody takes over", LIMIT * 2, async || {
            assert!(
                !timer.is_over(),
                "nobody takes over from {from:?}: {}",
                self.last_words()
            );
            let next = self.history.reigns().pop()?;
            let is_new = from.is_none_or(|from| next.term.is_after(&from.term) && next.holder != from.holder);
            (is_new && self.history.has_writes(&next.term, TERM)).then_some(next)
        })
        .await;
        (next, timer.elapsed())
    }

    /// Waits for the end of a replica: its exit code and what it said.
    async fn ended(&mut self, name: &str) -> (i32, String) {
        let replica = &self.running[name];
        let timer = Timer::new(LIMIT);
        let code = wait::until("the replica ends", LIMIT * 2, async || {
            assert!(!timer.is_over(), "{name} does not end: {}", replica.last_words());
            replica.exit_code()
        })
        .await;
        let output = replica.output().unwrap();
        self.running.remove(name);
        (code, output)
    }

    fn last_words(&self) -> String {
        let words = |(name, replica): (&String, &Leashed)| format!("\n{name}: {}", replica.last_words());
        self.running.iter().map(words).collect()
    }

    fn api(&self, kind: Resource) -> DynamicApi {
        admin(self.plane).dynamic(kind).in_namespace(&self.namespace)
    }

    /// What is not yet as users want it, if anything.
    fn unsettled(&self, wanted: &BTreeMap<String, String>) -> Option<String> {
        let items = |path: String| block_in_place(|| self.plane.items(&path)).unwrap();
        let sites = items(format!(
            "/apis/example.com/v1/namespaces/{}/websites",
            self.namespace
        ));
        let pages = items(format!("/api/v1/namespaces/{}/configmaps", self.namespace));
        let name = |object: &Value| object["metadata"]["name"].as_str().unwrap().to_owned();
        let pages: BTreeMap<String, Value> = pages.into_iter().map(|page| (name(&page), page)).collect();
        let names: Vec<String> = sites.iter().map(name).collect();
        if !names.iter().eq(wanted.keys()) || !pages.keys().eq(wanted.keys()) {
            return Some(format!(
                "{:?} are wanted, there are {names:?} with {:?}",
                wanted.keys(),
                pages.keys()
            ));
        }
        let term = self.leader().term.to_string();
        let is_settled = |site: &Value| {
            let (page, html) = (&pages[&name(site)], wanted[&name(site)].as_str());
            let (site_meta, page_meta) = (&site["metadata"], &page["metadata"]);
            site["spec"]["html"] == html
                && page["data"] == json!({"index.html": html})
                && page_meta["ownerReferences"][0]["uid"] == site_meta["uid"]
                && site_meta["finalizers"] == json!([FINALIZER])
                && site["status"]["observedGeneration"] == site_meta["generation"]
                && site["status"]["page"] == site_meta["name"]
                && [site_meta, page_meta]
                    .iter()
                    .all(|it| it["annotations"][TERM] == term.as_str())
        };
        let unsettled = sites.iter().find(|site| !is_settled(site))?;
        Some(format!(
            "in {term}, {} is wanted: {unsettled} with {}",
            wanted[&name(unsettled)],
            pages[&name(unsettled)]
        ))
    }
}

/// What users do until they are told to stop: create, change and delete websites. Returns which there are then, and what they say.
async fn users(sites: DynamicApi, stop: Arc<AtomicBool>) -> BTreeMap<String, String> {
    let mut random = Random(7);
    let mut wanted = BTreeMap::new();
    let options = WriteOptions::default();
    for round in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let (name, html) = (format!("site-{}", random.below(NAMES)), format!("page {round}"));
        let is_there = wanted.contains_key(&name);
        if !is_there {
            let site = json!({"metadata": {"name": name}, "spec": {"html": html}});
            match sites.create(&site, &options).await {
                Ok(_) => drop(wanted.insert(name, html)),
                // The one before waits for its finalizer still.
                Err(error) => assert!(error.is_already_exists(), "{error}"),
            }
        } else if random.below(4) == 0 {
            sites.delete(&name, &DeleteOptions::default()).await.unwrap();
            wanted.remove(&name);
        } else {
            let patch = Patch::Merge(json!({"spec": {"html": html}}));
            sites.patch(&name, &patch, &options).await.unwrap();
            wanted.insert(name, html);
        }
        wait::pace(PACE).await;
    }
    wanted
}

/// The answer to a request, if it is one of success.
fn send(plane: &ControlPlane, method: &str, path: &str, body: Option<&Value>) -> Option<Value> {
    let answer = block_in_place(|| plane.http().send(method, path, body)).unwrap();
    answer.json().ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn three_replicas_of_the_example_keep_websites_through_a_kill_a_pause_and_a_stop() {
    let mut fleet = Fleet::new().await;
    let options = Options::new("any").with_lease_duration(LEASE);
    let between_attempts = options.retry_period.mul_f64(2.2) + Duration::from_secs(1);
    let after_silence = scaled(options.lease_duration + between_attempts);
    for name in ["a", "b", "c"] {
        fleet.start(name);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let mut load = JoinSet::new();
    load.spawn(users(fleet.api(websites()), stop.clone()));
    fleet.taken_over(None).await;

    // Killed: the others wait for its lease to be silent.
    let first = fleet.leader();
    fleet.signal(&first.holder, "KILL");
    let (second, took) = fleet.taken_over(Some(&first)).await;
    assert!(took <= after_silence, "after a kill: {took:?}");
    assert!(!second.was_free, "nobody gave it back");
    assert_eq!(fleet.ended(&first.holder).await.0, 128 + 9);

    // Paused for longer than its lease, and continued: it finds out and ends as a failure, so that something starts it anew.
    fleet.start("d");
    fleet.signal(&second.holder, "STOP");
    let (third, took) = fleet.taken_over(Some(&second)).await;
    assert!(took <= after_silence, "after a pause: {took:?}");
    assert!(!third.was_free, "nobody gave it back");
    fleet.signal(&second.holder, "CONT");
    let (code, output) = fleet.ended(&second.holder).await;
    assert_eq!(code, 1, "{output}");
    assert!(output.contains("Lost"), "{output}");

    // Asked to stop: it gives the lease back, and nobody waits for it to lapse.
    fleet.start("e");
    fleet.signal(&third.holder, "TERM");
    let (fourth, took) = fleet.taken_over(Some(&third)).await;
    assert!(took <= scaled(between_attempts), "after a stop: {took:?}");
    assert!(fourth.was_free, "it was given back");
    let (code, output) = fleet.ended(&third.holder).await;
    assert_eq!(code, 0, "{output}");

    // Everything is as users want it, claimed for the last leader, and nothing was written in a term that was over.
    stop.store(true, Ordering::Relaxed);
    let wanted = load.join_next().await.expect("they run").unwrap();
    let timer = Timer::new(LIMIT);
    wait::until("everything is settled", LIMIT * 2, async || {
        let unsettled = fleet.unsettled(&wanted);
        assert!(!timer.is_over(), "{unsettled:?}: {}", fleet.last_words());
        unsettled.is_none().then_some(())
    })
    .await;
    let writes = fleet.history.assert_fenced(TERM);
    for reign in [&first, &second, &third, &fourth] {
        assert!(
            writes.contains_key(&reign.holder),
            "{reign:?} wrote nothing: {writes:?}"
        );
    }
    assert!(fleet.history.n_reborn("Website") > 0, "names were used again");

    // With nobody left to take over, a stop leaves the lease to nobody.
    let last = fleet.leader().holder;
    let others: Vec<String> = fleet
        .running
        .keys()
        .filter(|name| **name != last)
        .cloned()
        .collect();
    for name in &others {
        fleet.signal(name, "KILL");
        fleet.ended(name).await;
    }
    fleet.signal(&last, "TERM");
    let (code, output) = fleet.ended(&last).await;
    assert_eq!(code, 0, "{output}");
    let lease = fleet.api(Lease::resource()).get("websites").await.unwrap();
    assert_eq!(lease.object.text("/spec/holderIdentity"), Some(""));
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/websites.example.com";
    send(fleet.plane, "DELETE", path, None).unwrap();
}
