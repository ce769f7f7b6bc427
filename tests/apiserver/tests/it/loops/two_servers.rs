//! Two API servers on one etcd, of which one lags at times; the clients are moved from one to the other.

use apiserver_tests::{ControlPlane, Login, Options, Relay, wait};
use informer_core::{FailureClass, Store as _};
use informer_hyper::HttpVersion;
use informer_reflector::{Phase, Start};
use tokio::task::{block_in_place, spawn_blocking};

use super::{Follower, Rounds, Scene, n_objects, options, stop};
use crate::overheard::{Failures, Overheard};
use crate::support::LIMIT;

/// One that follows through a relay of its own.
struct Moved {
    relay: Relay,
    failures: Failures,
}

async fn follow(scene: &Scene, start: Start, version: HttpVersion) -> (Follower, Moved) {
    let relay = Relay::start(scene.plane.address()).await.unwrap();
    let source = scene.source(Login::Token, version, Some(relay.address()));
    let (source, failures) = Overheard::new(source);
    let follower = Follower::start(format!("{start:?} {version:?}"), source, options(start, None));
    follower.synced().await;
    (follower, Moved { relay, failures })
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_moved_between_two_servers() {
    let scene = Scene::new("moved", &[], n_objects()).await;
    // The other one sees etcd through a relay that can hold back what has changed.
    let to_etcd = Relay::start(scene.plane.etcd().address()).await.unwrap();
    let options = Options {
        arguments: vec!["--shutdown-watch-termination-grace-period=1s".to_owned()],
        etcd_through: Some(to_etcd.address()),
    };
    let first = scene.plane.clone();
    let other: ControlPlane = spawn_blocking(move || first.beside(options).unwrap())
        .await
        .unwrap();
    let (followers, moved): (Vec<Follower>, Vec<Moved>) = [
        follow(&scene, Start::List, HttpVersion::Http1).await,
        follow(&scene, Start::StreamingList, HttpVersion::Http2).await,
    ]
    .into_iter()
    .unzip();
    let writers = scene.churn.start();
    let mut rounds = Rounds::new(3);
    while rounds.next() {
        scene.churn.wrote(30).await;
        // Away from the first server, to the other one that has not seen the latest, or has.
        let lags = !rounds.n.is_multiple_of(3);
        if lags {
            to_etcd.hold_after(0);
            scene.churn.wrote(30).await;
            // By now they know more than the server that they come to.
            all_watch(&followers).await;
        }
        for moved in &moved {
            moved.relay.move_to(other.address()).await;
        }
        scene.churn.wrote(30).await;
        if rounds.n % 3 == 1 {
            for (follower, moved) in followers.iter().zip(&moved) {
                asks_for_more_than_there_is(follower, moved).await;
            }
        }
        // One that starts at the server that lags must not be content with what that has.
        let newest = block_in_place(|| scene.plane.etcd().revision()).unwrap();
        let source = scene.source(Login::Token, HttpVersion::Http2, Some(moved[0].relay.address()));
        let start = if rounds.n.is_multiple_of(2) {
            Start::List
        } else {
            Start::StreamingList
        };
        let fresh = Follower::start("fresh", source, super::options(start, None));
        wait::until("its first request is under way", LIMIT, async || {
            (fresh.status().phase != Phase::Starting).then_some(())
        })
        .await;
        to_etcd.release();
        fresh.synced().await;
        let applied = fresh.informer.store().snapshot().applied().to_string();
        let applied: i64 = applied.parse().unwrap();
        assert!(
            applied >= newest,
            "{applied} is older than {newest}: {:?}",
            fresh.status()
        );
        all_watch(&followers).await;
        fresh.stop().await;

        scene.churn.wrote(30).await;
        for moved in &moved {
            moved.relay.move_to(scene.plane.address()).await;
        }
        all_watch(&followers).await;
    }
    scene.settle(writers, &followers, &rounds).await;
    let n_too_large: Vec<usize> = moved.iter().map(|it| n_too_large(&it.failures)).collect();
    let what = format!("there and back, versions that the server did not have yet: {n_too_large:?}");
    rounds.report("two servers", &what, &scene.churn, &followers);
    stop(followers).await;
}

async fn all_watch(followers: &[Follower]) {
    for follower in followers {
        follower.watches().await;
    }
}

/// Watches that break off at once make it list, at the version that it has: the server, which lags, refuses that.
async fn asks_for_more_than_there_is(follower: &Follower, moved: &Moved) {
    let before = n_too_large(&moved.failures);
    wait::until("the version is too large", LIMIT, async || {
        if follower.status().phase == Phase::Watching {
            moved.relay.cut().await;
        }
        (n_too_large(&moved.failures) > before).then_some(())
    })
    .await;
}

fn n_too_large(failures: &Failures) -> usize {
    let failures = failures.lock().unwrap();
    let too_large = failures
        .iter()
        .filter(|(class, _)| *class == FailureClass::VersionTooLarge);
    too_large.count()
}
