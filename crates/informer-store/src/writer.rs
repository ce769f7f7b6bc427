//! The writing side.

use std::{fmt, sync::Arc};

use informer_core::{Batch, Change, CommitError, Key, ResourceVersion, StoreWriter};

use crate::{
    commit::Commit,
    index::Index,
    indexers::{DuplicateIndex, Indexers},
    reader::Reader,
    shared::Shared,
    tree::Tree,
    view::View,
};

/// An empty store: the one who writes it, and the first of those who read it.
///
/// # Errors
/// When two of the index functions have one name.
#[expect(clippy::type_complexity, reason = "the two sides, or why there are none")]
pub fn indexed<Q: Key, K: Send + Sync + 'static>(
    indexers: Indexers<K>,
) -> Result<(Writer<Q, K>, Reader<Q, K>), DuplicateIndex> {
    let view = View {
        objects: Tree::new(),
        indices: indexers.checked()?.into_iter().map(Index::new).collect(),
        applied: ResourceVersion::none(),
        unread: Tree::new(),
    };
    let shared = Arc::new(Shared::new(view));
    let reader = Reader {
        shared: shared.clone(),
    };
    Ok((Writer { shared }, reader))
}

/// Writes the store. There is one, and it alone changes it.
///
/// What a commit does with each delta is said in the [crate documentation](crate#what-a-commit-does).
pub struct Writer<Q: Key, K> {
    shared: Arc<Shared<Q, K>>,
}

impl<Q: Key, K> Writer<Q, K> {
    /// One more reader.
    #[must_use]
    pub fn reader(&self) -> Reader<Q, K> {
        Reader {
            shared: self.shared.clone(),
        }
    }
}

impl<Q: Key, K: Send + Sync + 'static> StoreWriter<Q, K> for Writer<Q, K> {
    fn commit(
        &mut self,
        batch: &mut Batch<Q, K>,
        changes: &mut Vec<Change<Q, K>>,
    ) -> Result<(), CommitError<Q>> {
        self.shared.write(|view| {
            let mut commit = Commit::new(view.clone(), batch, changes);
            for delta in batch.deltas.drain(..) {
                commit.apply(delta);
            }
            let (view, kept, failed) = commit.finish();
            batch.deltas.extend(kept);
            let result = if failed.is_empty() {
                Ok(())
            } else {
                Err(CommitError { failed })
            };
            (view, result)
        })
    }
}

impl<Q: Key, K> fmt::Debug for Writer<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Writer").field(&self.shared.view()).finish()
    }
}
