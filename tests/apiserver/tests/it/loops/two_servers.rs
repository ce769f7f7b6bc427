//! Two API servers on one etcd, of which one lags at times; the clients are moved from one to the other.

use apiserver_tests::{ControlPlane, Options, Relay};
use tokio::task::spawn_blocking;

use super::{Rounds, Scene, n_objects, stop};
use crate::support::Random;

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
    let followers = scene.follow().await;
    let writers = scene.churn.start();
    let mut random = Random(5);
    let mut rounds = Rounds::new(4);
    let mut n_lagging = 0;
    while rounds.next() {
        scene.churn.wrote(30).await;
        // Away from the first server, to the other one that has not seen the latest, or has.
        let lags = random.below(3) > 0 || rounds.n == 1;
        if lags {
            n_lagging += 1;
            to_etcd.hold_after(0);
            scene.churn.wrote(30).await;
            // By now they know more than the server that they come to.
            for follower in &followers {
                follower.watches().await;
            }
        }
        scene.relay.move_to(other.address()).await;
        scene.churn.wrote(30).await;
        to_etcd.release();
        for follower in &followers {
            follower.watches().await;
        }
        scene.churn.wrote(30).await;
        scene.relay.move_to(scene.plane.address()).await;
        for follower in &followers {
            follower.watches().await;
        }
    }
    scene.settle(writers, &followers, &rounds).await;
    let what = format!("there and back, {n_lagging} of them to a server that lags");
    rounds.report("two servers", &what, &scene.churn, &followers);
    stop(followers).await;
}
