//! The driver, on paused time: writes in the background, retries, stops.

use std::time::Duration;

use informer_core::{Clock as _, TokioClock};
use informer_events::{BoxEventSink, Broadcaster, Fate, MemorySink, Options, Refusal, Verb};

use crate::support::{Running, ScriptedSink, UNAVAILABLE, mins, pass, secs};

fn options() -> Options {
    let mut options = Options::default();
    options.seed = Some(7);
    options
}

#[tokio::test(start_paused = true)]
async fn a_flood_is_two_writes_and_a_count() {
    let sink = ScriptedSink::new(Ok(()));
    let running = Running::start(sink.clone(), options());
    assert_eq!(running.record("web", "Failed"), Fate::Queued);
    pass(secs(1)).await;
    for _ in 0..9999 {
        running.record("web", "Failed");
    }
    pass(secs(1)).await;
    let story = |count| {
        vec![
            (Verb::Create, "Failed".to_owned(), 1),
            (Verb::Patch, "Failed".to_owned(), count),
        ]
    };
    // All of the flood came before the patch was sent, so that it has them all.
    assert_eq!(sink.story(), story(10_000));
    let report = running.stop().await;
    assert_eq!(sink.story(), story(10_000));
    assert_eq!((report.stats.recorded(), report.stats.written), (10_000, 2));
    assert_eq!(report.abandoned, 0);
}

