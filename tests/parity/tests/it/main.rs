//! What holds without Go: every trace, as recorded.

mod differences;
mod traces;
mod upstream;
