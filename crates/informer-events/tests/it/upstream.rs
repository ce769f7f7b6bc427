//! client-go's own tests of `tools/events` and `tools/record`, in our words. Those of its correlator are in `correlator.rs`, that of names
//! is beside the function.

use informer_core::Resource;
use informer_events::{
    Broadcaster, Event, EventKind, Fate, MemorySink, ObjectReference, Options, Recorder, Refusal, Verb,
};

use crate::support::{Running, ScriptedSink, UNAVAILABLE, mins, pass, pod, pods, secs};

/// Upstream: client-go `TestRecordEventToSink`: its cases are orders of a first event and a repetition, at the server.
#[tokio::test(start_paused = true)]
async fn one_event_is_kept_whatever_the_order() {
    // Once, and once more.
    for n_times in [1, 2] {
        let sink = MemorySink::new();
        let running = Running::start(sink.clone(), Options::default());
        for _ in 0..n_times {
            running.record("test", "Reason");
            pass(secs(1)).await;
        }
        running.stop().await;
        assert_eq!(
            sink.events().iter().map(Event::count).collect::<Vec<_>>(),
            [n_times]
        );
    }
    // The repetition comes to a server that has no first.
    let sink = MemorySink::new();
    let running = Running::start(sink.clone(), Options::default());
    running.record("test", "Reason");
    pass(secs(1)).await;
    sink.clear();
    running.record("test", "Reason");
    running.stop().await;
    assert_eq!(sink.events().iter().map(Event::count).collect::<Vec<_>>(), [2]);
}

/// Upstream: client-go `tools/events` `TestEventf`, its four cases.
#[tokio::test(start_paused = true)]
async fn events_are_made_of_what_was_said() {
    let sink = MemorySink::new();
    let broadcaster = Broadcaster::new(sink.clone(), Options::default());
    let recorder = broadcaster.recorder_of("c1", "i1");
    let nodes = Resource::cluster("", "v1", "nodes", "Node");
    let addresses = Resource::cluster("networking.k8s.io", "v1", "ipaddresses", "IPAddress");
    let pod1 = ObjectReference::new(&pods(), Some("ns1"), "pod1").uid("12345");
    let long = ObjectReference::new(&pods(), Some("ns2"), &"x".repeat(253 * 4)).uid("12345");
    let address = ObjectReference::new(&addresses, None, "2001:db8::123").uid("12345");
    let node1 = ObjectReference::new(&nodes, None, "node1").uid("67890");
    recorder.event(
        &pod1,
        None,
        EventKind::Normal,
        "Started",
        "starting",
        "Pod started",
    );
    let note = format!(
        "Pod failed to schedule on {}: {}",
        "node1", "not enough resources"
    );
    recorder.event(
        &pod1,
        Some(node1.clone()),
        EventKind::Warning,
        "FailedScheduling",
        "scheduling",
        note,
    );
    recorder.event(
        &address,
        None,
        EventKind::Warning,
        "NotAllocated",
        "Allocation",
        "appears to have leaked",
    );
    recorder.event(
        &long,
        None,
        EventKind::Normal,
        "Started",
        "starting",
        "Pod started",
    );
    broadcaster.run(async {}).await;

    let events = sink.events();
    let by = |namespace: &str, reason: &str| {
        let mut found = events
            .iter()
            .filter(|event| event.metadata.namespace == namespace && event.reason == reason);
        found.next().unwrap().clone()
    };
    assert_eq!(events.len(), 4);
    let started = by("ns1", "Started");
    assert!(
        started.metadata.name.starts_with("pod1."),
        "{}",
        started.metadata.name
    );
    assert_eq!((started.regarding, started.related), (pod1.clone(), None));
    assert_eq!(
        (started.action.as_str(), started.note.as_str()),
        ("starting", "Pod started")
    );
    let failed = by("ns1", "FailedScheduling");
    assert_eq!((failed.regarding, failed.related), (pod1, Some(node1)));
    assert_eq!(
        failed.note,
        "Pod failed to schedule on node1: not enough resources"
    );
    assert_eq!(failed.kind, EventKind::Warning);
    // Neither has a name that events can have.
    let leaked = by("default", "NotAllocated");
    assert_eq!((leaked.metadata.name.len(), leaked.regarding), (36, address));
    let started = by("ns2", "Started");
    assert_eq!((started.metadata.name.len(), started.regarding), (36, long));
    assert!(
        events
            .iter()
            .all(|event| event.reporting_controller == "c1" && event.reporting_instance == "i1")
    );
}

