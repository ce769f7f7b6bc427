//! A source of two closures, and the feeds that come with it.

use std::{
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use informer_core::{Cause, Feed, ListRequest, ListerWatcher, SourceError, WatchRequest, Watched};
use informer_reflector::{ListWatch, feed};

use crate::rig::{error, object};

fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing here has to wait"),
    }
}

#[test]
fn closures_are_a_source() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (lists, watches) = (asked.clone(), asked.clone());
    let source = ListWatch::new(
        move |request: ListRequest| {
            lists.lock().unwrap().push(format!("{:?}", request.limit));
            async { Ok::<_, SourceError>(feed::list([object("a@1")], "1")) }
        },
        move |request: WatchRequest| {
            watches.lock().unwrap().push(format!("{:?}", request.version));
            async {
                Ok::<_, SourceError>(feed::from_iter([Watched::Upsert(
                    Cause::Added,
                    Ok(object("b@2")),
                )]))
            }
        },
    );
    let mut request = ListRequest::default();
    request.limit = Some(3);
    let mut list = ready(source.list(request)).unwrap();
    let mut events = Vec::new();
    while let Some(event) = ready(list.next()) {
        events.push(format!("{:?}", event.unwrap()));
    }
    assert_eq!(events.len(), 2);
    assert!(events[1].starts_with("End"), "{events:?}");
    let mut watch = ready(source.watch(WatchRequest::default())).unwrap();
    assert!(matches!(
        ready(watch.next()),
        Some(Ok(Watched::Upsert(Cause::Added, Ok(_))))
    ));
    assert!(ready(watch.next()).is_none());
    assert_eq!(*asked.lock().unwrap(), ["Some(3)", "None"]);
}

/// client-go `ListWatch.DisableChunking`.
#[test]
fn a_source_that_does_not_page_is_asked_for_whole_lists() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let lists = asked.clone();
    let source = ListWatch::new(
        move |request: ListRequest| {
            lists.lock().unwrap().push((request.limit, request.token));
            async { Ok::<_, SourceError>(feed::list([object("a@1")], "1")) }
        },
        |_: WatchRequest| async { Ok::<_, SourceError>(feed::from_iter([])) },
    )
    .paging(false);
    let mut request = ListRequest::default();
    request.limit = Some(3);
    request.token = Some("next".into());
    drop(ready(source.list(request)).unwrap());
    assert_eq!(*asked.lock().unwrap(), [(None, Some("next".into()))]);
}

#[test]
fn errors_keep_their_class() {
    use informer_core::{Classify, FailureClass, Listed};

    let source: ListWatch<String> = ListWatch::new(
        |_| async {
            Err::<feed::IterFeed<std::vec::IntoIter<Listed<String>>>, _>(error(FailureClass::Forbidden))
        },
        |_| async {
            Ok::<_, SourceError>(feed::from_poll_fn(|_| {
                Poll::Ready(Some(Err::<Watched<String>, _>(error(FailureClass::Expired))))
            }))
        },
    );
    let refused = ready(source.list(ListRequest::default())).unwrap_err();
    assert_eq!(refused.class(), FailureClass::Forbidden);
    assert_eq!(refused.to_string(), "the server said: forbidden");
    let mut watch = ready(source.watch(WatchRequest::default())).unwrap();
    let expired = ready(watch.next()).unwrap().unwrap_err();
    assert_eq!(expired.class(), FailureClass::Expired);
}
