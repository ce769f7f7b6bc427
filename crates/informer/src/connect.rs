//! From a configuration to a client.

use informer_client::Client;
use informer_hyper::{Builder, Error, HyperTransport};
use informer_kubeconfig::Config;

/// The transport to the server that a configuration names, with its credentials and certificates, for whoever wants other settings than
/// [`connect`].
#[must_use]
pub fn connector(config: &Config) -> Builder {
    HyperTransport::of(config)
}

/// A client of the server that a configuration names, with its credentials and certificates. Nothing is connected yet.
///
/// # Errors
/// When the server's URL or a certificate cannot be used.
pub fn connect(config: &Config) -> Result<Client<HyperTransport>, Error> {
    connector(config).build().map(Client::new)
}