/// Upstream: client-go `TestEventSeriesf`.
#[tokio::test(start_paused = true)]
async fn the_same_action_is_patched_and_another_is_created() {
    let sink = ScriptedSink::new(Ok(()));
    let running = Running::start(sink.clone(), Options::default());
    let part = |index: u32| pod("foo").field_path(format!("spec.containers[{index}]"));
    let record = |action: &str| {
        let note = "some verbose message: 1";
        running
            .recorder
            .event(part(1), Some(part(0)), EventKind::Normal, "test", action, note)
    };
    for action in ["started", "started", "stopped"] {
        record(action);
        pass(secs(1)).await;
    }
    let calls = sink.calls();
    let verbs: Vec<_> = calls.iter().map(|call| (call.verb, call.event.count())).collect();
    assert_eq!(verbs, [(Verb::Create, 1), (Verb::Patch, 2), (Verb::Create, 1)]);
    assert_eq!(calls[0].event.metadata, calls[1].event.metadata);
    assert!(calls[1].event.metadata.name.starts_with("foo."));
    running.stop().await;
}

/// Upstream: client-go `TestEventSeriesWithEventSinkImplRace`.
#[tokio::test(start_paused = true)]
async fn two_at_once_are_one_with_a_series() {
    let sink = MemorySink::new();
    let running = Running::start(sink.clone(), Options::default());
    running.record("web", "reason");
    running.record("web", "reason");
    running.stop().await;
    assert_eq!(sink.events().iter().map(Event::count).collect::<Vec<_>>(), [2]);
}

/// Upstream: client-go `TestFinishSeries`: of a series that is over and an event that is not, one patch is sent.
#[tokio::test(start_paused = true)]
async fn a_series_that_is_over_is_patched_once() {
    let sink = ScriptedSink::new(Ok(()));
    let running = Running::start(sink.clone(), Options::default());
    for _ in 0..3 {
        running.record("over", "Failed");
        pass(secs(1)).await;
    }
    pass(mins(5)).await;
    running.record("not-over", "Failed");
    pass(secs(50)).await;
    assert_eq!(sink.calls().len(), 3);
    pass(secs(20)).await;
    let calls = sink.calls();
    assert_eq!(calls.len(), 4);
    assert_eq!((calls[3].verb, calls[3].event.count()), (Verb::Patch, 3));
    assert_eq!(calls[3].event.regarding.name, "over");
    // The other one is still the same.
    assert_eq!(running.record("not-over", "Failed"), Fate::Queued);
    pass(secs(1)).await;
    assert_eq!(sink.calls()[4].verb, Verb::Patch);
    running.stop().await;
}

/// Upstream: client-go `TestRefreshExistingEventSeries`: a series stays known when its refresh is refused.
#[tokio::test(start_paused = true)]
async fn a_series_survives_a_refused_refresh() {
    let sink = ScriptedSink::new(Ok(())).first([Ok(()), Ok(()), Err(Refusal::Rejected)]);
    let running = Running::start(sink.clone(), Options::default());
    for _ in 0..32 {
        running.record("web", "Failed");
        pass(mins(1)).await;
    }
    assert_eq!(sink.calls().len(), 3);
    assert_eq!(running.recorder.stats().rejected, 1);
    assert_eq!(running.record("web", "Failed"), Fate::Counted);
    running.stop().await;
    assert_eq!(sink.calls()[3].event.count(), 33);
}

