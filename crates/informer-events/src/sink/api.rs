//! `ApiSink`: events on an API server.

use std::fmt;

use informer_client::{Api, Client, Error, Patch, WriteOptions};
use informer_core::{Classify as _, FailureClass};
use informer_transport::{JsonCodec, Transport};
use serde::de::IgnoredAny;
use serde_json::json;

use super::{EventSink, Refusal, SinkError};
use crate::Event;

/// Writes events to an API server, as `events.k8s.io/v1`. The answers are not looked at.
pub struct ApiSink<T> {
    events: Api<T, IgnoredAny, JsonCodec<IgnoredAny>>,
}

impl<T: Transport> ApiSink<T> {
    /// Events by this client.
    #[must_use]
    pub fn new(client: &Client<T>) -> Self {
        Self {
            events: client.objects(Event::resource()),
        }
    }
}

impl<T> fmt::Debug for ApiSink<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiSink").finish_non_exhaustive()
    }
}

impl<T: Transport> EventSink for ApiSink<T> {
    async fn create(&self, event: &Event) -> Result<(), SinkError> {
        let events = self.events.clone().in_namespace(&event.metadata.namespace);
        let created = events.create(event, &WriteOptions::default()).await;
        created.map(|_| ()).map_err(SinkError::from)
    }

    async fn patch(&self, event: &Event) -> Result<(), SinkError> {
        let events = self.events.clone().in_namespace(&event.metadata.namespace);
        let patch = Patch::Merge(json!({ "series": event.series }));
        let patched = events
            .patch(&event.metadata.name, &patch, &WriteOptions::default())
            .await;
        patched.map(|_| ()).map_err(SinkError::from)
    }
}

/// client-go gives up on whatever the server says and tries again what does not reach it (`events.recordEvent`). Here a server that is
/// busy, fails or does not know us for now is asked again too.
impl From<Error> for SinkError {
    fn from(error: Error) -> Self {
        let retry_after = error.retry_after();
        let refusal = match error.code() {
            Some(404) => Refusal::Gone,
            _ if error.is_already_exists() => Refusal::Exists,
            Some(401 | 408 | 409 | 429 | 500..) => Refusal::Unavailable { retry_after },
            Some(_) => Refusal::Rejected,
            None if error.class() == FailureClass::Fatal => Refusal::Rejected,
            None => Refusal::Unavailable { retry_after },
        };
        Self::new(refusal, error)
    }
}
