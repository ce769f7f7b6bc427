//! Talks the Kubernetes API without a connection: what to send, and how to read what comes back.
//!
//! # What it is
//! * [`Transport`], the seam where the network can be swapped, and [`Codec`], the seam where the wire format can.
//! * [`RequestBuilder`]: every verb on a kind as an [`http::Request`], with names that become one path segment or are refused.
//! * [`WatchDecoder`] and [`ListSplitter`]: sans-I/O decoders. Push chunks of any size, take events or items while they arrive.
//! * [`ApiError`]: what an answer that is a failure means to a reflector.
//! * [`JsonCodec`], [`DynamicCodec`], [`MetadataCodec`]: JSON to typed, dynamic and metadata-only objects, with the identity read from the bytes
//!   and the managed fields cut before decoding. [`PackedCodec`] keeps objects as their bytes.
//! * With the feature `protobuf`: `ProstCodec` and `Negotiated` for Kubernetes' own wire format, which both decoders read as well.
//! * With the feature `tower`: `TowerTransport`, any `tower::Service` as a transport, and `TransportService`, any transport as a service.
//! * [`Authorize`] and [`TlsSource`]: where configuration and connections meet.
//!
//! # What it is not
//! No connection, no TLS, no async runtime, no retry, no cache. `informer-hyper` is a transport, `informer-client` a client over any.
//!
//! # Example
//! ```
//! use bytes::Bytes;
//! use informer_core::Resource;
//! use informer_transport::{Asked, Codec, DynamicCodec, WatchDecoder, WatchFrame};
//!
//! let pods = Resource::namespaced("", "v1", "pods", "Pod");
//! let mut decoder = WatchDecoder::new(Asked::Watch).expect(&pods);
//! decoder.push(Bytes::from_static(br#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","#));
//! assert!(decoder.next_frame()?.is_none());
//! decoder.push(Bytes::from_static(b"\"metadata\":{\"namespace\":\"default\",\"name\":\"web\"}}}\n"));
//!
//! let Some(WatchFrame::Added(object)) = decoder.next_frame()? else { panic!("an object was added") };
//! let decoded = DynamicCodec::new(&pods).decode(object)?;
//! assert_eq!(decoded.identity.to_string(), "default/web");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Cancel safety
//! The decoders hold no future: whoever drives them may stop between any two calls. That of [`Transport::send`] is written there.
//!
//! # Features
//! * `protobuf`: Kubernetes protobuf, for kinds that are built in: lists, watches, single objects and failures.
//! * `tower`: both ways between transports and the services of tower, over `tower-service` alone.
//!
//! # Swap it
//! Implement [`Transport`] for another way to the server (a recording, a Unix socket, another client), and [`Codec`] for another wire format
//! or form of object. [`BoxTransport`] holds any transport behind one type.

mod api_error;
mod codec;
mod credentials;
mod endpoint;
mod json;
mod lines;
mod list;
mod objects;
#[cfg(feature = "protobuf")]
mod proto;
mod request;
mod status;
#[cfg(feature = "tower")]
mod tower;
mod transport;
mod watch;
mod wire;

pub use api_error::{ApiError, Asked};
pub use codec::{Codec, DynamicCodec, JsonCodec, MetadataCodec, PackedCodec};
#[cfg(feature = "protobuf")]
pub use codec::{Negotiated, ProstCodec};
pub use credentials::{Authorize, ClientCertificate, CredentialError, Issue, Roots, TlsMaterial, TlsSource};
pub use endpoint::Endpoint;
pub use list::{ListEnd, ListError, ListSplitter};
pub use objects::{DynamicObject, ObjectMeta, OwnerReference, PackedObject, PartialMetadata};
pub use request::{
    DeleteOptions, Patch, Preconditions, Propagation, Query, RepeatedBySender, RequestBuilder, RequestError,
    Selectors, WriteOptions,
};
pub use status::{Status, StatusCause, StatusDetails, StatusMeta};
#[cfg(feature = "tower")]
pub use tower::{TowerBody, TowerError, TowerTransport, TransportService};
pub use transport::{BoxBody, BoxError, BoxTransport, Transport, TransportError};
pub use watch::{DEFAULT_FRAME_LIMIT, FrameTooLarge, INITIAL_EVENTS_END, WatchDecoder, WatchFrame};
pub use wire::Wire;
