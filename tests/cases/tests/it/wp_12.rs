//! WP-12: the server refuses the streaming list.

use case_tests::{Mode, PATH, Script, Stream, World, config_map, failure, list};
use informer_testkit::{Answer, Expect};

async fn check(refusals: Vec<Answer>) {
    let script = Script::new(Mode::Streaming);
    let n_refusals = refusals.len();
    for refusal in refusals {
        script
            .transport
            .on(Expect::watch(PATH).with("sendInitialEvents", "true"), refusal);
    }
    let plain = Expect::list(PATH).without("sendInitialEvents");
    script
        .transport
        .on(plain, Answer::json(&list(&[config_map("a", "5")], "6")));
    script.watch("6", Stream::open(&[]));

    let world = World::start(&script, Mode::Streaming);
    world.until_told(1).await;
    world.until("watching", || script.n_watches_from("6") == 1).await;
    assert_eq!(world.log(), ["add ns/a@5 initial"]);
    assert!(world.informer.has_synced());
    assert!(
        script.transport.unexpected().is_empty(),
        "{:?}",
        script.transport.unexpected()
    );
    assert_eq!(
        script.transport.requests().len(),
        n_refusals + 2,
        "the list follows in the same attempt"
    );
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn wp_12_refused_streaming_list_falls_back_to_list() {
    for (code, reason) in [
        (422, "Invalid"),
        (400, "BadRequest"),
        (403, "Forbidden"),
        (405, "MethodNotAllowed"),
        (501, "NotImplemented"),
    ] {
        check(vec![failure(code, reason)]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn wp_12_throttled_streaming_list_is_tried_again_first() {
    check(vec![failure(429, "TooManyRequests"), failure(422, "Invalid")]).await;
}
