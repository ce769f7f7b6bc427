//! The trace of a run: always hashed, kept as text when somebody wants to read it.

use std::{fmt, fmt::Write as _, time::Duration};

/// Lines of what happened, in order.
#[derive(Debug)]
pub(crate) struct Trace {
    hash: u64,
    n_lines: u64,
    lines: Option<Vec<String>>,
}

impl Trace {
    pub(crate) fn new(keep: bool) -> Self {
        Self {
            // FNV-1a.
            hash: 0xcbf2_9ce4_8422_2325,
            n_lines: 0,
            lines: keep.then(Vec::new),
        }
    }

    pub(crate) fn line(&mut self, at: Duration, what: fmt::Arguments<'_>) {
        self.n_lines += 1;
        // Writing to a hash cannot fail.
        let _ = writeln!(Hasher(&mut self.hash), "{} {what}", at.as_nanos());
        if let Some(lines) = &mut self.lines {
            lines.push(format!("{:>12.6} {what}", at.as_secs_f64()));
        }
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    pub(crate) fn n_lines(&self) -> u64 {
        self.n_lines
    }

    pub(crate) fn into_lines(self) -> Vec<String> {
        self.lines.unwrap_or_default()
    }
}

struct Hasher<'a>(&'a mut u64);

impl fmt::Write for Hasher<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            *self.0 = (*self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}
