//! etcd is compacted all the time while informers list in pages, watch and come back.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use apiserver_tests::{ControlPlane, Login, wait};
use informer_core::FailureClass;
use informer_hyper::HttpVersion;
use informer_reflector::Start;
use tokio::task::{JoinSet, block_in_place};

use super::{Follower, Rounds, Scene, n_objects, options, stop};
use crate::overheard::Overheard;
use crate::support::LIMIT;

/// Between two compactions.
const PAUSE: Duration = Duration::from_millis(100);

#[tokio::test(flavor = "multi_thread")]
async fn compaction_under_way() {
    // With a watch cache in between, clients would hardly notice. The server compacts too.
    let arguments = [
        "--watch-cache-sizes=configmaps#0",
        "--etcd-compaction-interval=1s",
    ];
    let scene = Scene::new("compacted", &arguments, n_objects()).await;
    let modes = [
        (Start::List, HttpVersion::Http1, None),
        (Start::StreamingList, HttpVersion::Http2, None),
        // So many pages that history ends between two of them.
        (Start::List, HttpVersion::Http2, Some(10)),
    ];
    let (followers, failures): (Vec<Follower>, Vec<_>) = modes
        .into_iter()
        .map(|(start, version, page_size)| {
            let source = scene.source(Login::Token, version, Some(scene.relay.address()));
            let (source, failures) = Overheard::new(source);
            let name = format!("{start:?} {version:?} {page_size:?}");
            (Follower::start(name, source, options(start, page_size)), failures)
        })
        .unzip();
    for follower in &followers {
        follower.synced().await;
    }
    let writers = scene.churn.start();
    let compactor = Compactor::default();
    let compacting = compactor.start(scene.plane.clone());
    let mut rounds = Rounds::new(3);
    while rounds.next() {
        scene.relay.refuse().await;
        scene.churn.wrote(20).await;
        compactor.compacted(2).await;
        let relists: Vec<u64> = followers.iter().map(|it| it.status().relists).collect();
        scene.relay.accept().await.unwrap();
        for (follower, before) in followers.iter().zip(relists) {
            follower.relisted(before).await;
            follower.watches().await;
        }
        scene.churn.wrote(50).await;
    }
    compactor.stop.store(true, Ordering::SeqCst);
    compacting.join_all().await;
    scene.settle(writers, &followers, &rounds).await;
    let expired: Vec<usize> = failures
        .iter()
        .map(|failures| {
            let failures = failures.lock().unwrap();
            failures
                .iter()
                .filter(|(class, _)| *class == FailureClass::Expired)
                .count()
        })
        .collect();
    assert!(
        expired.iter().all(|&n| n > 0),
        "no version had expired: {expired:?}"
    );
    let n_compactions = compactor.n.load(Ordering::SeqCst);
    let what = format!("{n_compactions} compactions, watches that met 410: {expired:?}");
    rounds.report("compaction", &what, &scene.churn, &followers);
    stop(followers).await;
}

/// Lets etcd forget its history, again and again. Clones are the same.
#[derive(Debug, Clone, Default)]
struct Compactor {
    stop: Arc<AtomicBool>,
    n: Arc<AtomicUsize>,
}

impl Compactor {
    fn start(&self, plane: Arc<ControlPlane>) -> JoinSet<()> {
        let this = self.clone();
        let mut task = JoinSet::new();
        task.spawn(async move {
            while !this.stop.load(Ordering::SeqCst) {
                // Where the server has just done it itself, there is nothing left to compact.
                let done = block_in_place(|| plane.etcd().compact()).is_ok();
                this.n.fetch_add(usize::from(done), Ordering::SeqCst);
                wait::pace(PAUSE).await;
            }
        });
        task
    }

    /// Waits for so many more.
    async fn compacted(&self, n: usize) {
        let goal = self.n.load(Ordering::SeqCst) + n;
        wait::until("compaction goes on", LIMIT, async || {
            (self.n.load(Ordering::SeqCst) >= goal).then_some(())
        })
        .await;
    }
}
