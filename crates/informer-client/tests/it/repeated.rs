//! Which requests say that their sender repeats them: those of sources, which reflectors repeat, and no others.

use std::{
    future::Future,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use http::{Request, Response};
use informer_client::{Client, Selectors};
use informer_core::{ListRequest, ListerWatcher as _, Resource, WatchRequest};
use informer_testkit::block_on;
use informer_transport::{BoxBody, RepeatedBySender, Transport};

/// Fails each request, and notes whether it is marked.
#[derive(Clone, Default)]
struct Marks(Arc<Mutex<Vec<bool>>>);

impl Transport for Marks {
    type Body = BoxBody;
    type Error = std::io::Error;

    fn send(
        &self,
        request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<BoxBody>, std::io::Error>> + Send {
        let is_marked = request.extensions().get::<RepeatedBySender>().is_some();
        self.0.lock().unwrap().push(is_marked);
        async { Err(std::io::Error::other("noted")) }
    }
}

#[test]
fn only_the_requests_of_a_source_are_repeated_by_their_sender() {
    let marks = Marks::default();
    let client = Client::new(marks.clone());
    let api = client.dynamic(Resource::namespaced("", "v1", "pods", "Pod"));
    let source = api.source(Selectors::all());
    block_on(async {
        assert!(source.list(ListRequest::default()).await.is_err());
        assert!(source.watch(WatchRequest::default()).await.is_err());
        assert!(api.list(&Selectors::all()).await.is_err());
        assert!(api.in_namespace("n").get("p").await.is_err());
    });
    assert_eq!(*marks.0.lock().unwrap(), [true, true, false, false]);
}
