//! The tokio side: the run of an informer, and the tasks and threads that call handlers. No rules live here.

pub(crate) mod jobs;
pub(crate) mod mailbox;
pub(crate) mod run;
pub(crate) mod serve;
