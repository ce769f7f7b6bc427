//! From a configuration to a client.

use informer_client::Client;
use informer_hyper::{Error, HyperTransport};
use informer_kubeconfig::Config;

/// A client of the server that a configuration names, with its credentials and certificates. Nothing is connected yet.
///
/// For other settings of the connection build the transport by hand:
/// `Client::new(HyperTransport::builder(config.server()).authorize(config.authorizer()).tls(config.tls()).build()?)`.
///
/// # Errors
/// When the server's URL or a certificate cannot be used.
pub fn connect(config: &Config) -> Result<Client<HyperTransport>, Error> {
    let transport = HyperTransport::builder(config.server())
        .authorize(config.authorizer())
        .tls(config.tls())
        .accept_gzip(config.accepts_compression())
        .build()?;
    Ok(Client::new(transport))
}
