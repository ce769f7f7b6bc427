//! The lines that matter in the log.

use std::{
    fmt::Write,
    sync::{Arc, Mutex},
};

use informer_core::FailureClass;
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

use crate::rig::{Answer, Rig, added, bad_item, end, error, expired, whole};

/// Collects lines of a level and louder.
#[derive(Clone)]
struct Lines(Level, Arc<Mutex<Vec<String>>>);

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.0
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut text = Text(format!("span {}", span.metadata().name()));
        span.record(&mut text);
        self.1.lock().unwrap().push(text.0);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text(event.metadata().level().to_string());
        event.record(&mut text);
        self.1.lock().unwrap().push(text.0);
    }

    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn lines_of(level: Level, run: impl FnOnce()) -> Vec<String> {
    let lines = Lines(level, Arc::default());
    tracing::subscriber::with_default(lines.clone(), run);
    let lines = lines.1.lock().unwrap();
    lines.clone()
}

fn lines(run: impl FnOnce()) -> Vec<String> {
    lines_of(Level::INFO, run)
}

/// Asserts that each message came, in this order, with name, kind and period of the reflector.
#[track_caller]
fn assert_told(told: &[String], wanted: &[&str]) {
    let mut lines = told.iter();
    for message in wanted {
        let text = format!("message={message}");
        let line = lines
            .find(|line| line.contains(&text))
            .unwrap_or_else(|| panic!("no {message:?} in its place in {told:#?}"));
        assert!(line.contains(" name=foos kind=Foo period="), "{line}");
    }
}

#[test]
fn the_life_of_a_reflector_is_told() {
    let told = lines_of(Level::DEBUG, || {
        let mut rig = Rig::new();
        rig.options.resync_period = Some(std::time::Duration::from_secs(30));
        rig.source
            .list(whole("a@1", "1"))
            .watch(Answer::Open(vec![]))
            .list(whole("a@1", "5"));
        rig.start();
        rig.pass(31.0);
        rig.send([expired()]);
        rig.pass(1.0);
        rig.stop();
    });
    assert_told(
        &told,
        &[
            "Starting reflector",
            "Listing and watching",
            "Listing",
            "Caches populated",
            "Watching",
            "Forcing resync",
            "Watch expired",
            "Listing and watching",
            "Caches populated anew",
            "Stopping reflector",
        ],
    );
    let all = |line: &String| line.starts_with("span") || line.contains(" period=30s");
    assert!(told.iter().all(all), "{told:#?}");
}

#[test]
fn a_closed_sink_is_a_stop_too() {
    let told = lines_of(Level::DEBUG, || {
        let mut rig = Rig::new();
        rig.source.list(whole("a@1", "1"));
        rig.start();
        rig.sink.close();
        rig.settle();
    });
    assert_told(&told, &["Starting reflector", "Stopping reflector"]);
    // One that never ran has nothing to tell.
    let told = lines_of(Level::DEBUG, || {
        let rig = Rig::new();
        let (sink, clock) = (rig.sink, rig.clock);
        drop(informer_reflector::Reflector::new(
            rig.source,
            informer_core::NamespaceName,
            sink,
            clock,
            rig.options,
        ));
    });
    assert!(told.is_empty(), "{told:?}");
}

#[test]
fn a_fallback_is_told_with_its_reason() {
    for (class, loud) in [(FailureClass::Unsupported, true), (FailureClass::Internal, false)] {
        let told = lines_of(if loud { Level::INFO } else { Level::DEBUG }, || {
            let mut rig = Rig::streaming();
            rig.source
                .watch(Answer::Fail(error(class)))
                .list(whole("a@1", "1"));
            rig.start();
        });
        let message = if loud {
            "Streaming list not served, falling back to LIST"
        } else {
            "Streaming list failed, falling back to LIST"
        };
        assert_told(&told, &[message]);
        let reason = format!("why=\"the server said: {class}\"");
        assert!(told.iter().any(|line| line.contains(&reason)), "{told:#?}");
    }
}

/// client-go `Reflector.list`, whose trace is printed when it took more than ten seconds.
#[test]
fn a_slow_list_tells_its_steps() {
    let told = lines(|| {
        let mut rig = Rig::new();
        rig.source.list(Answer::Hang);
        let clock = rig.clock.clone();
        let source = slow_source(clock.clone());
        rig.sink
            .on_replace(move || clock.advance(std::time::Duration::from_secs(5)));
        rig.start_from(source);
        rig.pass(20.0);
    });
    let slow = told.iter().find(|line| line.contains("Slow list")).unwrap();
    assert_told(std::slice::from_ref(slow), &["Slow list"]);
    for step in [
        "how=\"list\"",
        "pages=2",
        "listed=2s",
        "version_read=4s",
        "objects_read=8s",
        "synced=13s",
        "version_set=13s",
        "took=13s",
    ] {
        assert!(slow.contains(&format!(" {step}")), "{step} in {slow}");
    }
}

