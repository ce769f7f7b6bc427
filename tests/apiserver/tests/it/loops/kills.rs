//! kube-apiserver is killed and started again, over and over.

use apiserver_tests::{ControlPlane, Login};
use informer_hyper::HttpVersion;
use informer_sharedinformer::ReflectorOptions;

use super::{Follower, Rounds, Scene, n_objects, stop};

/// Writes between one start and the next end.
const N_WRITES: usize = 150;

#[tokio::test(flavor = "multi_thread")]
async fn kills_and_restarts() {
    let scene = Scene::new("kills", &[], n_objects()).await;
    let mut followers = scene.follow().await;
    let source = scene.source(Login::Token, HttpVersion::Http2, None);
    // Its waits grow to half a minute and more, so that it misses whole lives of the server.
    followers.push(Follower::start(
        "all defaults",
        source,
        ReflectorOptions::default(),
    ));
    followers[2].synced().await;
    let writers = scene.churn.start();
    let mut rounds = Rounds::new(2);
    let mut n_kills = 0;
    while rounds.next() {
        // Every other time without waiting for those who are quick: they may then be in the middle of coming back.
        if rounds.n.is_multiple_of(2) {
            for follower in &followers[..2] {
                follower.watches().await;
            }
        }
        scene.churn.wrote(N_WRITES).await;
        // By signal 9, or as an upgrade does, which ends watches differently.
        let kill = rounds.n % 3 != 2;
        n_kills += usize::from(kill);
        let act = move |plane: &ControlPlane| {
            match kill {
                true => plane.kill_apiserver(),
                false => plane.end_apiserver().unwrap(),
            }
            plane.start_apiserver().unwrap();
        };
        scene.with_plane(act).await;
    }
    scene.churn.wrote(N_WRITES).await;
    // In an outage a reflector makes an attempt every 800 ms at most, less and less often.
    scene.settle(writers, &followers, &rounds).await;
    assert!(scene.churn.n_failed() > 0, "no write met a server that was down");
    for follower in &followers {
        let status = follower.status();
        assert!(
            status.watches > 1 && status.last_error.is_some(),
            "it noticed nothing: {status:?}"
        );
    }
    let what = format!("{n_kills} kills, {} orderly ends", rounds.n - n_kills);
    rounds.report("kills", &what, &scene.churn, &followers);
    stop(followers).await;
}
