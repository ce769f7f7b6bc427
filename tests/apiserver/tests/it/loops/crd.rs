//! A kind is taken away with all its objects and comes back, over and over.

use apiserver_tests::{ControlPlane, wait};
use informer_client::Selectors;
use informer_core::{FailureClass, Resource};
use informer_hyper::HttpVersion;
use informer_reflector::Start;
use serde_json::{Value, json};
use tokio::task::block_in_place;

use super::{Churn, Follower, Rounds, most_watches, options, stop};
use crate::support::{LIMIT, admin, connect, namespace, own};

const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const NAME: &str = "gadgets.example.com";

/// The kind's definition, with this version alone.
pub(crate) fn definition(version: &str) -> Value {
    json!({
        "metadata": {"name": NAME},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget"},
            "versions": [{
                "name": version,
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }],
        },
    })
}

pub(crate) fn gadgets() -> Resource {
    Resource::namespaced("example.com", "v1", "gadgets", "Gadget")
}

/// Installs the kind in this version, and waits until it can be listed.
pub(crate) async fn install(plane: &ControlPlane, version: &str) {
    let body = definition(version);
    let answer = block_in_place(|| plane.http().send("POST", PATH, Some(&body))).unwrap();
    assert_eq!(answer.status, 201);
    let path = format!("/apis/example.com/{version}/gadgets");
    wait::until("the kind is there", LIMIT, async || {
        block_in_place(|| plane.http().get(&path))
            .is_ok_and(|answer| answer.status == 200)
            .then_some(())
    })
    .await;
}

/// Takes the kind away, and waits until nothing is left of it.
pub(crate) async fn remove(plane: &ControlPlane) {
    let path = format!("{PATH}/{NAME}");
    let answer = block_in_place(|| plane.http().send("DELETE", &path, None)).unwrap();
    assert_eq!(answer.status, 200);
    wait::until("the kind is gone", LIMIT, async || {
        block_in_place(|| plane.http().get(&path))
            .is_ok_and(|answer| answer.status == 404)
            .then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_that_goes_and_returns() {
    let plane = own(&[]).await;
    let namespace = namespace(&plane, "kind");
    // Its objects are deleted one by one with it.
    let churn = Churn::new(&admin(&plane), gadgets(), &namespace, 300);
    install(&plane, "v1").await;
    churn.fill().await;
    let followers: Vec<Follower> = [
        (Start::List, HttpVersion::Http1),
        (Start::StreamingList, HttpVersion::Http2),
    ]
    .into_iter()
    .map(|(start, version)| {
        let client = connect(&plane, apiserver_tests::Login::Token, version, None);
        let api = client.dynamic(gadgets()).in_namespace(&namespace);
        let name = format!("{start:?} {version:?}");
        Follower::start(name, api.source(Selectors::all()), options(start, None))
    })
    .collect();
    for follower in &followers {
        follower.synced().await;
    }
    let writers = churn.start();
    let mut rounds = Rounds::new(2);
    while rounds.next() {
        for follower in &followers {
            follower.watches().await;
        }
        churn.wrote(100).await;
        remove(&plane).await;
        for follower in &followers {
            follower.fails_with(FailureClass::NotFound).await;
        }
        install(&plane, "v1").await;
        churn.wrote(20).await;
    }
    churn.stop(writers).await;
    let path = format!("/apis/example.com/v1/namespaces/{namespace}/gadgets");
    let most = most_watches(&rounds);
    for follower in &followers {
        follower.settles(&plane, &path, &churn, most).await;
        assert!(follower.status().trouble().is_none());
    }
    rounds.report("kinds", "taken away and put back", &churn, &followers);
    stop(followers).await;
}
