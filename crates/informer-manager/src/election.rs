//! What an election says of itself, as events on its lease.

use informer_events::{EventKind, ObjectReference, Recorder};
use informer_leaderelection::{Elector, Event, Lease, Lock};

/// Records an event on the lease `name` when this candidate becomes its leader and when it stops leading, as client-go does
/// (`LeaseLock.RecordEvent`): of type `Normal`, with [`Event::REASON`] as its reason. The action is `Lead` or `StopLeading`: events of one
/// action would be one series.
///
/// ```
/// use informer_events::{Broadcaster, MemorySink};
/// use informer_leaderelection::{Elector, MemoryLock, Options};
/// use informer_manager::{Manager, record_election};
///
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let broadcaster = Broadcaster::new(MemorySink::new(), Default::default());
/// let elector = Elector::new(MemoryLock::new(), Options::new("replica-1"))?;
/// let recorder = broadcaster.recorder("example.com/websites");
/// let manager = Manager::builder()
///     .runnable(broadcaster)
///     .leader_election(record_election(elector, recorder, "default", "websites"))
///     .build()?;
/// # drop(manager);
/// # Ok(()) }
/// ```
#[must_use]
pub fn record_election<L: Lock>(
    elector: Elector<L>,
    recorder: Recorder,
    namespace: &str,
    name: &str,
) -> Elector<L> {
    let lease = ObjectReference::new(&Lease::resource(), Some(namespace), name);
    elector.on_event(move |event| {
        let action = match event {
            Event::BecameLeader { .. } => "Lead",
            Event::StoppedLeading { .. } => "StopLeading",
            _ => return,
        };
        let (kind, note) = (EventKind::Normal, event.to_string());
        recorder.event(&lease, None, kind, Event::REASON, action, note);
    })
}
