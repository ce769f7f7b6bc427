//! TR-06 before a real server, whose watches are counted by their connections.

use apiserver_tests::wait;
use informer_reflector::Start;
use informer_testkit::hostile::Fate;

use super::{
    cases::{change, create, key, sees},
    stage::{Stage, VERSIONS},
};
use crate::support::{LIMIT, config_map};

#[tokio::test(flavor = "multi_thread")]
async fn tr_06_an_informer_has_one_connection_through_outages_of_a_real_server() {
    let stage = Stage::real("tr-06").await;
    create(&stage, config_map("a", "before")).await;
    for version in VERSIONS {
        let client = stage.client(version);
        let follower = stage.follow(&client, Start::StreamingList, &format!("{version:?}"));
        assert!(follower.informer.spawn().is_err(), "a second start is refused");
        for round in 0..25 {
            let value = format!("{version:?} {round}");
            change(&stage, "a", &value).await;
            sees(&follower, &key(&stage, "a"), &value).await;
            // Over HTTP/1.1 a watch has a connection to itself; over HTTP/2 there is one for all.
            wait::until("it has one connection", LIMIT, async || {
                (stage.proxy.n_open() == 1).then_some(())
            })
            .await;
            let fate = if round % 2 == 0 { Fate::Cut } else { Fate::Reset };
            stage.proxy.end_all(fate).await;
        }
        let watches = follower.status().watches;
        assert!((25..=60).contains(&watches), "{watches} watches in 25 outages");
        follower.stop().await;
        drop(client);
        wait::until("nothing is open", LIMIT, async || {
            (stage.proxy.n_open() == 0).then_some(())
        })
        .await;
    }
}
