//! CM-02 on the real server: a kind is removed with its objects, and put back, first without the version that is followed.

use std::time::Duration;

use apiserver_tests::{Login, Relay, wait};
use informer_client::WriteOptions;
use informer_core::{FailureClass, Store as _};
use informer_hyper::HttpVersion;
use informer_reflector::{Phase, Status};
use serde_json::json;

use crate::ledger::Told;
use crate::loops::crd::{gadgets, install, remove};
use crate::support::{
    LIMIT, admin, by_both_starts, connect, contents, converged, namespace, own, reflector, server_contents,
};

/// Attempts at a kind that stays away come to be at least this far apart.
const GAP: Duration = Duration::from_secs(10);

/// What it waits for before the next attempt.
fn gap(status: &Status) -> Option<Duration> {
    Some(status.next_attempt? - status.since?)
}

#[tokio::test(flavor = "multi_thread")]
async fn cm_02_a_kind_that_goes_and_returns_is_followed_without_a_restart() {
    let plane = own(&[]).await;
    let namespace = namespace(&plane, "cm-02");
    let path = format!("/apis/example.com/v1/namespaces/{namespace}/gadgets");
    let relay = Relay::start(plane.address()).await.unwrap();
    let writer = admin(&plane).dynamic(gadgets()).in_namespace(&namespace);
    install(&plane, "v1").await;
    for name in ["a", "b", "c"] {
        let object = json!({"metadata": {"name": name}});
        writer.create(&object, &WriteOptions::default()).await.unwrap();
    }
    let informers = by_both_starts(|| {
        let client = connect(&plane, Login::Token, HttpVersion::Http2, Some(relay.address()));
        client.dynamic(gadgets()).in_namespace(&namespace)
    });
    for (informer, ledger, _) in &informers {
        informer.wait_synced(LIMIT).await.unwrap();
        converged(informer, &[ledger], &server_contents(&plane, &path)).await;
    }

    remove(&plane).await;
    // Put back in a version that nobody here follows: as good as gone.
    install(&plane, "v2").await;
    for (informer, ledger, _) in &informers {
        let status = wait::until("the kind is gone, and attempts get seldom", LIMIT, async || {
            let status = reflector(informer);
            let seldom = status.phase == Phase::BackingOff && gap(&status).is_some_and(|gap| gap >= GAP);
            seldom.then_some(status)
        })
        .await;
        let class = status.trouble().and_then(informer_reflector::LastError::class);
        assert_eq!(class, Some(FailureClass::NotFound), "{status:?}");
        // A round is a request, or a streaming list and a list.
        assert!(status.lists + status.watches < 40, "{status:?}");
        let removed = |told: &Told| matches!(told, Told::Removed { .. });
        let told = ledger.told();
        assert!(
            told.len() == 3 || (told.len() == 6 && told[3..].iter().all(removed)),
            "{told:?}"
        );
    }

    remove(&plane).await;
    install(&plane, "v1").await;
    let object = json!({"metadata": {"name": "d"}});
    writer.create(&object, &WriteOptions::default()).await.unwrap();
    let expected = server_contents(&plane, &path);
    for (informer, ledger, _) in &informers {
        converged(informer, &[ledger], &expected).await;
        // Each end is told: as it happened, or at the latest when the kind is back.
        let ended = ledger
            .told()
            .iter()
            .filter(|told| matches!(told, Told::Removed { .. }))
            .count();
        assert_eq!((ended, ledger.n_told()), (3, 7), "{:?}", ledger.told());
        ledger.assert_sound();
        assert_eq!(contents(informer).len(), 1);
        wait::until("nothing to complain of", LIMIT, async || {
            reflector(informer).trouble().is_none().then_some(())
        })
        .await;
    }

    // One that is removed while the kind is gone sends nothing more.
    remove(&plane).await;
    for (informer, _, running) in informers {
        running.stop().await;
        assert_eq!(reflector(&informer).phase, Phase::Stopped);
        assert!(informer.store().len() <= 1);
    }
    wait::until("all connections are closed", LIMIT, async || {
        (relay.n_open() == 0).then_some(())
    })
    .await;
}
