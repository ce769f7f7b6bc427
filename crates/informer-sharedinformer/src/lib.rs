//! Shared informers: one list and watch per kind, an indexed store, many handlers.

pub mod backlog;

mod builder;
mod driver;
mod error;
mod factory;
mod handler;
mod informer;
mod listed;
mod listener;
mod lister;
mod options;
mod queue;
mod registration;
mod resync;
mod retry;
mod selector;
mod shared;
mod source;
mod status;
mod subscription;

pub use backlog::BacklogPolicy;
pub use builder::Builder;
pub use error::{BuildError, NotSynced, RunError, Stopped, Trouble};
pub use factory::{Factory, Held, NotAllSynced, Selection, SharedTransform, Sources};
pub use handler::AsyncHandler;
pub use informer::{Ended, Running, SharedInformer};
pub use informer_reflector::{Options as ReflectorOptions, Transform, TransformError};
pub use listed::Listed;
pub use lister::Lister;
pub use options::{HandlerOptions, Resync};
pub use queue::QueueKind;
pub use registration::Registration;
pub use selector::{LabelSelector, SelectorError};
pub use source::{Connected, Sink, Source, SourceContext};
pub use status::{HandlerStatus, Phase, SourceStatus, Status};
pub use subscription::Subscription;
