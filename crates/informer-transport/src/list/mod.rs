//! `ListSplitter`: the body of a LIST, item by item.

mod end;
mod error;
mod json;
#[cfg(feature = "protobuf")]
mod proto;

use bytes::Bytes;

use crate::{DEFAULT_FRAME_LIMIT, Wire};
use json::JsonList;
#[cfg(feature = "protobuf")]
use proto::ProtoList;

pub use end::ListEnd;
pub use error::ListError;

/// Splits the body of a LIST without input or output: push chunks of any size, take the bytes of items while they arrive.
///
/// Each byte is looked at once. Metadata may come before or after the items, which may be `null` or absent; an item that came in one chunk
/// is not copied. What is inside an item is not looked at: one that cannot be decoded is the codec's to report.
#[derive(Debug)]
pub struct ListSplitter(List);

#[derive(Debug)]
enum List {
    Json(JsonList),
    #[cfg(feature = "protobuf")]
    Proto(ProtoList),
}

/// One method of all wires.
macro_rules! each {
    ($self:expr, $list:ident => $call:expr) => {
        match &$self.0 {
            List::Json($list) => $call,
            #[cfg(feature = "protobuf")]
            List::Proto($list) => $call,
        }
    };
    (mut $self:expr, $list:ident => $call:expr) => {
        match &mut $self.0 {
            List::Json($list) => $call,
            #[cfg(feature = "protobuf")]
            List::Proto($list) => $call,
        }
    };
}

impl Default for ListSplitter {
    fn default() -> Self {
        Self::new()
    }
}

impl ListSplitter {
    /// A splitter at the beginning of a body in JSON.
    #[must_use]
    pub fn new() -> Self {
        Self::of(Wire::Json)
    }

    /// A splitter at the beginning of a body in this format.
    #[must_use]
    pub fn of(wire: Wire) -> Self {
        Self(match wire {
            Wire::Json => List::Json(JsonList::new(DEFAULT_FRAME_LIMIT)),
            #[cfg(feature = "protobuf")]
            Wire::Protobuf => List::Proto(ProtoList::new(DEFAULT_FRAME_LIMIT)),
        })
    }

    /// The same, with another limit on the bytes of an item.
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        each!(mut self, list => list.limit = limit);
        self
    }

    /// The same, which takes a table too: its rows are then the items, and [`is_table`](Self::is_table) tells that they are. A server that
    /// knows no tables answers with a plain list, which is taken as ever. There are no tables in protobuf.
    #[must_use]
    pub fn tables(mut self) -> Self {
        match &mut self.0 {
            List::Json(list) => list.tables = true,
            #[cfg(feature = "protobuf")]
            List::Proto(_) => {}
        }
        self
    }

    /// Whether the items are rows of a table. Known with the first of them.
    #[must_use]
    pub fn is_table(&self) -> bool {
        match &self.0 {
            List::Json(list) => list.saw_rows,
            #[cfg(feature = "protobuf")]
            List::Proto(_) => false,
        }
    }

    /// What the table says of its columns, as JSON, if it did since this was asked last. Servers say it before the first row.
    pub fn take_columns(&mut self) -> Option<Bytes> {
        match &mut self.0 {
            List::Json(list) => list.columns.take(),
            #[cfg(feature = "protobuf")]
            List::Proto(_) => None,
        }
    }

    /// Takes the next chunk of the body.
    pub fn push(&mut self, chunk: Bytes) {
        each!(mut self, list => list.push(chunk));
    }

    /// The bytes of the next item; `None` asks for another chunk.
    ///
    /// # Errors
    /// When the body is no list. It is not asked again after that.
    pub fn next_item(&mut self) -> Result<Option<Bytes>, ListError> {
        each!(mut self, list => list.next_item())
    }

    /// The body ended: what the list said besides its items.
    ///
    /// # Errors
    /// When it ended too early, or was no list.
    pub fn finish(&mut self) -> Result<ListEnd, ListError> {
        each!(mut self, list => list.finish())
    }

    /// How many bytes of the body were taken in so far.
    #[must_use]
    pub fn position(&self) -> u64 {
        each!(self, list => list.position())
    }
}

/// What calls itself so is no list. Upstream: client-go `Reflector.list` refuses tables, which would otherwise pass as a list of nothing.
fn is_no_list(kind: &str) -> bool {
    matches!(kind, TABLE | "Status")
}

const TABLE: &str = "Table";
