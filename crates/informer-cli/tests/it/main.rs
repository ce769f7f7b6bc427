//! The program as a person meets it: arguments in, lines, sentences and exit codes out.

mod errors;
mod program;
mod watch;
