//! The `informer` program: shows a kind of a Kubernetes cluster, live, through an informer.
//!
//! One thing it is also for: it is the library's first user, and caches no more of an object than the row that it shows.

mod age;
mod args;
mod columns;
mod connect;
mod failure;
mod lines;
mod live;
mod pipe;
mod rate;
mod row;
mod screen;
mod source;
mod summary;
mod troubles;
mod until;
mod watch;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use clap::Parser as _;

use crate::args::{Cli, Command};

/// Wrong usage ends in `clap` with exit code 2.
#[tokio::main(worker_threads = 2)]
async fn main() -> ExitCode {
    let Command::Watch(args) = Cli::parse().command;
    match watch::run(args).await {
        Ok(summary) => {
            say(&summary.to_string());
            ExitCode::SUCCESS
        }
        Err(failure) => {
            say(&format!("error: {failure}"));
            ExitCode::FAILURE
        }
    }
}

/// Tells the person something, beside what is printed.
fn say(sentence: &str) {
    // With standard error gone there is nobody to tell.
    let _ = writeln!(io::stderr().lock(), "informer: {sentence}");
}
