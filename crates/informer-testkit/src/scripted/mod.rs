//! Scripted sources and transports: they answer what a test wrote down, and remember what they were asked.

mod body;
mod source;
mod transport;

pub use body::{BodyHandle, ScriptedBody};
pub use source::{ListScript, ScriptedFeed, ScriptedSource, SourceRequest};
pub use transport::{Answer, Expect, Recorded, ScriptedTransport};
