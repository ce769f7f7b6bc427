//! What both players stand on: paused time, the source, and a builder over it.

use std::{future::Future, sync::Arc, time::Duration};

use informer_core::{Change, Clock as _, Identity, NamespaceName, ObjectKey, TokioClock};
use informer_reflector::{ListWatch, Start};
use informer_sharedinformer::{Builder, Listed, QueueKind, ReflectorOptions, SharedInformer};
use informer_store::{Indexers, Reader, indexed};

use super::source::Source;
use crate::{
    object::{By, Thing, show},
    oracle::Version,
    sequence::Op,
};

/// An informer that is being put together.
pub(super) type Begun = Builder<ObjectKey, Thing, Listed<ListWatch<Thing>, NamespaceName>>;

/// Runs in a runtime of its own, whose time moves on only when nothing else does.
pub(super) fn paused<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O needs nothing from the system");
    runtime.block_on(future)
}

/// The operation of that name, which is a setting for all of the sequence.
pub(super) fn setting<'a>(ops: &'a [String], verb: &str) -> Option<Op<'a>> {
    ops.iter().map(|op| Op::read(op)).find(|op| op.verb == verb)
}

/// Begins an informer over a source. The store is read through the reader, whose indices are known by name.
pub(super) fn begin(version: Version, ops: &[String], source: &Source) -> (Begun, Reader<ObjectKey, Thing>) {
    let resync = setting(ops, "new").map(|op| milliseconds(op.arg()));
    let drops = setting(ops, "transform").is_some_and(|op| op.arg() == "drop");
    let (writer, reader) = indexed(Indexers::new().with("first", By::First)).expect("one index");
    let mut options = ReflectorOptions::default();
    options.start = Start::List;
    options.seed = Some(1);
    // The fake source never ends a watch by itself, so nor do we.
    options.min_watch_timeout = Duration::from_secs(1 << 30);
    let queue = match version {
        Version::Atomic | Version::Spread => QueueKind::InOrder,
        Version::Old => QueueKind::Coalescing,
    };
    let builder = SharedInformer::builder(source.list_watch())
        .reflector_options(options)
        .store(writer, Arc::new(reader.clone()))
        // Versions are read before a transform runs: one that blanks them changes nothing here.
        .transform(move |_: &Identity, thing: &mut Thing| {
            thing.values.retain(|value| !drops || value != "s");
            Ok(())
        })
        .queue(queue)
        .clock(TokioClock)
        .resync(resync.unwrap_or_default());
    (builder, reader)
}

/// Does what is about the source, or lets time pass.
pub(super) async fn play_source(source: &Source, op: Op<'_>) {
    match op.verb {
        "cut" => source.cut(),
        "heal" => {
            source.heal();
            pass(Duration::from_secs(200)).await;
        }
        "wait" => pass(milliseconds(op.arg())).await,
        "burst" => Op::parts(op.rest).for_each(|op| source.change(op)),
        _ => source.change(op),
    }
}

/// A change as the oracles write it.
pub(super) fn line_of(change: &Change<ObjectKey, Thing>) -> String {
    match change {
        Change::Added { new, initial } => {
            format!("add {}{}", show(new), if *initial { " initial" } else { "" })
        }
        Change::Updated { old, new } => format!("update {} -> {}", show(old), show(new)),
        Change::Removed { last, observed: true } => format!("delete {}", show(last)),
        Change::Removed { last, .. } => format!("vanished {}", show(last)),
        Change::Resynced { current } => format!("again {}", show(current)),
    }
}

pub(super) fn milliseconds(text: &str) -> Duration {
    Duration::from_millis(text.parse().expect("a number of milliseconds"))
}

/// Lets virtual time pass; it moves on only when nothing else does.
pub(super) async fn pass(time: Duration) {
    TokioClock.sleep_until(TokioClock.now() + time).await;
}
