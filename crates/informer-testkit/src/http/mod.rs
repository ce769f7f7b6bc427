//! The HTTP face of the model, without input or output: requests in, heads and chunks out.

mod accept;
mod ask;
mod exchange;
mod log;
mod poll;
mod route;
mod serve;

pub(crate) use exchange::Exchanges;
pub use log::{LoggedRequest, RequestLog};
pub use poll::{BodyPoll, ExchangeId, Failure, HeadPoll, Reply};
pub use route::Verb;
pub(crate) use route::parse_query;
