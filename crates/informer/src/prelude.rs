//! What a usual program names: `use informer::prelude::*;`.

pub use informer_core::{
    Change, Clock, Entry, EventHandler, KeyFunc, ListerWatcher, Meta, ObjectKey, Resource, ResourceVersion,
    Scope, Snapshot, Store, StoreExt, TokioClock,
};

#[cfg(all(feature = "client", feature = "sharedinformer"))]
pub use crate::ApiExt;
#[cfg(all(feature = "client", feature = "hyper", feature = "kubeconfig"))]
pub use crate::connect;
#[cfg(feature = "k8s-openapi")]
pub use informer_client::K8s;
#[cfg(feature = "client")]
pub use informer_client::{Client, Selectors};
#[cfg(feature = "controller")]
pub use informer_controller::{
    Action, Attempt, Controller, ForObject, ForOwner, PredicateExt, Reconciler, terminal,
};
#[cfg(feature = "events")]
pub use informer_events::{Broadcaster, EventKind, ObjectReference, Recorder};
#[cfg(feature = "hyper")]
pub use informer_hyper::HyperTransport;
#[cfg(feature = "kubeconfig")]
pub use informer_kubeconfig::{Config, Overrides};
#[cfg(feature = "leaderelection")]
pub use informer_leaderelection::{Elector, LeaseLock};
#[cfg(feature = "manager")]
pub use informer_manager::{Group, Manager, Runnable, Signals, runnable};
#[cfg(feature = "sharedinformer")]
pub use informer_sharedinformer::{
    Factory, HandlerOptions, LabelSelector, Lister, QueueKind, Registration, Resync, Selection,
    SharedInformer,
};
