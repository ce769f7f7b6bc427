//! Tests of the public interface, against servers on loopback.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod addresses;
mod cases;
mod credentials;
mod errors;
mod gzip;
mod http1;
mod http2;
mod keepalive;
mod lifetime;
mod limits;
mod observed;
mod proxy;
mod redirects;
mod retries;
mod support;
mod tls;
mod variables;
