//! WP-01: a 410 hidden inside a 200 response.

use case_tests::{Mode, Script, Stream, World, config_map, status_error};

async fn check(mode: Mode, ending: Stream) {
    let script = Script::new(mode);
    script.state(None, &[config_map("a", "10")], "10", ending);
    let news = [config_map("a", "30"), config_map("b", "31")];
    script.state(Some("10"), &news, "31", Stream::open(&[]));

    let world = World::start(&script, mode);
    world.until_told(3).await;

    assert_eq!(
        world.log(),
        ["add ns/a@10 initial", "update ns/a@10->30", "add ns/b@31"]
    );
    assert_eq!(world.stored(), ["ns/a@30", "ns/b@31"]);
    assert!(world.informer.has_synced());
    assert_eq!(script.n_states(), 2, "one relist for one 410");
    assert!(
        script.n_watches_from("10") <= 1,
        "the expired version is not watched again"
    );
    assert_eq!(world.received(), "31");
    assert!(script.transport.unexpected().is_empty());
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn wp_01_410_inside_200_relists_once() {
    for mode in Mode::ALL {
        for reason in ["Expired", "Gone"] {
            check(mode, Stream::closing(&[status_error(410, reason)])).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn wp_01_410_in_a_line_without_its_newline_counts() {
    for mode in Mode::ALL {
        check(
            mode,
            Stream::closing(&[status_error(410, "Expired")]).unterminated(),
        )
        .await;
    }
}
