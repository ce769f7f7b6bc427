//! The right to read is taken away and given back.

use apiserver_tests::{ControlPlane, Login};
use informer_core::FailureClass;
use informer_hyper::HttpVersion;
use informer_reflector::Start;
use serde_json::{Value, json};
use tokio::task::block_in_place;

use super::{Follower, Rounds, Scene, n_objects, options, stop};

/// Gives the outsider the right to list and watch config maps in this namespace.
fn allow(plane: &ControlPlane, namespace: &str) {
    let role = json!({
        "metadata": {"name": "reader"},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}],
    });
    let binding = json!({
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "outsider"}],
    });
    for (what, object) in [("roles", &role), ("rolebindings", &binding)] {
        let status = send(plane, "POST", &path(namespace, what), Some(object));
        assert!(matches!(status, 201 | 409), "{what}: {status}");
    }
}

fn forbid(plane: &ControlPlane, namespace: &str) {
    let path = path(namespace, "rolebindings") + "/reader";
    assert_eq!(send(plane, "DELETE", &path, None), 200);
}

fn path(namespace: &str, what: &str) -> String {
    format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/{what}")
}

fn send(plane: &ControlPlane, method: &str, path: &str, body: Option<&Value>) -> u16 {
    block_in_place(|| plane.http().send(method, path, body))
        .unwrap()
        .status
}

#[tokio::test(flavor = "multi_thread")]
async fn rights_taken_away_and_given_back() {
    let scene = Scene::new("rights", &[], n_objects()).await;
    let modes = [
        (Start::List, HttpVersion::Http1),
        (Start::StreamingList, HttpVersion::Http2),
    ];
    let followers: Vec<Follower> = modes
        .into_iter()
        .map(|(start, version)| {
            let source = scene.source(Login::Outsider, version, Some(scene.relay.address()));
            Follower::start(format!("{start:?} {version:?}"), source, options(start, None))
        })
        .collect();
    let writers = scene.churn.start();
    // From the beginning it may not.
    for follower in &followers {
        let text = follower.fails_with(FailureClass::Forbidden).await;
        assert!(text.contains("outsider") && text.contains("configmaps"), "{text}");
        assert!(!follower.informer.has_synced());
    }
    allow(&scene.plane, &scene.namespace);
    let mut rounds = Rounds::new(2);
    while rounds.next() {
        for follower in &followers {
            follower.synced().await;
            follower.watches().await;
        }
        scene.churn.wrote(50).await;
        forbid(&scene.plane, &scene.namespace);
        // A watch that is open goes on: rights are looked at when a request comes. The authorizer itself follows by a watch, so that one
        // may still be let in for a moment.
        let cut = async || {
            for follower in &followers {
                let forbidden = || follower.informer.status().source.class == Some(FailureClass::Forbidden);
                apiserver_tests::wait::until("it is forbidden", crate::support::LIMIT, async || {
                    if !forbidden() && follower.status().phase == informer_reflector::Phase::Watching {
                        scene.relay.cut().await;
                    }
                    forbidden().then_some(())
                })
                .await;
            }
        };
        cut().await;
        scene.churn.wrote(50).await;
        for follower in &followers {
            let source = follower.informer.status().source;
            assert_eq!(source.class, Some(FailureClass::Forbidden), "{source}");
            assert!(
                follower.informer.has_synced() && !follower.informer.store().is_empty(),
                "what was known is not forgotten"
            );
        }
        allow(&scene.plane, &scene.namespace);
    }
    for follower in &followers {
        follower.watches().await;
    }
    scene.settle(writers, &followers, &rounds).await;
    rounds.report("rights", "taken and given back", &scene.churn, &followers);
    stop(followers).await;
}
