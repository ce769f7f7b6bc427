//! `Endpoint`: a server and all that connections to it need, as one value between configuration and transport.

use std::{sync::Arc, time::Duration};

use crate::{Authorize, TlsSource};

/// A server that is configured: where it is, whom to trust, how to sign in. What reads configurations implements it, what connects takes it,
/// and neither knows the other.
pub trait Endpoint {
    /// The URL of the server, with its path prefix.
    fn server(&self) -> &str;

    /// What signs requests in.
    fn authorizer(&self) -> Arc<dyn Authorize>;

    /// What connections are checked and signed with.
    fn tls(&self) -> Arc<dyn TlsSource>;

    /// The proxy that everything goes through, as a URL, which may hold a password. `None` leaves it to the environment.
    fn proxy(&self) -> Option<&str> {
        None
    }

    /// Whether responses may be compressed.
    fn accepts_compression(&self) -> bool {
        true
    }

    /// How long the head of a response may be waited for, that of a watch excepted; `None` leaves it to the transport.
    fn request_timeout(&self) -> Option<Duration> {
        None
    }
}
