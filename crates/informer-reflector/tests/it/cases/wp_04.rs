//! WP-04: a normal close every few minutes.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use informer_core::{SourceError, WatchRequest};
use informer_reflector::{ListWatch, feed};

use crate::rig::{Answer, Rig, Step, added, modified, object, whole};

#[test]
fn wp_04_a_quiet_end_never_causes_a_list() {
    let mut rig = Rig::new();
    rig.source
        .list(whole("a@1", "5"))
        .watch(Answer::Open(vec![modified("a@6")]));
    let mut wanted = vec!["list -/500/".to_owned(), "watch 5".to_owned()];
    rig.start();
    for round in 0..20 {
        let version = 7 + round;
        rig.source
            .watch(Answer::Open(vec![added(&format!("b{round}@{version}"))]));
        rig.pass(2.0);
        rig.send([Step::End]);
        wanted.push(format!("watch {}", version - 1));
    }
    assert_eq!(rig.source.requests(), wanted);
    let taken = rig.sink.taken();
    assert_eq!(taken.len(), 22);
    for (round, taken) in taken.iter().skip(2).enumerate() {
        assert_eq!(*taken, format!("Added b{round}@{}", round + 7));
    }
    assert!(rig.errors().is_empty());
}

/// Each watch asks for bookmarks and for another end, spread over five minutes.
#[test]
fn wp_04_watches_ask_for_spread_timeouts_and_bookmarks() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let watches = asked.clone();
    let source = ListWatch::new(
        |_| async { Ok::<_, SourceError>(feed::list([object("a@1")], "5")) },
        move |request: WatchRequest| {
            let mut asked = watches.lock().unwrap();
            let next = (asked.len() < 40).then(|| object(&format!("a@{}", asked.len() + 6)));
            asked.push(request);
            async move {
                let mut event =
                    next.map(|it| informer_core::Watched::Upsert(informer_core::Cause::Modified, Ok(it)));
                let mut ended = false;
                Ok::<_, SourceError>(feed::from_poll_fn(move |_| match event.take() {
                    Some(event) => {
                        ended = true;
                        std::task::Poll::Ready(Some(Ok::<_, SourceError>(event)))
                    }
                    None if ended => std::task::Poll::Ready(None),
                    None => std::task::Poll::Pending,
                }))
            }
        },
    );
    let rig = Rig::new();
    let reflector = informer_reflector::Reflector::new(
        source,
        informer_core::NamespaceName,
        rig.sink.clone(),
        rig.clock.clone(),
        rig.options,
    );
    let mut run = std::pin::pin!(reflector.run());
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    for _ in 0..5 {
        assert!(run.as_mut().poll(&mut cx).is_pending());
    }
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 41);
    assert!(
        asked
            .iter()
            .all(|request| request.bookmarks && !request.initial_events)
    );
    let timeouts: Vec<Duration> = asked.iter().filter_map(|request| request.timeout).collect();
    let (shortest, longest) = (timeouts.iter().min().unwrap(), timeouts.iter().max().unwrap());
    assert!(longest.as_secs_f64() / shortest.as_secs_f64() >= 1.5);
}
