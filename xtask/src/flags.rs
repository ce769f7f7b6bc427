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

use std::path::PathBuf;

xflags::xflags! {
    /// The project's one door for developers.
    cmd xtask {
        /// Locate or build etcd, kube-apiserver and the client-go harness; print their folder.
        cmd assets {}
        /// Play random operations through client-go and through ours, and compare them step by step.
        cmd parity {
            /// How many sequences, over all suites.
            optional --cases cases: u64
            /// Where chance begins.
            optional --seed seed: u64
            /// Only this suite.
            optional --suite suite: String
            /// Write down what client-go answers to the kept traces now.
            optional --record
        }
        /// Prove that dependencies go strictly down.
        cmd layers {}
        /// Check the house rules.
        cmd tidy {}
        /// Print each crate's dependency closure and who uses the committed packages.
        cmd deps {}
        /// Run every example.
        cmd examples {}
        /// Run every test.
        cmd test {
            /// Leave out the tests that need a real API server.
            optional --quick
        }
        /// Run informers, work queues and controllers in simulated worlds.
        cmd sim {
            /// Run this seed alone, and print its trace.
            optional --seed seed: u64
            /// The first of many seeds; 0 by default.
            optional --first first: u64
            /// How many seeds; 10 000 by default.
            optional --seeds seeds: u64
            /// Run the plan in this file, and print its trace.
            optional --plan path: PathBuf
            /// Break the code in each of the known ways, and show that some seed notices. Takes long.
            optional --mutations
            /// Only this mutation.
            optional --only only: String
        }
        /// Throw bytes at the decoders and parsers, from the kept corpus.
        cmd fuzz {
            /// Only this target.
            optional target: String
            /// For so many seconds each; 60 by default.
            optional --seconds seconds: u64
        }
        /// Everything that must hold before a change goes in.
        cmd ci {
            /// Add what takes long: loom, fuzzing, packaging, feature sets.
            optional --long
        }
        /// Releases, as dry runs.
        cmd release {
            /// Print what each crate's next version would be, in dependency order.
            cmd plan {}
            /// Package every crate and compile each package alone.
            cmd verify {}
        }
    }
}
