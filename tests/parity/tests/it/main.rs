//! What holds without Go: every trace, as recorded.

mod differences;
mod kubeconfigs;
mod traces;
mod upstream;
