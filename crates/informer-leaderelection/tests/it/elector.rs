//! The driver, on a lock in memory and in paused time.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use informer_leaderelection::{
    BoxLock, Elector, End, HealthAdaptor, Leadership, Lock as _, Loss, MemoryLock, Metrics, Mishap, Record,
};
use tokio::sync::oneshot;

use crate::rig::{World, options, rest, secs, spawn};

#[derive(Debug, Default)]
struct Heard(Mutex<Vec<String>>);

impl Metrics for Heard {
    fn leading(&self, name: &str, leading: bool) {
        self.0.lock().unwrap().push(format!("{name} leads: {leading}"));
    }

    fn slow_path(&self, name: &str) {
        self.0.lock().unwrap().push(format!("{name} reads first"));
    }
}

impl Heard {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[tokio::test(start_paused = true)]
async fn leads_renews_and_gives_back() {
    let lock = MemoryLock::new();
    let metrics = Arc::new(Heard::default());
    let mut options = options("a");
    options.name = "demo".into();
    let elector = Elector::new(lock.clone(), options)
        .unwrap()
        .metrics(metrics.clone());
    let leadership = elector.leadership();
    assert!(!leadership.is_leader());
    let (stop, stopped) = oneshot::channel::<()>();
    let run = spawn(elector.run(async move {
        let _dropped = stopped.await;
    }));

    let term = leadership.elected().await.unwrap();
    assert_eq!((term.transitions, term.version.as_str()), (0, "1"));
    assert!(leadership.is_leader());
    assert_eq!(leadership.leader().as_deref(), Some("a"));
    assert_eq!(metrics.take(), ["demo leads: false", "demo leads: true"]);
    rest(secs(5)).await;
    assert_eq!(lock.take_requests(), ["get", "create", "update", "update"]);
    assert_eq!(
        leadership.resource_version(),
        Some(lock.stored().unwrap().version)
    );
    assert_eq!(leadership.term(), Some(term), "a renewal is no new term");

    lock.then(Mishap::Conflict);
    rest(secs(2)).await;
    assert_eq!(lock.take_requests(), ["update", "get", "update"]);
    assert_eq!(metrics.take(), ["demo reads first"]);

    stop.send(()).unwrap();
    assert_eq!(run.await.unwrap(), End::Stopped { released: true });
    assert_eq!(lock.take_requests(), ["get", "update"]);
    assert_eq!(metrics.take(), ["demo leads: false"]);
    assert!(!leadership.is_leader());
    assert_eq!(leadership.elected().await, None);
    leadership.lost().await;
}

/// Sets a flag when it is dropped.
struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn t07_lost_leadership_drops_the_work_where_it_is() {
    let lock = MemoryLock::new();
    let dropped = Arc::new(AtomicUsize::new(0));
    let guard = Guard(dropped.clone());
    let elector = Elector::new(lock.clone(), options("a")).unwrap();
    let leadership = elector.leadership();
    let run = spawn(elector.run_with(std::future::pending(), move |_| async move {
        let _guard = guard;
        std::future::pending::<()>().await;
    }));
    leadership.elected().await.unwrap();
    lock.always(Some(Mishap::Fail));
    leadership.lost().await;
    assert_eq!(run.await.unwrap(), End::Lost(Loss::RenewDeadline));
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn t08_a_candidate_that_never_led_never_begins_the_work() {
    let lock = MemoryLock::new();
    lock.put(Some(Record {
        holder: "b".into(),
        duration_seconds: 3600,
        ..Record::default()
    }));
    let began = Arc::new(AtomicUsize::new(0));
    let begins = began.clone();
    let elector = Elector::new(lock, options("a")).unwrap();
    let end = elector
        .run_with(rest(secs(30)), move |_| async move {
            begins.fetch_add(1, Ordering::SeqCst);
        })
        .await;
    assert_eq!(end, End::Stopped { released: false });
    assert_eq!(began.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn t09_a_released_lease_changes_hands_within_one_wait() {
    let world = World::new();
    let mut a = world.run(options("a"));
    a.leadership.elected().await.unwrap();
    let b = world.run(options("b"));
    rest(secs(20)).await;
    a.stop();
    assert_eq!(a.end().await, End::Stopped { released: true });
    b.leadership.elected().await.unwrap();
    let handed_over = world.now() - secs(20);
    assert!(handed_over <= Duration::from_millis(4_400), "{handed_over:?}");
    world.assert_no_overlap(&["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn terms_increase_from_leader_to_leader() {
    let world = World::new();
    let mut waiting: Vec<_> = ["a", "b", "c"].map(|name| world.run(options(name))).into();
    let mut terms = Vec::new();
    while !waiting.is_empty() {
        let at = loop {
            if let Some(at) = waiting
                .iter()
                .position(|candidate| candidate.leadership.is_leader())
            {
                break at;
            }
            rest(Duration::from_millis(100)).await;
        };
        let mut leader = waiting.remove(at);
        terms.push(leader.leadership.term().unwrap());
        assert!(
            waiting
                .iter()
                .all(|candidate| candidate.leadership.term().is_none())
        );
        leader.stop();
        leader.end().await;
    }
    assert!(
        terms
            .windows(2)
            .all(|pair| pair[1].is_after(&pair[0]) && !pair[0].is_after(&pair[1])),
        "{terms:?}"
    );
    world.assert_no_overlap(&["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn work_that_ends_by_itself_ends_the_run_and_gives_back() {
    let lock = MemoryLock::new();
    let elector = Elector::new(lock.clone(), options("a")).unwrap();
    let end = elector.run_with(std::future::pending(), |_| rest(secs(3))).await;
    assert_eq!(end, End::Stopped { released: true });
    assert!(lock.stored().unwrap().record.is_free());
}

/// A process that was paused asks before its elector had a chance to notice.
#[tokio::test(start_paused = true)]
async fn leadership_is_judged_by_the_clock_while_the_elector_is_stuck() {
    let lock = MemoryLock::new();
    let elector = Elector::new(lock.clone(), options("a")).unwrap();
    let leadership = elector.leadership();
    let health = HealthAdaptor::new(secs(20));
    assert_eq!(health.check(), Ok(()), "healthy before there is an election");
    health.set(leadership.clone());
    let mut run = Box::pin(elector.run(std::future::pending()));
    tokio::select! {
        _ = &mut run => panic!("nothing ends it"),
        term = leadership.elected() => assert!(term.is_some()),
    }
    // From here on nobody polls the elector.
    rest(secs(9)).await;
    assert!(leadership.is_leader());
    leadership.lost().await;
    assert!(!leadership.is_leader() && leadership.term().is_none());
    // Lease and tolerance: fifteen and twenty seconds after it was renewed.
    rest(secs(25)).await;
    assert_eq!(health.check(), Ok(()));
    rest(secs(1)).await;
    assert!(health.check().is_err());
    assert_eq!(run.await, End::Lost(Loss::RenewDeadline));
    assert_eq!(health.check(), Ok(()), "it has noticed");
}

#[tokio::test(start_paused = true)]
async fn dropping_the_run_ends_leading_at_once() {
    let lock = MemoryLock::new();
    let metrics = Arc::new(Heard::default());
    let elector = Elector::new(BoxLock::new(lock.clone()), options("a"))
        .unwrap()
        .metrics(metrics.clone());
    let leadership: Leadership = elector.leadership();
    let mut run = Box::pin(elector.run(std::future::pending()));
    tokio::select! {
        _ = &mut run => panic!("nothing ends it"),
        term = leadership.elected() => assert!(term.is_some()),
    }
    drop(run);
    assert!(!leadership.is_leader());
    leadership.lost().await;
    leadership.ending().await;
    assert_eq!(metrics.take().last().map(String::as_str), Some(" leads: false"));
    assert_eq!(&*lock.stored().unwrap().record.holder, "a", "nobody gave it back");
}

#[tokio::test(start_paused = true)]
async fn the_lock_in_memory_keeps_the_contract_of_locks() {
    let lock = BoxLock::new(MemoryLock::new());
    assert_eq!(lock.get().await.unwrap(), None);
    let record = |holder: &str| Record {
        holder: holder.into(),
        duration_seconds: 15,
        ..Record::default()
    };
    let created = lock.create(record("a")).await.unwrap();
    assert_eq!(lock.get().await.unwrap(), Some(created.clone()));
    assert!(lock.create(record("b")).await.is_err());
    let updated = lock.update(record("b"), created.version.clone()).await.unwrap();
    assert_ne!(updated.version, created.version);
    assert!(lock.update(record("c"), created.version).await.is_err());
    assert_eq!(lock.get().await.unwrap(), Some(updated));
}
