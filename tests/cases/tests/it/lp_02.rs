//! LP-02: the same key twice in the first list, under both queues.

use case_tests::{Mode, Options, Script, Stream, World, config_map};
use informer_sharedinformer::QueueKind;

#[tokio::test(start_paused = true)]
async fn lp_02_key_that_is_listed_twice_still_syncs() {
    for mode in Mode::ALL {
        for queue in [QueueKind::InOrder, QueueKind::Coalescing] {
            let script = Script::new(mode);
            let items = [
                config_map("a", "10"),
                config_map("a", "12"),
                config_map("b", "11"),
            ];
            script.state(None, &items, "12", Stream::open(&[]));
            let world = World::start_with(
                &script.transport,
                mode,
                Options {
                    queue,
                    ..Options::default()
                },
            );
            world.until("synced", || world.informer.has_synced()).await;
            world
                .until("both told", || world.stored() == ["ns/a@12", "ns/b@11"])
                .await;
            world.until_told(2).await;
            let adds = |name: &str| {
                world
                    .log()
                    .iter()
                    .filter(|it| it.starts_with(&format!("add ns/{name}@")))
                    .count()
            };
            assert_eq!((adds("a"), adds("b")), (1, 1), "{:?}", world.log());
            world.stop().await;
        }
    }
}
