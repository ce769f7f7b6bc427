//! Which server is watched: the one that is configured, or the embedded one.

use informer::client::Client;
use informer::hyper::HyperTransport;
use informer::kubeconfig::{Config, Overrides};
use informer::transport::BoxTransport;
use informer_apiserver::Server;

use crate::{
    args::Watch,
    failure::{Failure, chain},
    say,
};

/// Where the sample workload begins: any number gives a world of its own, this one always the same.
const SAMPLE_SEED: u64 = 1;

/// A server and how to reach it.
pub(crate) struct Target {
    pub(crate) client: Client<BoxTransport>,
    /// The namespace that counts without `-n` and `-A`.
    pub(crate) namespace: String,
    /// What a sentence about it begins with.
    pub(crate) place: String,
    embedded: Option<Server>,
}

impl Target {
    /// Finds the server that the command line and the environment name. Where nothing is configured anywhere, it says so and starts the
    /// embedded server; a configuration that is there is used or is a failure.
    pub(crate) async fn find(args: &Watch) -> Result<Self, Failure> {
        if args.embedded {
            return Self::embedded().await;
        }
        let mut overrides = Overrides::default();
        overrides.kubeconfig.clone_from(&args.kubeconfig);
        overrides.context.clone_from(&args.context);
        match Config::find(&overrides).map_err(|error| Failure::new(chain(&error)))? {
            Some(config) => Self::configured(&config),
            None => {
                say("no kubeconfig was found and this is no pod: \
                     here is a sample workload in the embedded API server");
                Self::embedded().await
            }
        }
    }

    fn configured(config: &Config) -> Result<Self, Failure> {
        let transport = informer::connector(config)
            .user_agent(concat!("informer/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| Failure::at(config.origin(), &error))?;
        Ok(Self {
            client: Client::new(BoxTransport::new(transport)),
            namespace: config.namespace().to_owned(),
            place: config.server().to_owned(),
            embedded: None,
        })
    }

    async fn embedded() -> Result<Self, Failure> {
        let server = Server::start(informer_apiserver::Options::default().workload(SAMPLE_SEED))
            .await
            .map_err(|error| Failure::at("embedded API server", &error))?;
        let transport = HyperTransport::builder(server.url())
            .build()
            .map_err(|error| Failure::at("embedded API server", &error))?;
        Ok(Self {
            client: Client::new(BoxTransport::new(transport)),
            namespace: "default".to_owned(),
            place: server.url(),
            embedded: Some(server),
        })
    }

    /// Stops the embedded server, where there is one.
    pub(crate) async fn close(self) {
        if let Some(server) = self.embedded {
            server.shutdown().await;
        }
    }
}
