//! WP-06: the version of a bookmark is where a watch resumes.

use case_tests::{Mode, PATH, Script, Stream, World, bookmark, config_map, event, failure};
use informer_testkit::Expect;

#[tokio::test(start_paused = true)]
async fn wp_06_watch_resumes_at_the_bookmark() {
    for mode in Mode::ALL {
        let script = Script::new(mode);
        script.state(
            None,
            &[config_map("a", "10")],
            "10",
            Stream::closing(&[bookmark("500")]),
        );
        script.watch("500", Stream::open(&[event("ADDED", &config_map("b", "501"))]));
        script
            .transport
            .always(Expect::watch(PATH), failure(410, "Expired"));

        let world = World::start(&script, mode);
        world.until_told(2).await;
        assert_eq!(world.log(), ["add ns/a@10 initial", "add ns/b@501"]);
        assert_eq!(script.n_states(), 1, "a quiet kind is not listed again");
        world.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn wp_06_version_of_a_bookmark_is_reported_and_applied() {
    let script = Script::new(Mode::List);
    script.state(
        None,
        &[config_map("a", "10")],
        "10",
        Stream::open(&[bookmark("500")]),
    );
    let world = World::start(&script, Mode::List);
    world.until("received", || world.received() == "500").await;
    let store = world.informer.store();
    world
        .until("applied", || store.snapshot().applied().as_str() == "500")
        .await;
    world.stop().await;
}
