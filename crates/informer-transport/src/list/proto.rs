//! The body of a LIST in Kubernetes protobuf, item by item.
//!
//! An envelope whose second field is the list: its first field is the metadata, its second one item, over and over. Sizes come first, so
//! nothing is looked into.

use bytes::Bytes;
use informer_core::ResourceVersion;
use prost::Message;

use super::{ListEnd, ListError, is_no_list};
use crate::proto::{Input, ListMeta, MAGIC, NoMessage, TypeMeta};

#[derive(Debug)]
pub(super) struct ProtoList {
    input: Input,
    pub(super) limit: usize,
    state: State,
    kind: Option<String>,
    saw_list: bool,
    metadata: ListMeta,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Magic,
    /// Before a field of the envelope, or at the end.
    Envelope,
    /// Before a field of the list, of which so many bytes are left.
    List(u64),
    /// Before the size, or what else there is, of a field.
    Field {
        field: Field,
        left: Option<u64>,
    },
    /// Before this many bytes of a field.
    Value {
        field: Field,
        length: u64,
        left: Option<u64>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Types,
    List,
    Metadata,
    Item,
    Other,
    /// A number, which is a varint and nothing more.
    Number,
}

impl ProtoList {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            input: Input::default(),
            limit,
            state: State::Magic,
            kind: None,
            saw_list: false,
            metadata: ListMeta::default(),
        }
    }

    pub(super) fn push(&mut self, chunk: Bytes) {
        self.input.push(chunk);
    }

    pub(super) fn position(&self) -> u64 {
        self.input.taken()
    }

    pub(super) fn next_item(&mut self) -> Result<Option<Bytes>, ListError> {
        loop {
            match self.step()? {
                Step::Item(item) => return Ok(Some(item)),
                Step::On => {}
                Step::Wait => return Ok(None),
            }
        }
    }

    pub(super) fn finish(&mut self) -> Result<ListEnd, ListError> {
        if self.state != State::Envelope || self.input.len() > 0 {
            return Err(ListError::Cut { at: self.position() });
        }
        if !self.saw_list {
            return Err(self.not_a_list());
        }
        let metadata = std::mem::take(&mut self.metadata);
        Ok(ListEnd {
            version: ResourceVersion::new(metadata.version),
            token: (!metadata.token.is_empty()).then(|| metadata.token.into()),
            remaining: metadata.remaining.and_then(|n| u64::try_from(n).ok()),
        })
    }

    fn step(&mut self) -> Result<Step, ListError> {
        match self.state {
            State::Magic => {
                let Some(magic) = self.input.take(MAGIC.len()) else {
                    return Ok(Step::Wait);
                };
                if &*magic != MAGIC {
                    return Err(self.malformed("it does not begin as one"));
                }
                self.state = State::Envelope;
                Ok(Step::On)
            }
            State::List(0) => {
                self.state = State::Envelope;
                Ok(Step::On)
            }
            State::Envelope => self.key(None),
            State::List(left) => self.key(Some(left)),
            State::Field { field, left } => self.size(field, left),
            State::Value { field, length, left } => self.value(field, length, left),
        }
    }

    /// A varint, and what is left of the list behind it.
    fn varint(&mut self, left: Option<u64>) -> Result<Option<(u64, Option<u64>)>, ListError> {
        let read = self
            .input
            .varint()
            .map_err(|NoMessage| self.malformed("a number has no end"))?;
        let Some((value, n)) = read else { return Ok(None) };
        Ok(Some((value, self.less(left, n)?)))
    }

    fn less(&self, left: Option<u64>, n: u64) -> Result<Option<u64>, ListError> {
        left.map(|left| {
            left.checked_sub(n)
                .ok_or_else(|| self.malformed("a field is longer than what it is in"))
        })
        .transpose()
    }

    fn key(&mut self, left: Option<u64>) -> Result<Step, ListError> {
        let Some((key, left)) = self.varint(left)? else {
            return Ok(Step::Wait);
        };
        let field = match (key >> 3, left) {
            (1, None) => Field::Types,
            (2, None) => Field::List,
            (1, Some(_)) => Field::Metadata,
            (2, Some(_)) => Field::Item,
            _ => Field::Other,
        };
        self.state = match key & 7 {
            0 if field == Field::Other => State::Field {
                field: Field::Number,
                left,
            },
            2 => State::Field { field, left },
            kind @ (1 | 5) if field == Field::Other => State::Value {
                field,
                length: if kind == 1 { 8 } else { 4 },
                left,
            },
            _ => return Err(self.malformed("a field is of a kind that it cannot be")),
        };
        Ok(Step::On)
    }

    fn size(&mut self, field: Field, left: Option<u64>) -> Result<Step, ListError> {
        let Some((length, left)) = self.varint(left)? else {
            return Ok(Step::Wait);
        };
        if field == Field::Number {
            self.state = after(left);
            return Ok(Step::On);
        }
        let left = self.less(left, length)?;
        if field == Field::List {
            self.saw_list = true;
            self.state = State::List(length);
            return Ok(Step::On);
        }
        if field != Field::Other && length > self.limit as u64 {
            return Err(ListError::TooLarge { limit: self.limit });
        }
        self.state = State::Value { field, length, left };
        Ok(Step::On)
    }

    fn value(&mut self, field: Field, length: u64, left: Option<u64>) -> Result<Step, ListError> {
        if field == Field::Other {
            let length = length - self.input.skip(length);
            self.state = State::Value { field, length, left };
            if length > 0 {
                return Ok(Step::Wait);
            }
            self.state = after(left);
            return Ok(Step::On);
        }
        // Not longer than the limit.
        let Some(value) = self.input.take(usize::try_from(length).unwrap_or(usize::MAX)) else {
            return Ok(Step::Wait);
        };
        self.state = after(left);
        match field {
            Field::Item => return Ok(Step::Item(value)),
            Field::Metadata => {
                // A message that comes in parts is all of them together.
                let merged = self.metadata.merge(value);
                merged.map_err(|_| self.malformed("its metadata is none"))?;
            }
            Field::Types => {
                let types = TypeMeta::decode(value).map_err(|_| self.malformed("its types are none"))?;
                self.kind = Some(types.kind).filter(|kind| !kind.is_empty());
                // The fields of an object would pass as metadata and items.
                if self
                    .kind
                    .as_deref()
                    .is_some_and(|kind| is_no_list(kind) || !kind.ends_with("List"))
                {
                    return Err(self.not_a_list());
                }
            }
            Field::List | Field::Other | Field::Number => {}
        }
        Ok(Step::On)
    }

    fn not_a_list(&mut self) -> ListError {
        ListError::NotAList {
            kind: self.kind.take().unwrap_or_else(|| "thing of no kind".to_owned()),
        }
    }

    fn malformed(&self, found: &str) -> ListError {
        ListError::Malformed {
            at: self.position(),
            found: found.to_owned(),
        }
    }
}

fn after(left: Option<u64>) -> State {
    left.map_or(State::Envelope, State::List)
}

enum Step {
    Item(Bytes),
    On,
    Wait,
}
