//! Streaming lists are switched on and off by the server's feature gate `WatchList`, under informers that run.

use apiserver_tests::ControlPlane;
use informer_hyper::HttpVersion;
use informer_reflector::Start;

use super::{Rounds, Scene, asked_for, n_objects, stop};

fn arguments(on: bool) -> Vec<String> {
    vec![
        "--shutdown-watch-termination-grace-period=1s".to_owned(),
        format!("--feature-gates=WatchList={on}"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gate_of_streaming_lists_on_and_off() {
    let scene = Scene::new("gate", &[], n_objects()).await;
    let followers = scene.follow().await;
    let writers = scene.churn.start();
    let mut rounds = Rounds::new(2);
    let (mut n_on, mut n_streamed) = (0, 0);
    while rounds.next() {
        // The first time off: it was on from the beginning.
        let on = rounds.n.is_multiple_of(2);
        let relists: Vec<u64> = followers.iter().map(|it| it.status().relists).collect();
        scene.relay.refuse().await;
        // A server that comes up anew has no history of what is written before, so that all have to list again.
        scene.churn.wrote(20).await;
        let act = move |plane: &ControlPlane| {
            plane.kill_apiserver();
            plane.set_arguments(arguments(on));
            plane.start_apiserver().unwrap();
        };
        scene.with_plane(act).await;
        scene.relay.accept().await.unwrap();
        for (follower, before) in followers.iter().zip(relists) {
            follower.relisted(before).await;
            follower.watches().await;
        }

        // One that knows nothing of the other times.
        let fresh = scene.follower(Start::StreamingList, HttpVersion::Http2, None);
        fresh.synced().await;
        fresh.watches().await;
        let status = fresh.status();
        match on {
            // The server ends streams that it thinks too slow for what is written; it lists after two of them, and only then.
            true => assert!(
                status.lists == 0 || status.watches > 2,
                "refused, though the gate is on: {status:?}"
            ),
            // Refused, then a list in the same attempt, and a watch from there.
            false => assert!(status.lists > 0 && status.watches > 1, "{status:?}"),
        }
        assert_eq!(status.relists, 0, "{status:?}");
        n_on += usize::from(on);
        n_streamed += usize::from(status.lists == 0);
        scene.churn.wrote(50).await;
        fresh.stop().await;
    }
    scene.settle(writers, &followers, &rounds).await;
    let off = rounds.n - n_on;
    let what = format!("{n_on} with the gate on, {n_streamed} of them streamed, {off} off");
    // With few objects no stream takes so long.
    assert!(asked_for().is_some() || n_streamed == n_on, "{what}");
    rounds.report("gate", &what, &scene.churn, &followers);
    stop(followers).await;
}
