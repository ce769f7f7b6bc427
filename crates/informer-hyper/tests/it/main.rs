//! Tests of the public interface, against servers on loopback.

mod cases;
mod credentials;
mod errors;
mod gzip;
mod http1;
mod http2;
mod lifetime;
mod support;
mod tls;
