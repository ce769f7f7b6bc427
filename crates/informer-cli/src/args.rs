//! The command line.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Lives beside a Kubernetes cluster: watches a kind of objects through an informer.
#[derive(Debug, Parser)]
#[command(name = "informer", version, about, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show a kind of objects as they are and as they change.
    Watch(Watch),
}

#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// What to watch, in any form kubectl takes: `pods`, `po`, `deployments.apps`, `widgets.example.com`.
    pub(crate) resource: String,

    /// The namespace; without it, that of the context.
    #[arg(short, long, value_name = "NS", conflicts_with = "all_namespaces")]
    pub(crate) namespace: Option<String>,

    /// All namespaces.
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,

    /// Only objects with these labels: `app=web,tier in (a, b),!old`.
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub(crate) selector: Option<String>,

    /// Only objects with these fields: `spec.nodeName=node-1`.
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) field_selector: Option<String>,

    /// How to print; a table is live on a terminal and one line per event elsewhere. Its columns are those of the server, as `kubectl get`
    /// shows them.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,

    /// End after this long: `10s`, `5m`, `1h30m`.
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    pub(crate) period: Option<Duration>,

    /// Run on the embedded API server with its sample workload, whatever is configured.
    #[arg(long, conflicts_with_all = ["kubeconfig", "context"])]
    pub(crate) embedded: bool,

    /// The kubeconfig file, instead of `KUBECONFIG` and the default one.
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,

    /// The context of the kubeconfig, instead of its current one.
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
}

/// How events are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// The columns that are always shown.
    Table,
    /// All columns, also those that need room.
    Wide,
    /// An event a line, as `kubectl get --watch --output-watch-events -o json` has them.
    Json,
    /// `kind/name`, once per event.
    Name,
}

impl Output {
    /// Whether it is columns.
    pub(crate) fn is_table(self) -> bool {
        matches!(self, Self::Table | Self::Wide)
    }
}

fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a time such as 10s, 5m or 1h30m");
    let span: jiff::SignedDuration = text.parse().map_err(|_| wrong())?;
    Duration::try_from(span).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn times_carry_their_unit() {
        assert_eq!(time("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(time("1h30m"), Ok(Duration::from_secs(5_400)));
        assert!(time("10").is_err());
        assert!(time("-5s").is_err());
        assert!(time("soon").is_err());
    }
}
