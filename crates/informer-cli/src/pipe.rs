//! Events to a pipe, a line each.

use std::{
    io::{self, Write as _},
    time::Duration,
};

use informer::contracts::ObjectKey;
use informer::sharedinformer::Subscription;

use crate::{failure::Failure, lines::Lines, row::Row, say, troubles::Troubles, until::Until};

/// Changes that may wait for a slow pipe before the informer stops reading: every change is to be printed, so none may merge.
pub(crate) const LIMIT: usize = 1_024;

/// Prints changes until the time is over, the user ends it, nobody reads any more, or it cannot go on.
pub(crate) async fn print(
    mut changes: Subscription<ObjectKey, Row>,
    lines: &Lines,
    troubles: &mut Troubles,
    period: Option<Duration>,
) -> Result<(), Failure> {
    let mut end = Until::new(period)?;
    loop {
        tokio::select! {
            biased;
            () = end.reached() => return Ok(()),
            trouble = troubles.next() => say(&format!("{}; trying again", trouble?)),
            change = changes.next() => {
                let Some(change) = change else { return Ok(()) };
                let Some(line) = lines.line(&change) else { continue };
                match writeln!(io::stdout().lock(), "{line}") {
                    Ok(()) => {}
                    // The reader has seen enough: `informer watch pods | head`.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                    Err(error) => return Err(Failure::at("standard output", &error)),
                }
            }
        }
    }
}
