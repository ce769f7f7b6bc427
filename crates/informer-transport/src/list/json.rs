//! The body of a LIST in JSON, item by item.

use std::{collections::VecDeque, mem};

use bytes::{Bytes, BytesMut};

use super::{ListEnd, ListError, TABLE, end::Metadata, is_no_list};
use crate::{
    json::{ValueScan, is_space, text},
    watch::excerpt,
};

#[derive(Debug)]
pub(super) struct JsonList {
    input: VecDeque<Bytes>,
    state: State,
    value: ValueScan,
    /// What came of the value that is being read.
    partial: BytesMut,
    pub(super) limit: usize,
    /// A table is a list too, whose items are its rows.
    pub(super) tables: bool,
    at: u64,
    kind: Option<String>,
    /// What a table says of its columns, until it is taken.
    pub(super) columns: Option<Bytes>,
    /// The items are rows.
    pub(super) saw_rows: bool,
    saw_items: bool,
    /// `items` was null.
    saw_no_items: bool,
    metadata: Metadata,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Items,
    Rows,
    Columns,
    Metadata,
    Kind,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    Key,
    Value(Field),
    Item,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Key { may_close: bool },
    Colon(Field),
    Value(Field),
    AfterValue,
    Item { may_close: bool },
    AfterItem,
    Reading(Reading),
    Done,
}

