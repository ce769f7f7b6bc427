//! What a recorder makes of what it is told, and whom it tells.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use informer_events::{
    Broadcaster, Event, EventKind, Fate, MemorySink, Metrics, MicroTime, NOTE_LIMIT, ObjectReference,
    Occurrence, Options, Recorder, Verb, Written,
};
use serde_json::json;

use crate::support::{Running, ScriptedSink, UNAVAILABLE, pass, pod, secs};

/// 2023-01-01T12:00:00Z and a half millisecond.
const WALL: Duration = Duration::new(1_672_574_400, 500_000);

fn broadcaster(sink: &MemorySink) -> Broadcaster<MemorySink> {
    Broadcaster::new(sink.clone(), Options::default()).with_wall(|| WALL)
}

async fn recorded(record: impl FnOnce(&Recorder)) -> Vec<Event> {
    let sink = MemorySink::new();
    let broadcaster = broadcaster(&sink);
    record(&broadcaster.recorder_of("example.com/c1", "i1"));
    broadcaster.run(async {}).await;
    sink.events()
}

#[tokio::test(start_paused = true)]
async fn an_event_is_written_as_the_server_has_it() {
    let events = recorded(|recorder| {
        let occurrence = Occurrence::new(
            pod("web"),
            EventKind::Warning,
            "FailedMount",
            "Mounting",
            "no volume",
        )
        .related(ObjectReference::default().uid("u2"))
        .annotation("example.com/why", "test");
        assert_eq!(recorder.record(occurrence), Fate::Queued);
    })
    .await;
    let written = serde_json::to_value(&events).unwrap();
    let expected = json!([{
        "metadata": {"name": "web.17362d8e1c712120", "namespace": "ns", "annotations": {"example.com/why": "test"}},
        "eventTime": "2023-01-01T12:00:00.000500Z",
        "reportingController": "example.com/c1", "reportingInstance": "i1",
        "action": "Mounting", "reason": "FailedMount", "note": "no volume", "type": "Warning",
        "regarding": {"apiVersion": "v1", "kind": "Pod", "namespace": "ns", "name": "web", "uid": "C934D34AFB20242"},
        "related": {"uid": "u2"},
    }]);
    assert_eq!(written, expected);
    assert_eq!(serde_json::from_value::<Vec<Event>>(written).unwrap(), events);
}

#[test]
fn times_are_read_as_written_and_as_servers_leave_them_out() {
    let time = MicroTime::since_epoch(Duration::from_micros(1_672_574_400_000_001));
    assert_eq!(time.to_string(), "2023-01-01T12:00:00.000001Z");
    let read = |json: serde_json::Value| serde_json::from_value::<MicroTime>(json).unwrap();
    assert_eq!(read(json!("2023-01-01T12:00:00.000001Z")), time);
    assert_eq!(read(json!(null)), MicroTime::default());
    assert!(serde_json::from_value::<MicroTime>(json!("yesterday")).is_err());
    let far = MicroTime::since_epoch(Duration::MAX).to_string();
    assert!(far.starts_with("9999-12-3"), "{far}");
}

#[tokio::test(start_paused = true)]
async fn a_long_note_is_cut_between_characters() {
    // 1023 bytes would be whole, 1025 are not, and 1024 is within a character.
    let note = format!("x{}", "ü".repeat(600));
    let events = recorded(|recorder| {
        recorder.event(
            pod("web"),
            None,
            EventKind::Normal,
            "Long",
            "Testing",
            note.clone(),
        );
    })
    .await;
    assert_eq!(events[0].note.len(), NOTE_LIMIT - 1);
    assert!(note.starts_with(&events[0].note));
}

#[tokio::test(start_paused = true)]
async fn no_two_events_have_one_name() {
    let events = recorded(|recorder| {
        for index in 0..20 {
            recorder.event(
                pod("web"),
                None,
                EventKind::Normal,
                format!("R{index}"),
                "Testing",
                "",
            );
        }
    })
    .await;
    assert_eq!(events.len(), 20);
}

