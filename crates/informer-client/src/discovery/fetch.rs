//! Asks a server for its kinds.

use informer_transport::Transport;

use super::{
    Discovery,
    wire::{Group, ResourceList, Root},
};
use crate::{Client, Error};

/// Everything at once where the server can, as since 1.27; else the old form.
const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

pub(super) async fn fetch<T: Transport>(client: &Client<T>) -> Result<Discovery, Error> {
    let mut discovery = Discovery::default();
    for path in ["/api", "/apis"] {
        match client.get_json::<Root>(path, AGGREGATED).await {
            Ok(Root::Aggregated { items }) => items.into_iter().for_each(|group| discovery.add(group)),
            Ok(Root::Versions { versions }) => {
                for version in versions {
                    discovery.add_version(client, "", &version).await;
                }
            }
            Ok(Root::Groups { groups }) => {
                for group in groups {
                    for version in group.versions() {
                        discovery.add_version(client, &group.name, version).await;
                    }
                }
            }
            // A server may have only one of the two.
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(discovery)
}

impl Discovery {
    fn add(&mut self, group: Group) {
        let name = group.metadata.name;
        for version in group.versions {
            if version.freshness.as_deref() == Some("Stale") {
                let why = "its server does not answer";
                self.failures.push((name.clone(), why.into()));
            }
            let kinds = version
                .resources
                .into_iter()
                .filter_map(|resource| resource.into_kind(&name, &version.version));
            self.kinds.extend(kinds);
        }
    }

    async fn add_version<T: Transport>(&mut self, client: &Client<T>, group: &str, version: &str) {
        let path = if group.is_empty() {
            format!("/api/{version}")
        } else {
            format!("/apis/{group}/{version}")
        };
        match client.get_json::<ResourceList>(&path, "application/json").await {
            Ok(list) => {
                let kinds = list.resources.into_iter();
                self.kinds
                    .extend(kinds.filter_map(|resource| resource.into_kind(group, version)));
            }
            Err(error) => self.failures.push((group.to_owned(), error.to_string().into())),
        }
    }
}