impl JsonList {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            input: VecDeque::new(),
            state: State::Open,
            value: ValueScan::default(),
            partial: BytesMut::new(),
            limit,
            tables: false,
            at: 0,
            kind: None,
            columns: None,
            saw_rows: false,
            saw_items: false,
            saw_no_items: false,
            metadata: Metadata::default(),
        }
    }

    pub(super) fn push(&mut self, chunk: Bytes) {
        if !chunk.is_empty() {
            self.input.push_back(chunk);
        }
    }

    pub(super) fn next_item(&mut self) -> Result<Option<Bytes>, ListError> {
        while !self.input.is_empty() {
            let item = match self.state {
                State::Reading(reading) => self.read(reading)?,
                state => self.step(state)?,
            };
            if item.is_some() {
                return Ok(item);
            }
        }
        Ok(None)
    }

    pub(super) fn finish(&mut self) -> Result<ListEnd, ListError> {
        if self.state != State::Done || !self.input.is_empty() {
            return Err(ListError::Cut { at: self.at });
        }
        // Something that neither names items nor calls itself a list is none: an error event taken for the last page of a list would end
        // that list early, and what it left out would count as deleted.
        let is_list = match self.kind.as_deref() {
            Some(TABLE) => self.tables && self.saw_rows,
            Some(kind) => self.saw_items || kind.ends_with("List"),
            None => self.saw_items || self.saw_no_items,
        };
        if !is_list {
            return Err(ListError::NotAList {
                kind: self.kind.take().unwrap_or_else(|| "thing of no kind".to_owned()),
            });
        }
        Ok(mem::take(&mut self.metadata).into())
    }

    pub(super) fn position(&self) -> u64 {
        self.at
    }

    /// One step between values. Does not return an item; its type is that of `read`.
    fn step(&mut self, state: State) -> Result<Option<Bytes>, ListError> {
        let Some(byte) = self.peek() else { return Ok(None) };
        let next = match (state, byte) {
            (State::Open, b'{') => State::Key { may_close: true },
            (State::Key { may_close: true } | State::AfterValue, b'}') => State::Done,
            (State::Colon(field), b':') => State::Value(field),
            (State::Value(field @ (Field::Items | Field::Rows)), b'[') => {
                self.saw_items = true;
                self.saw_rows |= field == Field::Rows;
                State::Item { may_close: true }
            }
            (State::AfterValue, b',') => State::Key { may_close: false },
            (State::Item { may_close: true } | State::AfterItem, b']') => State::AfterValue,
            (State::AfterItem, b',') => State::Item { may_close: false },
            // What begins a value is not taken here: `read` begins with it.
            (State::Key { .. }, b'"') => return Ok(self.begin(Reading::Key)),
            (State::Value(field @ (Field::Items | Field::Rows)), b'n') => {
                return Ok(self.begin(Reading::Value(field)));
            }
            (State::Value(field), _)
                if !matches!(field, Field::Items | Field::Rows) && begins_value(byte) =>
            {
                return Ok(self.begin(Reading::Value(field)));
            }
            (State::Item { .. }, _) if begins_value(byte) => return Ok(self.begin(Reading::Item)),
            _ => return Err(self.malformed(&[byte])),
        };
        self.split(1);
        self.state = next;
        Ok(None)
    }

    fn begin(&mut self, reading: Reading) -> Option<Bytes> {
        self.value = ValueScan::default();
        self.state = State::Reading(reading);
        None
    }

    /// Goes on with a value. Returns it if it is an item and whole.
    fn read(&mut self, reading: Reading) -> Result<Option<Bytes>, ListError> {
        let Some(chunk) = self.input.front() else {
            return Ok(None);
        };
        let end = self.value.advance(chunk);
        let length = end.unwrap_or(chunk.len());
        let piece = self.split(length);
        let is_kept = reading != Reading::Value(Field::Other);
        if is_kept && self.partial.len() + piece.len() > self.limit {
            return Err(ListError::TooLarge { limit: self.limit });
        }
        if end.is_none() {
            if is_kept {
                self.partial.extend_from_slice(&piece);
            }
            return Ok(None);
        }
        let value = if self.partial.is_empty() {
            piece
        } else {
            self.partial.extend_from_slice(&piece);
            self.partial.split().freeze()
        };
        self.state = match reading {
            Reading::Item => {
                self.state = State::AfterItem;
                return Ok(Some(value));
            }
            Reading::Key => State::Colon(match &*value {
                b"\"items\"" => Field::Items,
                b"\"metadata\"" => Field::Metadata,
                b"\"kind\"" => Field::Kind,
                b"\"rows\"" if self.tables => Field::Rows,
                b"\"columnDefinitions\"" if self.tables => Field::Columns,
                _ => Field::Other,
            }),
            Reading::Value(field) => {
                self.take_field(field, value)?;
                State::AfterValue
            }
        };
        Ok(None)
    }

    fn take_field(&mut self, field: Field, value: Bytes) -> Result<(), ListError> {
        match field {
            Field::Metadata => {
                self.metadata = serde_json::from_slice::<Option<Metadata>>(&value)
                    .map_err(|_| self.malformed(&value))?
                    .unwrap_or_default();
            }
            Field::Kind => {
                self.kind = text(&value).map(Into::into);
                let is_wrong = |kind: &&str| is_no_list(kind) && !(self.tables && *kind == TABLE);
                if let Some(kind) = self.kind.as_deref().filter(is_wrong) {
                    return Err(ListError::NotAList {
                        kind: kind.to_owned(),
                    });
                }
            }
            Field::Items | Field::Rows if *value != *b"null" => return Err(self.malformed(&value)),
            Field::Items => self.saw_no_items = true,
            Field::Rows => {
                self.saw_no_items = true;
                self.saw_rows = true;
            }
            Field::Columns => self.columns = Some(value).filter(|value| **value != *b"null"),
            Field::Other => {}
        }
        Ok(())
    }

    /// The next byte that is no white space, in the first chunk.
    fn peek(&mut self) -> Option<u8> {
        let chunk = self.input.front()?;
        let spaces = chunk
            .iter()
            .position(|&byte| !is_space(byte))
            .unwrap_or(chunk.len());
        self.split(spaces);
        self.input.front().and_then(|chunk| chunk.first().copied())
    }

    /// Takes bytes off the first chunk, and the chunk away with the last of them.
    fn split(&mut self, length: usize) -> Bytes {
        self.at += length as u64;
        let Some(chunk) = self.input.front_mut() else {
            return Bytes::new();
        };
        let piece = chunk.split_to(length);
        if chunk.is_empty() {
            self.input.pop_front();
        }
        piece
    }

    fn malformed(&self, found: &[u8]) -> ListError {
        ListError::Malformed {
            at: self.at,
            found: excerpt(found),
        }
    }
}

fn begins_value(byte: u8) -> bool {
    !matches!(byte, b',' | b':' | b']' | b'}')
}
