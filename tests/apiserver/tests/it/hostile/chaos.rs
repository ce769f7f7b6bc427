//! Every connection on a course of its own, from a seed, while writes go on. In the end each informer has what a LIST has, and what its
//! handler was told on the way was a chain without a gap.

use std::io::{self, Write as _};

use apiserver_tests::wait;
use informer_hyper::HttpVersion;
use informer_reflector::Start;
use informer_testkit::hostile::{Fate, Manner};

use super::stage::Stage;
use crate::support::LIMIT;

async fn stays_right(stage: Stage, seed: u64) {
    let churn = stage.churn(60).await;
    stage.proxy.behave(Manner::seeded(seed)).await;
    let clients = [stage.client(HttpVersion::Http1), stage.client(HttpVersion::Http2)];
    let followers = [
        stage.follow(&clients[0], Start::List, "Http1"),
        stage.follow(&clients[0], Start::StreamingList, "Http1"),
        // These two share their connections.
        stage.follow(&clients[1], Start::List, "Http2"),
        stage.follow(&clients[1], Start::StreamingList, "Http2"),
    ];
    // From then on, each state that is written is one that each of them has to tell of.
    for follower in &followers {
        follower.synced().await;
    }
    let writers = churn.start();
    churn.wrote(100).await;
    // Connections that hang half open make no new ones: then others are broken for them.
    wait::until("connections come and go", LIMIT, async || {
        let is_enough = stage.proxy.n_accepted() >= 40;
        if !is_enough && stage.proxy.n_open() >= 3 {
            stage.proxy.end_all(Fate::Reset).await;
        }
        is_enough.then_some(())
    })
    .await;
    churn.wrote(50).await;
    churn.stop(writers).await;
    stage.proxy.behave(Manner::calm()).await;
    stage.proxy.end_all(Fate::Reset).await;
    let expected = stage.expected();
    assert!(!expected.is_empty());
    let n_connections = stage.proxy.n_accepted();
    let mut text = format!(
        "hostile: {} server, seed {seed}: {n_connections} connections; {churn}\n",
        stage.name()
    );
    for follower in &followers {
        // Each connection may end two attempts, and time may end some.
        follower
            .settles_at(&expected, &churn, 50 + 4 * n_connections)
            .await;
        text.push_str(&format!("  {follower}\n"));
    }
    io::stderr().write_all(text.as_bytes()).unwrap();
    for follower in followers {
        follower.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn informers_stay_right_before_the_embedded_server() {
    for seed in [1, 2, 3] {
        stays_right(Stage::embedded().await, seed).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn informers_stay_right_before_a_real_server() {
    for seed in [4, 5] {
        stays_right(Stage::real("hostile").await, seed).await;
    }
}
