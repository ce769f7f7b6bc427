//! Kubernetes client configuration: kubeconfig files and in-cluster.
//!
//! # What it is
//! [`Config`] answers the three questions of a client: where the server is, whom to trust and how to sign in. It is found as kubectl finds
//! it: an explicit file, the files of `KUBECONFIG`, `~/.kube/config`, the service account of a pod, in this order. Credentials and
//! certificates that are files are read again when they change, behind [`Authorize`](informer_transport::Authorize) and
//! [`TlsSource`](informer_transport::TlsSource), which is all that a transport needs to know of them.
//!
//! # What it is not
//! It opens no connection and speaks no HTTP. It writes no file. Auth providers, which upstream has given up for exec plug-ins, are refused by
//! name, never skipped: a client that was configured to sign in does not turn anonymous silently.
//!
//! # The contract
//! 1. Of several files the first that defines a name defines it whole; the first `current-context` counts; missing files of `KUBECONFIG` are
//!    skipped, a missing explicit file is an error. Relative paths are relative to the folder of the file that states them.
//! 2. [`Config::find`] says `None` only where no configuration exists at all. One that is found and does not work is an error, and the
//!    error names file, entry and field.
//! 3. A token file is read at least once a minute while requests are made, and at once after a 401. A bad read keeps the last good value, and
//!    so does one that takes longer than a second, which holds up nothing but the request that began it.
//! 4. An exec plug-in runs when a request needs credentials and none are good, once for all who wait; it holds up nothing else, and ends
//!    after a minute unless it talks with a person, together with the processes that it began. It may print 1 MiB. What it gave is kept until
//!    it expires or the server refuses it. [`ExecPolicy`] says which programs may run.
//! 5. No `Debug` or `Display` here prints a token, password or key. [`Config::describe`] and [`Kubeconfig::describe`] show everything else.
//!
//! # Example
//! ```
//! use std::sync::Arc;
//! use informer_kubeconfig::{Config, MemoryEnvironment, Overrides};
//!
//! let environment = MemoryEnvironment::new()
//!     .var("HOME", "/home/ada")
//!     .file(
//!         "/home/ada/.kube/config",
//!         "{clusters: [{name: c, cluster: {server: 'https://10.0.0.1:6443/k8s'}}],
//!           users: [{name: u, user: {token: t0ken}}],
//!           contexts: [{name: dev, context: {cluster: c, user: u, namespace: shop}}],
//!           current-context: dev}",
//!     );
//! // `Config::find` does the same with the environment of the process.
//! let config = Config::find_in(Arc::new(environment), &Overrides::default())?.expect("there is a file");
//! assert_eq!(config.server(), "https://10.0.0.1:6443/k8s");
//! assert_eq!(config.namespace(), "shop");
//! assert!(!format!("{config:?}").contains("t0ken"));
//! # Ok::<(), informer_kubeconfig::Error>(())
//! ```
//!
//! # Swap it
//! A transport takes any `Authorize` and `TlsSource`, or an [`Endpoint`](informer_transport::Endpoint), as [`Config`] is one; nothing above this crate knows a kubeconfig. [`Environment`] swaps variables, files and
//! the time, for tests and for configuration that does not live on a disk.

mod config;
mod credentials;
mod description;
mod document;
mod entries;
mod environment;
mod error;
mod exec;
mod field;
mod in_cluster;
mod kubeconfig;
mod load;
mod overrides;
mod pair;
mod process;
mod reread;
mod resolve;
mod server;
mod text;
mod tls;

pub use config::Config;
pub use description::{
    ClusterDescription, ContextDescription, Description, KeyPair, KubeconfigDescription, Place, SignIn,
    Trusted, UserDescription,
};
pub use environment::{Environment, MemoryEnvironment, PluginCommand, PluginOutput, ProcessEnvironment};
pub use error::Error;
pub use exec::{ExecPolicy, PluginCall, PluginMetrics};
pub use kubeconfig::Kubeconfig;
pub use overrides::Overrides;
