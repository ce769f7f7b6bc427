//! The real tier: everything here runs against a real kube-apiserver.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be unwrapped in a test has failed it"
)]

mod cache_wires;
mod cached_client;
mod cm_02;
mod cm_cases;
mod compaction;
mod crd;
mod differ;
mod election_cases;
mod election_client_go;
mod election_coordinated;
mod embedded_client_go;
mod events;
mod handlers;
mod history;
mod hostile;
mod kinds;
mod ledger;
mod lists;
mod loops;
mod overheard;
mod plane;
mod relay;
mod restart;
mod rotation;
mod selectors;
mod stop;
mod support;
mod tables;
mod website;
mod wires;
