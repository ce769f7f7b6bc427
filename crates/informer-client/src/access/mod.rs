//! Clients as traits: reads and writes as values, so that a cache and wrappers can stand between a program and the server.

mod ext;
mod form;
mod live;
mod read;
mod write;

pub use self::{
    ext::{ReadClientExt, WriteClientExt},
    form::{Form, codec_of},
    live::LiveClient,
    read::{List, ListOptions, ReadClient},
    write::{Write, WriteClient, WriteVerb, Written},
};
pub(crate) use self::{
    ext::{current, kind_of, to_value},
    form::metadata,
    write::from_value,
};
