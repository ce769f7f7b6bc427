//! Transport and codec traits, request building and sans-I/O decoders for Kubernetes list and watch bodies.

mod codec;
mod credentials;
mod transport;

pub use codec::Codec;
pub use credentials::{Authorize, ClientCertificate, CredentialError, Roots, TlsMaterial, TlsSource};
pub use transport::{BoxBody, BoxError, BoxTransport, Transport, TransportError};