/// Upstream: client-go `refreshExistingEventSeries` and `finishSeries`, by the clock.
#[tokio::test(start_paused = true)]
async fn a_series_is_written_each_half_hour_and_at_its_end() {
    let sink = ScriptedSink::new(Ok(()));
    let running = Running::start(sink.clone(), options());
    for _ in 0..40 {
        running.record("web", "Failed");
        pass(mins(1)).await;
    }
    let counts = |sink: &ScriptedSink| {
        sink.story()
            .into_iter()
            .map(|(_, _, count)| count)
            .collect::<Vec<_>>()
    };
    // The patch of the second minute, and what had happened half an hour later.
    assert_eq!(counts(&sink), [1, 2, 32]);
    pass(mins(4)).await;
    assert_eq!(counts(&sink), [1, 2, 32]);
    pass(mins(2)).await;
    assert_eq!(counts(&sink), [1, 2, 32, 40]);
    pass(mins(120)).await;
    assert_eq!(sink.calls().len(), 4);
    running.record("web", "Failed");
    pass(secs(1)).await;
    assert_eq!(counts(&sink), [1, 2, 32, 40, 1]);
    let calls = sink.calls();
    assert_ne!(calls[0].event.metadata.name, calls[4].event.metadata.name);
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_drops_and_counts() {
    let sink = ScriptedSink::new(Ok(())).slow(Some(secs(1)));
    let mut options = options();
    options.queue = 10;
    options.burst = 1000;
    let running = Running::start(sink.clone(), options);
    let fates: Vec<_> = (0..15)
        .map(|index| running.record(&format!("pod-{index}"), "Started"))
        .collect();
    assert!(fates[..10].iter().all(|fate| *fate == Fate::Queued), "{fates:?}");
    assert!(
        fates[10..].iter().all(|fate| *fate == Fate::QueueFull),
        "{fates:?}"
    );
    assert_eq!(running.recorder.stats().queue_full, 5);
    // There is room again, also for those.
    pass(secs(10)).await;
    assert_eq!(running.record("pod-14", "Started"), Fate::Queued);
    let report = running.stop().await;
    assert_eq!((report.stats.queue_full, report.stats.written), (5, 11));
}

#[tokio::test(start_paused = true)]
async fn a_write_is_tried_twelve_times() {
    let sink = ScriptedSink::new(UNAVAILABLE);
    let running = Running::start(sink.clone(), options());
    let start = TokioClock.now();
    running.record("web", "Failed");
    while running.recorder.stats().exhausted == 0 {
        pass(Duration::from_millis(100)).await;
    }
    let took = TokioClock.now() - start;
    assert_eq!(sink.calls().len(), 12);
    // Eleven waits of 10 s and up to a quarter more.
    assert!(took > secs(110) && took < secs(138), "{took:?}");
    pass(mins(60)).await;
    assert_eq!(sink.calls().len(), 12);
}

#[tokio::test(start_paused = true)]
async fn the_server_may_ask_for_more_patience() {
    let busy = Err(Refusal::Unavailable {
        retry_after: Some(mins(2)),
    });
    let sink = ScriptedSink::new(Ok(())).first([busy]);
    let running = Running::start(sink.clone(), options());
    running.record("web", "Failed");
    pass(secs(119)).await;
    assert_eq!(sink.calls().len(), 1);
    pass(secs(2)).await;
    assert_eq!(sink.calls().len(), 2);
    assert_eq!(running.stop().await.stats.written, 1);
}

#[tokio::test(start_paused = true)]
async fn what_gets_no_answer_is_tried_again() {
    let sink = ScriptedSink::new(Ok(())).slow(None);
    let mut options = options();
    options.max_tries = 2;
    let running = Running::start(sink.clone(), options);
    running.record("web", "Failed");
    pass(secs(29)).await;
    assert_eq!(sink.calls().len(), 1);
    pass(secs(15)).await;
    assert_eq!(sink.calls().len(), 2);
    pass(secs(31)).await;
    assert_eq!(running.recorder.stats().exhausted, 1);
}

/// One hung request holds up nothing else.
#[tokio::test(start_paused = true)]
async fn several_writes_are_under_way_at_once() {
    let sink = ScriptedSink::new(Ok(())).slow(Some(secs(1)));
    let running = Running::start(sink.clone(), options());
    for index in 0..8 {
        running.record(&format!("pod-{index}"), "Started");
    }
    pass(Duration::from_millis(1500)).await;
    assert_eq!(sink.calls().len(), 8);
    assert_eq!(running.recorder.stats().written, 4);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_create_is_not_overtaken_by_its_patch() {
    let sink = ScriptedSink::new(Ok(())).slow(Some(secs(5)));
    let running = Running::start(sink.clone(), options());
    running.record("web", "Failed");
    pass(secs(1)).await;
    running.record("web", "Failed");
    pass(secs(3)).await;
    assert_eq!(sink.story(), [(Verb::Create, "Failed".to_owned(), 1)]);
    pass(secs(2)).await;
    assert_eq!(sink.calls().len(), 2);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_writes_what_is_left() {
    let sink = MemorySink::new();
    let running = Running::start(BoxEventSink::new(sink.clone()), options());
    running.record("web", "Failed");
    pass(secs(1)).await;
    for _ in 0..5 {
        running.record("web", "Failed");
        pass(secs(1)).await;
    }
    assert_eq!(sink.events()[0].count(), 2);
    running.record("other", "Failed");
    let recorder = running.recorder.clone();
    let report = running.stop().await;
    assert_eq!(report.abandoned, 0);
    let counts: Vec<_> = sink.events().iter().map(informer_events::Event::count).collect();
    assert_eq!(counts, [1, 6]);
    let pod = crate::support::pod("late");
    let late = recorder.event(
        pod,
        None,
        informer_events::EventKind::Normal,
        "Late",
        "Testing",
        "",
    );
    assert_eq!(late, Fate::Stopped);
    assert_eq!(recorder.stats().stopped, 1);
}

/// Upstream: client-go `TestBroadcasterShutdown`, and `TestCancelEvent`: after the stop each is tried once more at least.
#[tokio::test(start_paused = true)]
async fn a_stop_has_a_deadline_and_says_what_was_lost() {
    let sink = ScriptedSink::new(UNAVAILABLE);
    let running = Running::start(sink.clone(), options());
    for index in 0..3 {
        running.record(&format!("pod-{index}"), "Started");
    }
    pass(secs(1)).await;
    assert_eq!(sink.calls().len(), 3);
    let start = TokioClock.now();
    let report = running.stop().await;
    let took = TokioClock.now() - start;
    assert_eq!((report.abandoned, report.stats.written), (3, 0));
    assert_eq!(took, secs(10));
    assert_eq!(sink.calls().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_hung_server_does_not_hold_up_the_stop() {
    let sink = ScriptedSink::new(Ok(())).slow(None);
    let running = Running::start(sink, options());
    running.record("web", "Failed");
    pass(secs(1)).await;
    let start = TokioClock.now();
    assert_eq!(running.stop().await.abandoned, 1);
    assert_eq!(TokioClock.now() - start, secs(10));
}

#[tokio::test(start_paused = true)]
async fn nothing_to_write_is_stopped_at_once() {
    let running = Running::start(ScriptedSink::new(Ok(())), options());
    let start = TokioClock.now();
    assert_eq!(running.stop().await.abandoned, 0);
    assert_eq!(TokioClock.now(), start);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_run_ends_everything() {
    let sink = ScriptedSink::new(UNAVAILABLE);
    let running = Running::start(sink.clone(), options());
    running.record("web", "Failed");
    pass(secs(1)).await;
    let recorder = running.kill().await;
    pass(mins(60)).await;
    assert_eq!(sink.calls().len(), 1);
    let pod = crate::support::pod("web");
    let late = recorder.event(
        pod,
        None,
        informer_events::EventKind::Normal,
        "Late",
        "Testing",
        "",
    );
    assert_eq!(late, Fate::Stopped);
}

#[tokio::test(start_paused = true)]
async fn events_wait_until_somebody_writes() {
    let sink = ScriptedSink::new(Ok(()));
    let broadcaster = Broadcaster::new(sink.clone(), options());
    let early = broadcaster.recorder("early");
    let pod = crate::support::pod("web");
    early.event(
        pod,
        None,
        informer_events::EventKind::Normal,
        "Early",
        "Testing",
        "",
    );
    pass(mins(1)).await;
    assert_eq!(sink.calls(), []);
    let running = Running::of(broadcaster);
    pass(secs(1)).await;
    assert_eq!(sink.story(), [(Verb::Create, "Early".to_owned(), 1)]);
    running.stop().await;
}
