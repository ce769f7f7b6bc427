//! WP-04: a watch that ends cleanly every few minutes.

use std::time::Duration;

use case_tests::{Mode, Script, Stream, World, config_map, event};

const N_ROUNDS: usize = 20;

#[tokio::test(start_paused = true)]
async fn wp_04_clean_end_is_resumed_and_never_relisted() {
    for mode in Mode::ALL {
        let script = Script::new(mode);
        script.state(None, &[config_map("a", "1")], "5", Stream::open(&[]));
        let world = World::start(&script, mode);
        world.until_told(1).await;

        let mut expected = vec!["add ns/a@1 initial".to_owned()];
        let mut last = 1;
        for round in 0..N_ROUNDS {
            let (live, missed) = (6 + 2 * round, 7 + 2 * round);
            let modified = event("MODIFIED", &config_map("a", &live.to_string()));
            let open = script.transport.open_body().expect("a watch is open");
            open.push_line(modified);
            expected.push(format!("update ns/a@{last}->{live}"));
            world.until_told(expected.len()).await;

            // The next watch begins with what happened while none was open.
            let added = event("ADDED", &config_map(&format!("b-{round}"), &missed.to_string()));
            script.watch(&live.to_string(), Stream::open(&[added]));
            world.pass(Duration::from_secs(2)).await;
            open.close();
            expected.push(format!("add ns/b-{round}@{missed}"));
            world.until_told(expected.len()).await;
            last = live;
        }

        assert_eq!(world.log(), expected);
        assert_eq!(script.n_states(), 1, "one list in all");
        assert!(
            script.transport.unexpected().is_empty(),
            "each watch carries the last version"
        );
        let requests = script.transport.requests();
        let watches: Vec<_> = requests.iter().filter(|it| it.is_watch()).collect();
        assert!(
            watches
                .iter()
                .all(|it| it.param("allowWatchBookmarks") == Some("true"))
        );
        let timeouts: Vec<_> = watches.iter().filter_map(|it| it.timeout()).collect();
        assert_eq!(timeouts.len(), watches.len(), "every watch has a timeout");
        let (shortest, longest) = (timeouts.iter().min().unwrap(), timeouts.iter().max().unwrap());
        assert!(
            longest.as_secs_f64() >= 1.5 * shortest.as_secs_f64(),
            "{shortest:?} to {longest:?}"
        );
        world.stop().await;
    }
}
