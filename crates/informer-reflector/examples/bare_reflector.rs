//! A reflector and nothing else: a source of two closures, and a sink that keeps a map and prints what changes.
//!
//! Run it with `cargo run -p informer-reflector --example bare_reflector`. It ends by itself.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll},
};

use informer_core::{
    Cause, Closed, Decoded, Delta, DeltaSink, FailureClass, Identity, NamespaceName, ObjectKey, SourceError,
    Stamp, TokioClock, Watched,
};
use informer_reflector::{ListWatch, Options, Phase, Reflector, Start, feed};

/// What is reflected; any type will do.
#[derive(Debug)]
struct Fruit {
    colour: &'static str,
}

fn fruit(name: &str, version: u32, colour: &'static str) -> Decoded<Fruit> {
    Decoded {
        identity: Identity {
            namespace: Some("garden".into()),
            name: name.into(),
            stamp: Stamp::new(version.to_string().as_str(), format!("uid of {name}")),
        },
        object: Fruit { colour },
    }
}

/// A sink of our own: it follows the state, and is closed once an apple is gone.
#[derive(Default)]
struct Printer {
    fruits: BTreeMap<ObjectKey, Arc<Fruit>>,
    closed: bool,
}

#[expect(clippy::print_stdout, reason = "it is what the example is for")]
impl DeltaSink<ObjectKey, Fruit> for Printer {
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        Poll::Ready(if self.closed { Err(Closed) } else { Ok(()) })
    }

    fn push(&mut self, delta: Delta<ObjectKey, Fruit>) {
        match delta {
            Delta::Replace { items, at, .. } => {
                self.fruits = items.into_iter().map(|it| (it.key, it.object)).collect();
                println!("the whole state at version {at}: {:?}", self.fruits);
            }
            Delta::Upsert(entry, cause) => {
                println!("{cause:?} {}: {}", entry.key, entry.object.colour);
                self.fruits.insert(entry.key, entry.object);
            }
            Delta::Delete { key, .. } => {
                println!("deleted {key}");
                self.fruits.remove(&key);
                self.closed = key.name() == "apple";
            }
            other => println!("{other:?}"),
        }
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
#[expect(clippy::print_stdout, reason = "it is what the example is for")]
async fn main() {
    let lists = AtomicU32::new(0);
    let watches = AtomicU32::new(0);
    let source = ListWatch::new(
        move |_| {
            let first = lists.fetch_add(1, Ordering::Relaxed) == 0;
            async move {
                if first {
                    // The reflector waits a moment and tries again.
                    return Err(SourceError::new(FailureClass::Transient, "the gate is locked"));
                }
                Ok(feed::list(
                    [fruit("apple", 1, "green"), fruit("cherry", 2, "red")],
                    "2",
                ))
            }
        },
        move |request| {
            let n = watches.fetch_add(1, Ordering::Relaxed);
            async move {
                println!("watching from {:?}", request.version);
                let apple = |version, colour| Ok(fruit("apple", version, colour));
                // Each watch ends by itself; the next goes on where it ended.
                let events = match n {
                    0 => vec![Watched::Upsert(Cause::Modified, apple(3, "red"))],
                    _ => vec![Watched::Delete(apple(4, "red"))],
                };
                Ok::<_, SourceError>(feed::from_iter(events))
            }
        },
    );

    let mut options = Options::named("fruits");
    options.start = Start::List;
    let reflector = Reflector::new(source, NamespaceName, Printer::default(), TokioClock, options)
        .on_error(|error| println!("error: {error}, again in {:?}", error.retry_in()));
    let status = reflector.status();
    reflector.run().await;

    let status = status.get();
    assert_eq!(status.phase, Phase::Stopped);
    println!(
        "ended after {} lists, {} watches and {} events",
        status.lists, status.watches, status.events
    );
}