#[tokio::test(start_paused = true)]
async fn what_the_server_would_refuse_is_not_sent() {
    let sink = MemorySink::new();
    let broadcaster = broadcaster(&sink);
    let recorder = broadcaster.recorder("c1");
    let long = "x".repeat(129);
    for (name, reason, action) in [
        ("", "Reason", "Acting"),
        ("web", "", "Acting"),
        ("web", "Reason", ""),
        ("web", long.as_str(), "Acting"),
        ("web", "Reason", long.as_str()),
    ] {
        let fate = recorder.event(pod(name), None, EventKind::Normal, reason, action, "");
        assert_eq!(fate, Fate::Invalid, "{name} {reason} {action}");
    }
    let nobody = broadcaster.recorder("not a name");
    let fate = nobody.event(pod("web"), None, EventKind::Normal, "Reason", "Acting", "");
    assert_eq!(fate, Fate::Invalid);
    let report = broadcaster.run(async {}).await;
    assert_eq!((report.stats.invalid, report.stats.recorded()), (6, 6));
    assert_eq!(sink.events(), []);
}

#[tokio::test(start_paused = true)]
async fn an_instance_is_named_after_controller_and_machine() {
    let sink = MemorySink::new();
    let broadcaster = broadcaster(&sink);
    let plain = broadcaster.recorder("example.com/web-controller");
    plain.event(pod("a"), None, EventKind::Normal, "Reason", "Acting", "");
    let long = broadcaster.recorder_of("c1", &"ü".repeat(100));
    long.event(pod("b"), None, EventKind::Normal, "Reason", "Acting", "");
    broadcaster.run(async {}).await;
    let events = sink.events();
    assert_eq!(events[0].reporting_controller, "example.com/web-controller");
    let instance = &events[0].reporting_instance;
    assert!(
        instance.starts_with("web-controller-") && instance.len() > 15,
        "{instance}"
    );
    assert_eq!(events[1].reporting_instance.len(), 128);
}

#[derive(Clone, Default)]
struct Numbers(Arc<Mutex<BTreeMap<String, u64>>>);

impl Numbers {
    fn add(&self, name: String) {
        *self.0.lock().unwrap().entry(name).or_default() += 1;
    }
}

impl Metrics for Numbers {
    fn recorded(&self, fate: Fate) {
        self.add(format!("{fate:?}"));
    }

    fn written(&self, verb: Verb, result: Written, took: Duration) {
        self.add(format!("{verb:?} {result:?} {took:?}"));
    }

    fn waiting(&self, writes: usize) {
        self.0.lock().unwrap().insert("waiting".to_owned(), writes as u64);
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_counts_is_told_of_all() {
    let numbers = Numbers::default();
    let sink = ScriptedSink::new(Ok(())).first([UNAVAILABLE]).slow(Some(secs(1)));
    let mut options = Options::default();
    options.burst = 3;
    let broadcaster = Broadcaster::new(sink, options).with_metrics(Arc::new(numbers.clone()));
    let running = Running::of(broadcaster);
    running.record("web", "Failed");
    pass(secs(20)).await;
    for _ in 0..5 {
        running.record("web", "Failed");
    }
    running.record("web", "Other");
    running.record("web", "");
    assert_eq!(running.record("web", "Spam"), Fate::Spam);
    running.stop().await;
    let expected = [
        ("Counted", 4),
        ("Create Again 1s", 1),
        ("Create Done 1s", 2),
        ("Invalid", 1),
        ("Patch Done 1s", 1),
        ("Queued", 3),
        ("Spam", 1),
        ("waiting", 0),
    ];
    let expected: BTreeMap<_, _> = expected.map(|(name, count)| (name.to_owned(), count)).into();
    assert_eq!(*numbers.0.lock().unwrap(), expected);
}
