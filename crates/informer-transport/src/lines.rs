//! Cuts a byte stream into lines, whatever its chunks.

use std::collections::VecDeque;

use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr;

/// A line is longer than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Each byte is looked at once. A line that lies in one chunk is handed out without a copy.
#[derive(Debug)]
pub(crate) struct Lines {
    input: VecDeque<Bytes>,
    partial: BytesMut,
    limit: usize,
    ended: bool,
    scanned: u64,
}

impl Lines {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            input: VecDeque::new(),
            partial: BytesMut::new(),
            limit,
            ended: false,
            scanned: 0,
        }
    }

    pub(crate) fn push(&mut self, chunk: Bytes) {
        if !chunk.is_empty() {
            self.input.push_back(chunk);
        }
    }

    /// No more chunks: what is left counts as a line.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// How many bytes were looked at.
    pub(crate) fn scanned(&self) -> u64 {
        self.scanned
    }

    /// How many bytes wait for the end of their line.
    pub(crate) fn buffered(&self) -> usize {
        self.partial.len() + self.input.iter().map(Bytes::len).sum::<usize>()
    }

    /// The next line, with its line feed if it has one.
    pub(crate) fn next(&mut self) -> Result<Option<Bytes>, TooLong> {
        while let Some(chunk) = self.input.front_mut() {
            let end = memchr(b'\n', chunk);
            let length = end.map_or(chunk.len(), |end| end + 1);
            self.scanned += length as u64;
            if self.partial.len() + length > self.limit {
                return Err(TooLong);
            }
            let piece = chunk.split_to(length);
            if !chunk.has_remaining() {
                self.input.pop_front();
            }
            if end.is_some() && self.partial.is_empty() {
                return Ok(Some(piece));
            }
            self.partial.extend_from_slice(&piece);
            if end.is_some() {
                return Ok(Some(self.partial.split().freeze()));
            }
        }
        if self.ended && !self.partial.is_empty() {
            return Ok(Some(self.partial.split().freeze()));
        }
        Ok(None)
    }
}
