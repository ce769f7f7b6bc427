//! Both ways between transports and the services of tower.

mod service;
mod transport;

pub use service::{TowerBody, TransportService};
pub use transport::{TowerError, TowerTransport};
