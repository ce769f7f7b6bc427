//! What sources run, kept running.

use std::{sync::Arc, time::Duration};

use informer_core::Clock;

use crate::{Fault, Request, WatchId, contain::Contained, shared::Shared, source::Run};

/// How long after a panic what can be run again is; twice as long each time.
const AGAIN: Duration = Duration::from_secs(1);

/// The longest that is waited; who has run for so long waits [`AGAIN`] the next time.
const LONGEST: Duration = Duration::from_secs(60);

/// Runs what a source has to run. Its panic ends nothing else.
pub(super) async fn keep<R: Request>(shared: Arc<Shared<R>>, id: WatchId, name: Arc<str>, run: Run) {
    let mut make = match run {
        Run::Again(make) => make,
        Run::Once(future) => {
            if let Err(panic) = Contained(future).await {
                let why: Arc<str> = panicked(&panic).into();
                shared.settled(id, Err(why.clone()));
                shared.tell_source_error(name, Fault::Panicked(None), Some(why));
            }
            return;
        }
    };
    let mut wait = AGAIN;
    loop {
        let since = shared.clock.now();
        // The call itself is inside the future, so that a panic of it is one of the future's.
        let Err(panic) = Contained(Box::pin(async { make().await })).await else {
            return;
        };
        if shared.clock.now().saturating_duration_since(since) >= LONGEST {
            wait = AGAIN;
        }
        let why: Arc<str> = panicked(&panic).into();
        shared.set_panicked(id, Some(why.clone()));
        shared.tell_source_error(name.clone(), Fault::Panicked(Some(wait)), Some(why));
        shared.sleep(wait).await;
        shared.set_panicked(id, None);
        wait = wait.saturating_mul(2).min(LONGEST);
    }
}

/// What is said of a source that panicked.
pub(super) fn panicked(message: &str) -> String {
    format!("it panicked: {message}")
}
