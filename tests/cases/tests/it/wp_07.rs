//! WP-07: initial events come in no order of versions, and versions are opaque.

use case_tests::{Mode, PATH, Script, Stream, World, config_map, end_of_initial, event};
use informer_testkit::{Answer, Expect};

fn unordered() -> Vec<String> {
    [("z", "900"), ("b", "20"), ("c", "700")]
        .map(|(name, at)| event("ADDED", &config_map(name, at)))
        .into()
}

#[tokio::test(start_paused = true)]
async fn wp_07_stream_resumes_at_its_end_marker() {
    let script = Script::new(Mode::Streaming);
    let mut lines = unordered();
    lines.push(end_of_initial("950"));
    let streaming = Expect::watch(PATH).with("sendInitialEvents", "true");
    script.transport.on(streaming, Answer::lines(lines));
    script.watch("950", Stream::open(&[event("ADDED", &config_map("d", "951"))]));

    let world = World::start(&script, Mode::Streaming);
    world.until_told(4).await;
    assert_eq!(world.stored(), ["ns/b@20", "ns/c@700", "ns/d@951", "ns/z@900"]);
    assert!(
        script.transport.unexpected().is_empty(),
        "{:?}",
        script.transport.unexpected()
    );
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn wp_07_stream_cut_before_its_end_marker_is_no_resume_point() {
    let script = Script::new(Mode::Streaming);
    let streaming = || {
        Expect::watch(PATH)
            .with("sendInitialEvents", "true")
            .without("resourceVersion")
    };
    script.transport.on(streaming(), Answer::lines(unordered()));
    let mut lines = unordered();
    lines.push(end_of_initial("950"));
    script.transport.on(streaming(), Answer::lines(lines).then_hang());

    let world = World::start(&script, Mode::Streaming);
    world.until_told(3).await;
    assert_eq!(script.transport.requests().len(), 2);
    assert!(
        script.transport.unexpected().is_empty(),
        "{:?}",
        script.transport.unexpected()
    );
    assert_eq!(world.received(), "950");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn wp_07_versions_need_not_be_numbers() {
    for mode in Mode::ALL {
        let script = Script::new(mode);
        let lines = [
            event("MODIFIED", &config_map("a", "r-0c")),
            event("ADDED", &config_map("b", "r-7f")),
        ];
        script.state(None, &[config_map("a", "r-ff")], "r-99", Stream::closing(&lines));
        script.watch(
            "r-7f",
            Stream::open(&[event("DELETED", &config_map("a", "r-01"))]),
        );

        let world = World::start(&script, mode);
        world.until_told(4).await;
        let told = [
            "add ns/a@r-ff initial",
            "update ns/a@r-ff->r-0c",
            "add ns/b@r-7f",
            "delete ns/a@r-01",
        ];
        assert_eq!(world.log(), told);
        assert_eq!(world.stored(), ["ns/b@r-7f"]);
        assert!(
            script.transport.unexpected().is_empty(),
            "sent back byte for byte"
        );
        world.stop().await;
    }
}
