//! WP-08: an object leaves the selector and enters it again. The same against a real server is in `tests/apiserver`.

use case_tests::{Mode, Options, Script, Stream, World, config_map, event};
use informer_transport::Selectors;
use serde_json::{Value, json};

fn labelled(version: &str) -> Value {
    let mut object = config_map("a", version);
    object["metadata"]["labels"] = json!({"x": "1"});
    object
}

#[tokio::test(start_paused = true)]
async fn wp_08_object_that_leaves_the_selector_is_gone_and_may_return() {
    for mode in Mode::ALL {
        let script = Script::new(mode);
        // The last state that matched, at the version of the change.
        let lines = [event("ADDED", &labelled("10")), event("DELETED", &labelled("12"))];
        script.state(None, &[], "9", Stream::closing(&lines));
        script.watch("12", Stream::open(&[]));

        let options = Options {
            selectors: Selectors::all().labels("x=1"),
            ..Options::default()
        };
        let world = World::start_with(&script.transport, mode, options);
        world.until_told(2).await;
        assert_eq!(world.stored(), [""; 0], "empty in between");
        world.until("resumed", || script.n_watches_from("12") == 1).await;
        let open = script.transport.open_body().expect("a watch is open");
        open.push_line(event("ADDED", &labelled("13")));
        open.push_line(event("DELETED", &labelled("14")));
        world.until_told(4).await;

        let told = ["add ns/a@10", "delete ns/a@12", "add ns/a@13", "delete ns/a@14"];
        assert_eq!(world.log(), told);
        let requests = script.transport.requests();
        assert!(
            requests.iter().all(|it| it.param("labelSelector") == Some("x=1")),
            "on list and watch alike"
        );
        assert!(script.transport.unexpected().is_empty());
        world.stop().await;
    }
}

/// A server of long ago sends the version of the old state in the deletion: what happened since is told again, and the end is right.
#[tokio::test(start_paused = true)]
async fn wp_08_old_version_in_a_deletion_may_replay_but_converges() {
    let script = Script::new(Mode::List);
    let first = [
        event("ADDED", &labelled("10")),
        event("ADDED", &config_map("b", "11")),
        event("DELETED", &labelled("10")),
    ];
    script.state(None, &[], "9", Stream::closing(&first));
    let replay = [
        event("ADDED", &config_map("b", "11")),
        event("DELETED", &labelled("10")),
        event("ADDED", &labelled("13")),
    ];
    script.watch("10", Stream::open(&replay));
    let world = World::start(&script, Mode::List);
    world
        .until("converged", || world.stored() == ["ns/a@13", "ns/b@11"])
        .await;
    assert_eq!(
        world.log().iter().filter(|line| line.contains("ns/b")).count(),
        1,
        "b is told once"
    );
    assert_eq!(
        script
            .transport
            .requests()
            .iter()
            .filter(|it| !it.is_watch())
            .count(),
        1
    );
    assert!(script.transport.unexpected().is_empty());
    world.stop().await;
}
