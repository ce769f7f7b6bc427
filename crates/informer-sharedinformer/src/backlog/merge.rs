//! The table by which two changes of one key that wait for a slow handler become one.

use informer_core::Change;

/// What becomes of a change that waits and the one that follows it.
#[derive(Debug)]
pub enum Merged<Q, K> {
    /// One change says both.
    One(Change<Q, K>),
    /// The handler never has to hear of it: what changed while it waited is as it was.
    Nothing,
    /// Both stay, in this order.
    Both(Change<Q, K>, Change<Q, K>),
}

/// Merges `next` into `waiting`, two changes of the same key where `next` is the one that follows.
///
/// | waiting ↓ next → | `Added` b | `Updated` a→b | `Removed` b | `Resynced` b |
/// |---|---|---|---|---|
/// | `Added` a | ✗ both | `Added` b, initial as a was | nothing | `Added` a |
/// | `Updated` z→a | ✗ both | `Updated` z→b, nothing where b is z again | `Removed` b | `Updated` z→a |
/// | `Removed` a | both | ✗ both | ✗ both | ✗ both |
/// | `Resynced` a | ✗ both | `Updated` a→b | `Removed` b | `Resynced` b |
///
/// ✗ marks pairs that cannot follow one another in a gapless chain: they are kept as they came rather than guessed at. `Removed` and a
/// following `Added` always stay two: another uid is another object, and even of the same one `Removed` may carry a later state than the
/// handler has seen, so that no `Updated` could name its previous state.
#[must_use]
pub fn merge<Q, K>(waiting: Change<Q, K>, next: Change<Q, K>) -> Merged<Q, K> {
    match (waiting, next) {
        (Change::Added { initial, .. }, Change::Updated { new, .. }) => {
            Merged::One(Change::Added { new, initial })
        }
        (Change::Added { .. }, Change::Removed { .. }) => Merged::Nothing,
        (Change::Updated { old, .. }, Change::Updated { new, .. }) => {
            // A restored etcd took the change back. Where there are no versions, nothing says so.
            if old.stamp == new.stamp && !new.stamp.version.is_none() {
                Merged::Nothing
            } else {
                Merged::One(Change::Updated { old, new })
            }
        }
        (Change::Updated { .. } | Change::Resynced { .. }, removed @ Change::Removed { .. }) => {
            Merged::One(removed)
        }
        (waiting @ (Change::Added { .. } | Change::Updated { .. }), Change::Resynced { .. }) => {
            Merged::One(waiting)
        }
        (Change::Resynced { .. }, next @ (Change::Updated { .. } | Change::Resynced { .. })) => {
            Merged::One(next)
        }
        (waiting, next) => Merged::Both(waiting, next),
    }
}
