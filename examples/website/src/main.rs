//! `website [ADDRESS]`: runs a replica, with `/healthz`, `/readyz` and `/metrics` at the address. `LEASE_SECONDS` says how long others wait
//! for a leader that is silent.

use std::{env, error::Error, time::Duration};

use informer::{
    connector,
    leaderelection::{Options, unique_identity},
    prelude::*,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let config = Config::find(&Overrides::default())?.ok_or("no kubeconfig")?;
    let at = env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8081".to_owned());
    let mut replica = Options::new(env::var("POD_NAME").map_or_else(|_| unique_identity(), Into::into));
    if let Ok(seconds) = env::var("LEASE_SECONDS") {
        replica = replica.with_lease_duration(Duration::from_secs(seconds.parse()?));
    }
    replica.release_on_cancel = true;
    let transport = connector(&config).build()?;
    let manager = website::manager(transport, config.namespace(), at.parse()?, replica)?;
    Ok(manager.run().await.map(drop)?)
}
