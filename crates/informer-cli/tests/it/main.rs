//! The program as a person meets it: arguments in, lines, sentences and exit codes out.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod errors;
mod program;
mod watch;