/// Upstream: client-go `TestWriteEventError`. What it calls a status error is rejected here only where the server refuses the event itself.
#[tokio::test(start_paused = true)]
async fn some_errors_are_tried_again_and_some_are_not() {
    let cases = [
        (vec![Err(Refusal::Rejected)], Err(Refusal::Rejected), 1),
        (vec![], UNAVAILABLE, 12),
        (vec![UNAVAILABLE], Ok(()), 2),
    ];
    for (first, otherwise, n_tries) in cases {
        let sink = ScriptedSink::new(otherwise).first(first);
        let running = Running::start(sink.clone(), Options::default());
        running.record("web", "Failed");
        pass(mins(10)).await;
        assert_eq!(sink.calls().len(), n_tries, "{otherwise:?}");
    }
}

/// Upstream: client-go `TestUpdateExpiredEvent`.
#[tokio::test(start_paused = true)]
async fn an_event_that_expired_is_created_anew() {
    let sink = ScriptedSink::new(Ok(())).first([Ok(()), Err(Refusal::Gone)]);
    let running = Running::start(sink.clone(), Options::default());
    for _ in 0..2 {
        running.record("web", "Failed");
        pass(secs(1)).await;
    }
    let story: Vec<_> = sink
        .story()
        .into_iter()
        .map(|(verb, _, count)| (verb, count))
        .collect();
    assert_eq!(story, [(Verb::Create, 1), (Verb::Patch, 2), (Verb::Create, 2)]);
    running.stop().await;
}

/// Upstream: client-go `TestLotsOfEvents`: a thousand at once, each refused four times, and all of them arrive.
#[tokio::test(start_paused = true)]
async fn lots_of_events_arrive() {
    let refused = std::iter::repeat_n(UNAVAILABLE, 4000);
    let sink = ScriptedSink::new(Ok(())).first(refused);
    let running = Running::start(sink.clone(), Options::default());
    for index in 0..1000 {
        assert_eq!(running.record(&format!("foo-{index}"), "Reason"), Fate::Queued);
    }
    pass(mins(10)).await;
    let report = running.stop().await;
    assert_eq!((report.stats.written, report.stats.retried), (1000, 4000));
    assert_eq!(sink.calls().len(), 5000);
}

/// Upstream: client-go `TestEventfNoNamespace`.
#[tokio::test(start_paused = true)]
async fn without_a_namespace_it_is_the_default_one() {
    let sink = MemorySink::new();
    let broadcaster = Broadcaster::new(sink.clone(), Options::default());
    let object = ObjectReference::new(&pods(), None, "foo").field_path("spec.containers[2]");
    let recorder = broadcaster.recorder("eventTest");
    recorder.event(
        &object,
        None,
        EventKind::Normal,
        "Started",
        "starting",
        "some verbose message: 1",
    );
    broadcaster.run(async {}).await;
    assert_eq!(sink.events()[0].metadata.namespace, "default");
    assert_eq!(sink.events()[0].regarding, object);
}

/// Upstream: client-go `TestNonRacyShutdown`: a hundred threads record while it is shut down, and each event is accounted for.
#[tokio::test]
async fn a_shutdown_beside_many_recorders_accounts_for_all() {
    let sink = MemorySink::new();
    let broadcaster = Broadcaster::new(sink.clone(), Options::default());
    let recorder: Recorder = broadcaster.recorder("eventTest");
    let threads: Vec<_> = (0..100)
        .map(|index| {
            let recorder = recorder.clone();
            std::thread::spawn(move || {
                recorder.event(
                    pod(&format!("pod-{index}")),
                    None,
                    EventKind::Normal,
                    "Reason",
                    "Acting",
                    "",
                )
            })
        })
        .collect();
    let report = broadcaster.run(async {}).await;
    let fates: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let n_queued = fates.iter().filter(|fate| **fate == Fate::Queued).count();
    let stats = recorder.stats();
    assert_eq!(stats.recorded(), 100);
    assert_eq!(stats.queued, n_queued as u64);
    assert_eq!(stats.stopped, 100 - n_queued as u64);
    assert_eq!(sink.events().len() as u64, report.stats.written);
    assert_eq!(report.stats.written + report.abandoned as u64, stats.queued);
}
