//! TR-05: the API server restarts under many reflectors.

use std::{collections::BTreeMap, time::Duration};

use case_tests::{Fake, Mode, Reflected, takes_all};
use informer_core::{Resource, Store as _};
use informer_reflector::Phase;
use informer_testkit::{ApiError, Fault, LoggedRequest, On};
use serde_json::json;

const REFLECTORS: u64 = 200;

fn config_maps() -> Resource {
    Resource::namespaced("", "v1", "configmaps", "ConfigMap")
}

fn create(world: &Fake, name: &str) {
    world.api.with(|api| {
        for n in 0..REFLECTORS {
            let object = json!({"metadata": {"name": name, "namespace": format!("n{n}")}});
            api.create(&config_maps(), object).unwrap();
        }
    });
}

fn world(mode: Mode) -> (Fake, Vec<Reflected>) {
    let mut world = Fake::new();
    create(&world, "a");
    let reflected: Vec<Reflected> = (0..REFLECTORS)
        .map(|n| world.reflect(&config_maps(), Some(&format!("n{n}")), mode, n))
        .collect();
    world.pass(Duration::from_secs(90));
    assert!(reflected.iter().all(|it| it.now().phase == Phase::Watching));
    let _ = world.requests("configmaps");
    (world, reflected)
}

/// The server goes away for twenty seconds, and is busy for five when it is back.
fn outage(world: &mut Fake) -> (Vec<LoggedRequest>, Vec<LoggedRequest>) {
    world.api.with(|api| {
        api.faults().always(On::any(), Fault::Refused);
        api.restart();
    });
    world.pass(Duration::from_secs(20));
    let during = world.requests("configmaps");
    world.api.with(|api| {
        api.faults().clear();
        let busy = Fault::Status(ApiError::too_many_requests("busy", 1));
        api.faults().chaos(7, 0.5, On::any(), vec![busy]);
    });
    world.pass(Duration::from_secs(5));
    let busy = world.requests("configmaps");
    world.api.with(|api| api.faults().clear());
    (during, busy)
}

/// By reflector, when it asked, in order.
fn times(requests: &[LoggedRequest]) -> BTreeMap<&str, Vec<Duration>> {
    let mut times: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    for request in requests {
        times.entry(&request.path).or_default().push(request.at);
    }
    times
}

fn assert_calm(during: &[LoggedRequest], busy: &[LoggedRequest]) {
    let times = times(during);
    assert_eq!(times.len() as u64, REFLECTORS);
    for (path, times) in times {
        assert!((4..=7).contains(&times.len()), "{path}: {times:?}");
        // Refused at once, then waits of 0.8 s, 1.6 s, 3.2 s, …, each up to twice as long by chance.
        let mut least = 0.8;
        for pair in times.windows(2) {
            let gap = (pair[1] - pair[0]).as_secs_f64();
            assert!((least..=2.0 * least + 0.01).contains(&gap), "{path}: {times:?}");
            least *= 2.0;
        }
    }
    let back = busy.first().map_or(Duration::ZERO, |request| request.at);
    let peak = busy
        .iter()
        .filter(|it| it.at < back + Duration::from_secs(1))
        .count();
    assert!((peak as u64) < REFLECTORS / 4, "{peak} in the first second");
}

#[test]
fn tr_05_a_restart_is_no_stampede_and_no_reason_to_list() {
    for mode in Mode::ALL {
        let (mut world, reflected) = world(mode);
        let (during, busy) = outage(&mut world);
        assert_calm(&during, &busy);
        create(&world, "b");
        world.until(Duration::from_secs(120), "all have the new object", || {
            reflected.iter().all(|it| it.store.len() == 2)
        });
        let later = world.requests("configmaps");
        for request in during.iter().chain(&busy).chain(&later) {
            assert!(!takes_all(request), "{}", request.uri);
        }
    }
}

/// Where the history is gone the state is listed again: at the last version, and in one page, so from the cache of the server.
#[test]
fn tr_05_a_relist_after_the_restart_is_served_from_the_cache() {
    let (mut world, reflected) = world(Mode::List);
    create(&world, "b");
    world.pass(Duration::from_secs(1));
    create(&world, "c");
    world.api.with(|api| {
        api.cut_connections();
        api.compact(api.revision());
    });
    let _ = world.requests("configmaps");
    let (during, busy) = outage(&mut world);
    world.until(Duration::from_secs(120), "all are whole again", || {
        reflected.iter().all(|it| it.store.len() == 3)
    });
    let later = world.requests("configmaps");
    let lists: Vec<&LoggedRequest> = during
        .iter()
        .chain(&busy)
        .chain(&later)
        .filter(|it| takes_all(it))
        .collect();
    assert!(lists.len() as u64 >= REFLECTORS);
    for list in lists {
        assert_eq!(list.param("limit"), None, "{}", list.uri);
        let asked = list.param("resourceVersion").unwrap_or_default();
        assert!(asked.parse::<u64>().is_ok_and(|it| it > 0), "{}", list.uri);
    }
}

/// Two minutes of health, and the first wait is a short one again.
#[test]
fn tr_05_the_backoff_starts_over_after_two_minutes_of_health() {
    let (mut world, reflected) = world(Mode::List);
    for _ in 0..2 {
        let (during, busy) = outage(&mut world);
        assert_calm(&during, &busy);
        world.until(Duration::from_secs(120), "all watch", || {
            reflected.iter().all(|it| it.now().phase == Phase::Watching)
        });
        world.pass(Duration::from_secs(121));
        let _ = world.requests("configmaps");
    }
}