/// Two pages; two seconds to open and to read each.
fn slow_source(clock: crate::rig::ManualClock) -> informer_reflector::ListWatch<crate::rig::Object> {
    use informer_core::{Clock, Listed, SourceError, Watched};
    use informer_reflector::{ListWatch, feed};
    use std::{task::Poll, time::Duration};

    ListWatch::new(
        move |request: informer_core::ListRequest| {
            let clock = clock.clone();
            async move {
                clock.sleep_until(clock.now() + Duration::from_secs(2)).await;
                let end = Listed::End {
                    at: "7".into(),
                    token: request.token.is_none().then(|| "more".into()),
                };
                let mut events = vec![Listed::Item(Ok(crate::rig::object("a@1"))), end].into_iter();
                let at = clock.now() + Duration::from_secs(2);
                let mut sleep: informer_core::BoxFuture<'static, ()> =
                    Box::pin(async move { clock.sleep_until(at).await });
                let mut slept = false;
                Ok::<_, SourceError>(feed::from_poll_fn(move |cx| {
                    if !slept && sleep.as_mut().poll(cx).is_pending() {
                        return Poll::Pending;
                    }
                    slept = true;
                    Poll::Ready(events.next().map(Ok::<_, SourceError>))
                }))
            }
        },
        |_| async {
            Ok::<_, SourceError>(feed::from_poll_fn(|_| {
                Poll::<Option<Result<Watched<_>, SourceError>>>::Pending
            }))
        },
    )
}

#[test]
fn a_slow_list_that_failed_tells_how_far_it_came() {
    let told = lines(|| {
        let mut rig = Rig::new();
        rig.source.list(Answer::Open(vec![crate::rig::item("a@1")]));
        rig.start();
        rig.pass(121.0);
    });
    let slow = told.iter().find(|line| line.contains("Slow list")).unwrap();
    assert!(
        slow.contains(" listed=0ns") && slow.contains("took=120"),
        "{slow}"
    );
    assert!(!slow.contains("version_read"), "{slow}");
}

#[test]
fn a_quick_list_tells_nothing_of_it() {
    let told = lines_of(Level::DEBUG, || {
        let mut rig = Rig::new();
        rig.source.list(whole("a@1", "1"));
        rig.start();
        rig.pass(20.0);
    });
    assert!(!told.iter().any(|line| line.contains("Slow list")), "{told:#?}");
}

#[test]
fn the_first_sync_is_told() {
    let told = lines(|| {
        let mut rig = Rig::new();
        rig.source
            .list(whole("a@1 b@2", "2"))
            .watch(Answer::Open(vec![added("c@3")]));
        rig.start();
    });
    assert_eq!(told[0], "span reflector name=foos");
    assert_eq!(
        told[1],
        "INFO message=Caches populated name=foos kind=Foo period=0ns objects=2 version=2"
    );
    assert_eq!(told.len(), 2, "{told:?}");
}

#[test]
fn what_needs_a_person_is_a_warning() {
    let told = lines(|| {
        let mut rig = Rig::new();
        rig.source.list(Answer::Fail(error(FailureClass::Forbidden)));
        rig.start();
    });
    assert!(
        told[1].starts_with("WARN") && told[1].contains("foos: list failed: the server said: forbidden"),
        "{told:?}"
    );
}

#[test]
fn only_repeated_failures_of_the_wire_are_warnings() {
    let told = lines(|| {
        let mut rig = Rig::new();
        for _ in 0..3 {
            rig.source.list(Answer::Fail(error(FailureClass::Refused)));
        }
        rig.start();
        rig.pass(3.0);
    });
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].contains("failures=3"), "{told:?}");
}

/// One object that nobody can read must not fill the disk.
#[test]
fn repeated_undecodable_objects_become_rare_in_the_log() {
    let told = lines(|| {
        let mut rig = Rig::new();
        let items = (0..100).map(|n| bad_item(&format!("x@{n}")));
        rig.source.list(Answer::Open(items.chain([end("9")]).collect()));
        rig.start();
        assert_eq!(rig.errors().len(), 100);
    });
    let warnings = told.iter().filter(|line| line.starts_with("WARN")).count();
    assert_eq!(warnings, 7, "{told:?}");
}

/// WP-13: the warning names the resource, by its span, within ten seconds.
#[test]
fn a_silent_stream_is_a_warning() {
    let told = lines(|| {
        let mut rig = Rig::streaming();
        rig.source.watch(Answer::Open(vec![added("a@1")]));
        rig.start();
        rig.pass(10.1);
    });
    assert!(
        told[1].starts_with("WARN") && told[1].contains("brings nothing"),
        "{told:?}"
    );
}
