//! A shared informer in a program that has a source of its own and no client.

use std::sync::{Arc, Mutex};

use informer_core::{Cause, Change, Delta, DeltaSink, Entry, Stamp};
use informer_sharedinformer::{HandlerOptions, SharedInformer, Sink};

/// Follows a count from 1 to `n`, and returns what a handler was told.
///
/// # Errors
/// When the parts do not fit.
pub async fn follow(n: u64) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let entry = |n: u64| Entry::new("count", Stamp::new(&*n.to_string(), ""), Arc::new(n));
    let source = move |mut sink: Sink<&'static str, u64>| async move {
        sink.push(Delta::Replace {
            items: vec![entry(1)],
            unreadable: Vec::new(),
            at: "1".into(),
            may_rewind: false,
        });
        for n in 2..=n {
            sink.push(Delta::Upsert(entry(n), Cause::Modified));
        }
    };
    let informer = SharedInformer::fed_by(source).name("counts").build()?;
    let told = Arc::new(Mutex::new(Vec::new()));
    let mut changes = informer.subscribe(HandlerOptions::named("all"))?;
    let record = told.clone();
    let log = move |change: &Change<&'static str, u64>| {
        if let Ok(mut told) = record.lock() {
            told.push(format!("{change:?}"));
        }
    };
    let logging = informer.add_handler(log, HandlerOptions::named("log"))?;
    let running = informer.spawn()?;
    while let Some(change) = changes.next().await {
        if *change.entry().object == n {
            break;
        }
    }
    while logging.n_delivered() < n {
        others_run().await;
    }
    running.stop().await;
    let told = told.lock().map_err(|_| "the handler panicked")?.clone();
    Ok(told)
}

/// Lets others run.
async fn others_run() {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return std::task::Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

#[cfg(test)]
#[tokio::test]
async fn a_count_is_followed() {
    let told = follow(3).await.unwrap();
    assert_eq!(
        told,
        [
            r#"Added "count"@1 initial"#,
            r#"Updated "count"@1 -> "count"@2"#,
            r#"Updated "count"@2 -> "count"@3"#,
        ]
    );
}
