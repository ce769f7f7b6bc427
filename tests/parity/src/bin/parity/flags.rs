//! The command line.
#![allow(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    dead_code,
    clippy::use_self,
    clippy::manual_let_else,
    reason = "written by the macro"
)]

xflags::xflags! {
    /// Plays random sequences through client-go and through ours, and compares them.
    cmd parity {
        /// How many sequences, over all suites.
        optional --cases cases: u64
        /// Where chance begins.
        optional --seed seed: u64
        /// Only this suite; `kubeconfig` for the table of kubeconfigs alone.
        optional --suite suite: String
        /// Write down what client-go answers to the traces and the kubeconfigs now.
        optional --record
    }
}
