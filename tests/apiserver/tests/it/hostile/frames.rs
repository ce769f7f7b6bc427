//! TR-02: two hundred frames of nearly a mebibyte in a row, in pieces of 4 KiB. All arrive, in order, and memory stays within a few frames.
//!
//! The client is a process of its own, so that it is measured alone: this test runs itself again as one.

use std::{
    env, fs,
    io::{self, Write as _},
    process::Stdio,
    sync::{Arc, Mutex},
};

use apiserver_tests::wait;
use informer_client::{Client, Selectors};
use informer_core::{Change, ObjectKey, Store as _};
use informer_hyper::{HttpVersion, HyperTransport};
use informer_kubeconfig::{Config, Overrides};
use informer_sharedinformer::{HandlerOptions, SharedInformer};
use informer_testkit::hostile::{Course, Manner};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{ChildStdout, Command},
};

use super::{
    cases::{change, create},
    stage::{Stage, VERSIONS},
};
use crate::support::{ConfigMap, LIMIT, config_map, config_maps};

const NAME: &str = "hostile::frames::tr_02_two_hundred_large_frames_are_held_one_at_a_time";
/// As much as a real server takes, with some room for what is around it.
const FRAME: usize = 1_000_000;
const N_FRAMES: usize = 200;
/// After so many, whatever is made once has been made.
const N_WARM: usize = 10;
/// Of frames: the old object, the new one, its bytes, and what the allocator keeps of each.
const A_FEW: usize = 12;

/// The most memory that this process ever held, in bytes.
fn peak() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let kib: usize = line.trim().trim_end_matches(" kB").parse().unwrap();
    kib << 10
}

fn value(serial: usize) -> String {
    format!("{serial}:{}", "x".repeat(FRAME))
}

/// The serial number in a value.
fn serial(object: &ConfigMap) -> Option<usize> {
    object.data.get("value")?.split_once(':')?.0.parse().ok()
}

/// The other process: follows, and says how much memory it took when it was asked to by an object of that name.
async fn follow(kubeconfig: String) {
    let version = match env::var("INFORMER_FRAMES_HTTP").unwrap().as_str() {
        "Http1" => HttpVersion::Http1,
        _ => HttpVersion::Http2,
    };
    let namespace = env::var("INFORMER_FRAMES_NAMESPACE").unwrap();
    let mut overrides = Overrides::default();
    overrides.kubeconfig = Some(kubeconfig.into());
    let config = Config::find(&overrides).unwrap().expect("the file is there");
    let transport = HyperTransport::builder(config.server())
        .authorize(config.authorizer())
        .tls(config.tls())
        .http_version(version)
        .build()
        .unwrap();
    let client = Client::new(transport);
    let api = client
        .objects::<ConfigMap>(config_maps())
        .in_namespace(&namespace);
    let informer = SharedInformer::builder(api.source(Selectors::all()))
        .build()
        .unwrap();
    let serials = Arc::new(Mutex::new(Vec::new()));
    let told = serials.clone();
    let handler = move |change: &Change<ObjectKey, ConfigMap>| {
        let (Change::Added { new, .. } | Change::Updated { new, .. }) = change else {
            return;
        };
        told.lock().unwrap().extend(serial(&new.object));
    };
    informer.add_handler(handler, HandlerOptions::default()).unwrap();
    let running = informer.spawn().unwrap();
    informer.wait_synced(LIMIT).await.unwrap();
    say(&format!("synced {}", peak()));
    for mark in ["warm", "end"] {
        let key = ObjectKey::new(Some(&namespace), mark);
        wait::until(mark, 4 * LIMIT, async || {
            informer.store().snapshot().get(&key).map(drop)
        })
        .await;
        say(&format!("{mark} {}", peak()));
    }
    wait::until("its handler is told of all", LIMIT, async || {
        (serials.lock().unwrap().last() == Some(&N_FRAMES)).then_some(())
    })
    .await;
    let serials = serials.lock().unwrap().clone();
    let is_in_order = serials.windows(2).all(|pair| pair[0] < pair[1]);
    say(&format!(
        "{} {}",
        if is_in_order { "ordered" } else { "mixed" },
        serials.len()
    ));
    assert!(running.stop().await.still_running.is_empty());
}

fn say(line: &str) {
    let mut out = io::stdout();
    writeln!(out, "\n# {line}").and_then(|()| out.flush()).unwrap();
}

/// What it says next: a word and a number.
async fn hears(lines: &mut Lines<BufReader<ChildStdout>>, word: &str) -> usize {
    loop {
        let line = lines
            .next_line()
            .await
            .unwrap()
            .unwrap_or_else(|| panic!("it ended before it was {word}"));
        let Some((said, number)) = line.strip_prefix("# ").and_then(|said| said.split_once(' ')) else {
            continue;
        };
        assert_eq!(said, word);
        return number.parse().unwrap();
    }
}

async fn check(stage: &Stage, version: HttpVersion) {
    let pieces = Course::default().in_pieces(4096);
    stage.proxy.behave(Manner::Same(pieces)).await;
    let folder = tempfile::tempdir().unwrap();
    let object = format!("frame-{version:?}").to_lowercase();
    create(stage, config_map(&object, &value(0))).await;
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", NAME, "--nocapture"])
        .env("INFORMER_FRAMES_KUBECONFIG", stage.kubeconfig(folder.path()))
        .env("INFORMER_FRAMES_HTTP", format!("{version:?}"))
        .env("INFORMER_FRAMES_NAMESPACE", &stage.namespace)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let synced = hears(&mut lines, "synced").await;
    for serial in 1..=N_WARM {
        change(stage, &object, &value(serial)).await;
    }
    create(stage, config_map("warm", "")).await;
    let warm = hears(&mut lines, "warm").await;
    for serial in N_WARM + 1..=N_FRAMES {
        change(stage, &object, &value(serial)).await;
    }
    create(stage, config_map("end", "")).await;
    let end = hears(&mut lines, "end").await;
    // The object as it was at first, and each of its changes, unless several were told at once.
    let n_told = hears(&mut lines, "ordered").await;
    assert!((2..=N_FRAMES + 1).contains(&n_told), "{n_told}");
    assert!(child.wait().await.unwrap().success());
    let text = format!(
        "TR-02, {}, {version:?}: {} KiB synced, {} KiB after {N_WARM} frames, {} KiB after {N_FRAMES}\n",
        stage.name(),
        synced >> 10,
        warm >> 10,
        end >> 10
    );
    io::stderr().write_all(text.as_bytes()).unwrap();
    // The system counts pages in passing, so that a later figure may even be a little smaller.
    assert!(end.saturating_sub(warm) <= A_FEW * FRAME, "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tr_02_two_hundred_large_frames_are_held_one_at_a_time() {
    if let Ok(kubeconfig) = env::var("INFORMER_FRAMES_KUBECONFIG") {
        return follow(kubeconfig).await;
    }
    for version in VERSIONS {
        for stage in Stage::both("tr-02-many").await {
            check(&stage, version).await;
        }
    }
}
