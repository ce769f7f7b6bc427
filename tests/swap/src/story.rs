//! What happens to the lamps, and what must have become of it.

use std::{collections::BTreeMap, time::Duration};

use informer_core::{Clock, Key, TokioClock};

use crate::Program;

/// A world with lamps in it.
pub trait World {
    /// A lamp is now so, and is there if it was not.
    fn set(&self, name: &str, state: &str);

    /// A lamp is gone.
    fn remove(&self, name: &str);

    /// Connections break, and what happens in `meanwhile` is not told to anybody who comes back.
    fn fail(&self, meanwhile: &dyn Fn(&Self));

    /// The state of each lamp.
    fn lamps(&self) -> BTreeMap<String, String>;
}

/// Plays the story to a program that was built over this world, and checks after each chapter that the program has caught up. Time is
/// tokio's and paused.
///
/// # Panics
/// When the program does not follow.
pub async fn play<W: World, Q: Key>(world: &W, program: Program<Q>) {
    for name in ["desk", "door", "hall", "flaky-one", "flaky-two"] {
        world.set(name, "off");
    }
    let running = program.start();
    caught_up(world, &program, "the first list").await;

    for name in ["desk", "flaky-one", "hall"] {
        world.set(name, "on");
    }
    world.remove("door");
    world.set("door", "on");
    world.remove("hall");
    caught_up(world, &program, "changes").await;

    world.fail(&|world| {
        world.remove("desk");
        world.remove("flaky-two");
        world.set("flaky-two", "on");
        world.set("garden", "off");
    });
    caught_up(world, &program, "an outage").await;

    for round in 0..50 {
        world.set("garden", if round % 2 == 0 { "on" } else { "off" });
    }
    world.remove("door");
    caught_up(world, &program, "a burst").await;
    program.stop(running).await;
}

async fn caught_up<W: World, Q: Key>(world: &W, program: &Program<Q>, after: &str) {
    let clock = TokioClock;
    let patience = clock.now() + Duration::from_secs(600);
    loop {
        let (expected, cached, made) = (world.lamps(), program.cached(), program.made());
        if cached == expected && made == expected {
            return;
        }
        assert!(
            clock.now() < patience,
            "not caught up after {after}: the lamps are {expected:?}, cached {cached:?}, made {made:?}"
        );
        clock.sleep_until(clock.now() + Duration::from_millis(10)).await;
    }
}
