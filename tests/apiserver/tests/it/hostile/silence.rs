//! TR-03, what is beside its main variant: the bounds of time, as they are by default and in virtual time; HTTP/1.1; and a LIST in flight.

use std::time::Duration;

use apiserver_tests::wait;
use informer_core::Store as _;
use informer_hyper::HttpVersion;
use informer_reflector::Start;
use informer_testkit::{
    Rng,
    hostile::{Course, Fate, Manner},
};

use super::{
    cases::{change, create, key, sees},
    stage::{Stage, VERSIONS},
};
use crate::loops::follower::Follower;
use crate::support::{LIMIT, config_map};

const SECOND: Duration = Duration::from_secs(1);

/// Lets the time pass, a step at a time, with turns for what each step wakes. Sockets get theirs between the steps, if few.
async fn pass(n: usize, step: Duration) {
    for _ in 0..n {
        tokio::time::advance(step).await;
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }
}

/// Whether it noticed that its watch is over: it has opened another since, or cannot.
fn noticed(follower: &Follower, watches_before: u64) -> bool {
    let status = follower.status();
    status.watches > watches_before || status.trouble().is_some()
}

/// Five watches go silent; after this time all of them have noticed it, and then they see what was missed, without a LIST.
async fn noticed_within(version: HttpVersion, n: usize, step: Duration) {
    let stage = Stage::embedded().await;
    create(&stage, config_map("a", "before")).await;
    let client = stage.patient_client(version);
    let mut followers = Vec::new();
    for i in 0..5 {
        let follower = stage.follow(&client, Start::List, &format!("{version:?} number {i}"));
        follower.watches().await;
        sees(&follower, &key(&stage, "a"), "before").await;
        followers.push(follower);
    }
    if version == HttpVersion::Http2 {
        assert_eq!(stage.proxy.n_open(), 1, "they share one");
    }
    let before: Vec<_> = followers.iter().map(Follower::status).collect();
    stage.proxy.end_all(Fate::HalfOpen).await;
    change(&stage, "a", "after").await;
    // Nothing but timers can happen until one of them ends the watches.
    tokio::time::pause();
    pass(n, step).await;
    for (follower, before) in followers.iter().zip(&before) {
        assert!(noticed(follower, before.watches), "{follower} did not notice");
    }
    tokio::time::resume();
    for (follower, before) in followers.iter().zip(&before) {
        sees(follower, &key(&stage, "a"), "after").await;
        assert_eq!(follower.status().lists, before.lists, "{follower}: it resumed");
    }
    for follower in followers {
        follower.stop().await;
    }
}

/// A ping after 30 s of silence, 15 s for its answer, and a second for the next attempt.
#[tokio::test]
async fn tr_03_several_watches_on_a_silent_connection_of_http_2_notice_within_45_seconds() {
    noticed_within(HttpVersion::Http2, 46, SECOND).await;
}

/// HTTP/1.1 has no pings, and the proxy's own system answers the keep-alive of TCP: there the watch is over when its time is, which is ten
/// minutes at most, and half a minute of grace.
#[tokio::test]
async fn tr_03_silent_watches_of_http_1_end_when_their_time_does() {
    noticed_within(HttpVersion::Http1, 64, 10 * SECOND).await;
}

/// Text that does not get much shorter by compression.
fn noise(rng: &mut Rng, n_bytes: usize) -> String {
    let digit = |rng: &mut Rng| char::from(b'a' + u8::try_from(rng.index(26)).unwrap());
    (0..n_bytes).map(|_| digit(rng)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn tr_03_a_list_in_flight_is_given_up_and_asked_for_again() {
    for stage in Stage::both("tr-03-list").await {
        let mut rng = Rng::new(3);
        for i in 0..100 {
            create(&stage, config_map(&format!("l-{i}"), &noise(&mut rng, 4 << 10))).await;
        }
        for version in VERSIONS {
            // Well beyond the handshake, and well before the end of the LIST, compressed or not.
            let in_its_midst = Course::default().ending(100_000, Fate::HalfOpen);
            stage.proxy.behave(Manner::Same(in_its_midst)).await;
            let n_before = stage.proxy.n_accepted();
            let client = stage.client(version);
            let follower = stage.follow(&client, Start::List, &format!("{version:?} LIST in flight"));
            wait::until("its connection is there", LIMIT, async || {
                (stage.proxy.n_accepted() > n_before).then_some(())
            })
            .await;
            // For the next one.
            stage.proxy.behave(Manner::calm()).await;
            follower.synced().await;
            let status = follower.status();
            assert!(
                status.lists >= 2,
                "{follower}: the first one was not answered whole"
            );
            let snapshot = follower.informer.store().snapshot();
            for i in 0..100 {
                assert!(
                    snapshot.get(&key(&stage, &format!("l-{i}"))).is_some(),
                    "{follower}: number {i}"
                );
            }
            assert!(
                stage.proxy.n_accepted() > n_before + 1,
                "{follower}: over another connection"
            );
            follower.stop().await;
        }
    }
}
