//! Watches that the server closes after a second or two.

use apiserver_tests::{Login, wait};
use informer_hyper::HttpVersion;
use informer_reflector::Start;

use super::{Follower, Rounds, Scene, n_objects, options, stop};
use crate::support::LIMIT;

/// Watches that each sees in a round.
const N_WATCHES: u64 = 3;

#[tokio::test(flavor = "multi_thread")]
async fn watches_that_end_all_the_time() {
    let scene = Scene::new("short", &["--min-request-timeout=1"], n_objects()).await;
    // The server's time counts only where the client names none. Another one names one itself.
    let at_the_servers = scene
        .source(Login::Token, HttpVersion::Http2, None)
        .tweak(|query| query.remove("timeoutSeconds"));
    let at_its_own = scene
        .source(Login::Token, HttpVersion::Http1, None)
        .tweak(|query| {
            if query.get("watch").is_some() {
                query.set("timeoutSeconds", "1");
            }
        });
    let followers = vec![
        Follower::start(
            "timeout of the server",
            at_the_servers,
            options(Start::StreamingList, None),
        ),
        Follower::start("timeout of 1 s", at_its_own, options(Start::List, None)),
    ];
    for follower in &followers {
        follower.synced().await;
    }
    let lists: Vec<u64> = followers.iter().map(|it| it.status().lists).collect();
    let writers = scene.churn.start();
    let mut rounds = Rounds::new(2);
    while rounds.next() {
        scene.churn.wrote(50).await;
        for follower in &followers {
            let goal = follower.status().watches + N_WATCHES;
            wait::until("watches end and begin", LIMIT, async || {
                (follower.status().watches >= goal).then_some(())
            })
            .await;
        }
    }
    scene.settle(writers, &followers, &rounds).await;
    // A watch that ends in time is no failure, and never a reason to list.
    for (follower, lists) in followers.iter().zip(lists) {
        let status = follower.status();
        assert_eq!(
            (status.relists, status.lists, status.failures),
            (0, lists, 0),
            "{status:?}"
        );
    }
    rounds.report("short watches", "", &scene.churn, &followers);
    stop(followers).await;
}
