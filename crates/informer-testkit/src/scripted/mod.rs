//! Scripted sources and transports: they answer what a test wrote down, and remember what they were asked.

mod answer;
mod body;
mod expect;
mod source;
mod transport;

pub use answer::Answer;
pub(crate) use body::pair;
pub use body::{BodyHandle, ScriptedBody};
pub use expect::{Expect, Recorded};
pub use source::{ListScript, ScriptedFeed, ScriptedSource, SourceRequest};
pub use transport::ScriptedTransport;
