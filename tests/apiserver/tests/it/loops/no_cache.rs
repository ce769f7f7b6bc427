//! kube-apiserver without its watch cache, for one resource and for all: lists and watches are etcd's own.

use informer_hyper::HttpVersion;
use informer_reflector::Start;

use super::{Rounds, Scene, n_objects, stop};

#[tokio::test(flavor = "multi_thread")]
async fn without_the_watch_cache_of_the_resource() {
    cut_and_compacted("no-cache-of-one", "--watch-cache-sizes=configmaps#0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_any_watch_cache() {
    cut_and_compacted("no-cache", "--watch-cache=false").await;
}

/// Every third time a resume finds that its version is gone.
async fn cut_and_compacted(name: &str, argument: &str) {
    let scene = Scene::new(name, &[argument], n_objects()).await;
    let mut followers = scene.follow().await;
    followers.push(scene.follower(Start::List, HttpVersion::Http2, Some(50)));
    followers[2].synced().await;
    let writers = scene.churn.start();
    let mut rounds = Rounds::new(3);
    while rounds.next() {
        scene.churn.wrote(30).await;
        if rounds.n.is_multiple_of(3) {
            let relists: Vec<u64> = followers.iter().map(|it| it.status().relists).collect();
            scene.relay.refuse().await;
            scene.churn.wrote(20).await;
            scene
                .with_plane(|plane| _ = plane.etcd().compact().unwrap())
                .await;
            scene.relay.accept().await.unwrap();
            for (follower, before) in followers.iter().zip(relists) {
                follower.relisted(before).await;
            }
        } else {
            scene.relay.cut().await;
        }
        for follower in &followers {
            follower.watches().await;
        }
    }
    scene.settle(writers, &followers, &rounds).await;
    rounds.report(name, "two cuts, then a compaction", &scene.churn, &followers);
    stop(followers).await;
}
