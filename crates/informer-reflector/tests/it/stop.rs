//! Stop means stop: in each phase, by dropping the future and by closing the sink.

use informer_core::FailureClass;
use informer_reflector::Phase;

use crate::rig::{Answer, Rig, added, error, initial_end, item, whole};

/// A reflector in each phase, and the phase it says to be in.
fn phases() -> Vec<(&'static str, Phase, Rig)> {
    let mut rigs = Vec::new();
    let mut add = |name, phase, mut rig: Rig| {
        rig.start();
        assert_eq!(rig.status().get().phase, phase, "{name}");
        rigs.push((name, phase, rig));
    };

    let rig = Rig::new();
    rig.source.list(Answer::Hang);
    add("opening a list", Phase::Listing, rig);

    let rig = Rig::new();
    rig.source.list(Answer::Open(vec![item("a@1")]));
    add("reading a list", Phase::Listing, rig);

    let rig = Rig::new();
    rig.source.list(Answer::Fail(error(FailureClass::Forbidden)));
    add("backing off", Phase::BackingOff, rig);

    let rig = Rig::streaming();
    rig.source.watch(Answer::Hang);
    add("opening a stream", Phase::Streaming, rig);

    let rig = Rig::streaming();
    rig.source.watch(Answer::Open(vec![added("a@1")]));
    add("reading a stream", Phase::Streaming, rig);

    let rig = Rig::new();
    rig.source.list(whole("a@1", "1")).watch(Answer::Hang);
    add("opening a watch", Phase::Watching, rig);

    let rig = Rig::new();
    rig.source.list(whole("a@1", "1")).watch(Answer::Open(vec![]));
    add("watching", Phase::Watching, rig);

    let rig = Rig::streaming();
    rig.source
        .watch(Answer::Open(vec![added("a@1"), initial_end("1")]));
    add("watching the rest of a stream", Phase::Watching, rig);

    let rig = Rig::new();
    rig.sink.fill(true);
    rig.source
        .list(whole("a@1", "1"))
        .watch(Answer::Open(vec![added("b@2")]));
    add("waiting for the sink", Phase::Watching, rig);
    rigs
}

#[test]
fn dropping_the_future_stops_everything_at_once() {
    for (name, _, mut rig) in phases() {
        let (requests, taken) = (rig.source.requests(), rig.sink.taken());
        let status = rig.status();
        rig.stop();
        assert_eq!(rig.source.open(), 0, "{name}");
        assert_eq!(status.get().phase, Phase::Stopped, "{name}");
        rig.sink.fill(false);
        rig.pass(1.0);
        rig.advance(1000.0);
        assert_eq!(rig.source.requests(), requests, "{name}");
        assert_eq!(rig.sink.taken(), taken, "{name}");
    }
}

#[test]
fn closing_the_sink_ends_the_run_at_once() {
    for (name, _, mut rig) in phases() {
        let requests = rig.source.requests();
        rig.sink.close();
        rig.settle();
        assert!(!rig.is_running(), "{name}");
        assert_eq!(rig.source.open(), 0, "{name}");
        assert_eq!(rig.source.requests(), requests, "{name}");
        assert_eq!(rig.status().get().phase, Phase::Stopped, "{name}");
    }
}

#[test]
fn a_reflector_that_never_ran_is_stopped_too() {
    let reflector = informer_reflector::Reflector::new(
        Rig::new().source,
        informer_core::NamespaceName,
        Rig::new().sink,
        Rig::new().clock,
        informer_reflector::Options::default(),
    );
    let status = reflector.status();
    assert_eq!(status.get().phase, Phase::Starting);
    let run = reflector.run();
    drop(run);
    assert_eq!(status.get().phase, Phase::Stopped);
}
