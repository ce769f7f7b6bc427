//! Kubeconfig files, against client-go's `clientcmd`: a table of cases, each a text file in `kubeconfigs`.
//!
//! ```text
//! # Why it is kept.
//! @env KUBECONFIG=/case/a:/case/b
//! @override server=https://other
//! @shows what-differs
//! @pem /case/pki/ca.crt ca.crt
//! @file /case/a crlf
//! clusters: [{name: c, cluster: {server: 'https://s', certificate-authority-data: {{ca.crt}}}}]
//! @client-go
//! server https://s
//! @ours
//! refused
//! @says
//! the sentence that ours refuses it with
//! ```
//!
//! `HOME` and the current folder are `/case`, so that `/case/.kube/config` is what is found when nothing is said. `@pem` writes a file of
//! `kubeconfigs/pki`, and its name in two braces stands for its base64. Behind the path of a file stands how it is written: `bom`,
//! `utf16le`, `utf16be`, `utf16le-bare`, `crlf`, `latin1`. Everything from `@client-go` on is written by `cargo xtask parity --record`.

mod case;
mod ours;
mod replay;

pub use case::{Case, cases, folder};
pub use ours::{Told, ours};
pub use replay::replay;
