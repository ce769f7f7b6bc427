//! A sink that keeps what it takes, and can be full or closed.

use std::{
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use informer_core::{
    Closed, Decoded, Delta, DeltaSink, KeyFunc, NamespaceName, ObjectKey, ResourceVersion, Stamp,
};

use super::{Object, lock, object};

#[derive(Clone, Default)]
pub(crate) struct Sink(Arc<Mutex<Taken>>);

#[derive(Default)]
struct Taken {
    deltas: Vec<Delta<ObjectKey, Object>>,
    full: bool,
    closed: bool,
    fails_resync: bool,
    applied: Option<ResourceVersion>,
    /// Called at each whole state.
    on_replace: Option<Box<dyn FnMut() + Send>>,
    stored: Vec<(ObjectKey, Stamp, Arc<Object>)>,
    wakers: Vec<Waker>,
}

impl Sink {
    pub(crate) fn fill(&self, full: bool) {
        self.change(|taken| taken.full = full);
    }

    pub(crate) fn close(&self) {
        self.change(|taken| taken.closed = true);
    }

    /// What it has in use is of this version.
    pub(crate) fn apply(&self, version: &str) {
        lock(&self.0).applied = Some(ResourceVersion::new(version));
    }

    pub(crate) fn fail_resync(&self, fails: bool) {
        lock(&self.0).fails_resync = fails;
    }

    pub(crate) fn on_replace(&self, call: impl FnMut() + Send + 'static) {
        lock(&self.0).on_replace = Some(Box::new(call));
    }

    /// An object that the sink is to know.
    pub(crate) fn store(&self, text: &str) -> Arc<Object> {
        let Decoded { identity, object } = object(text);
        let object = Arc::new(object);
        let key = NamespaceName.key(&identity, &*object).unwrap();
        lock(&self.0).stored.push((key, identity.stamp, object.clone()));
        object
    }

    pub(crate) fn taken(&self) -> Vec<String> {
        lock(&self.0)
            .deltas
            .iter()
            .map(|delta| format!("{delta:?}").replace("ns/", "").replace("#uid-", "#"))
            .map(|text| strip_uids(&text))
            .collect()
    }

    pub(crate) fn with<R>(&self, look: impl FnOnce(&[Delta<ObjectKey, Object>]) -> R) -> R {
        look(&lock(&self.0).deltas)
    }

    /// Drops what it was given.
    pub(crate) fn forget(&self) {
        lock(&self.0).deltas.clear();
    }

    fn change(&self, change: impl FnOnce(&mut Taken)) {
        let mut taken = lock(&self.0);
        change(&mut taken);
        let wakers = std::mem::take(&mut taken.wakers);
        drop(taken);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// Uids say nothing in these tests.
fn strip_uids(text: &str) -> String {
    let mut parts = text.split('#');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric()));
    }
    out.replace('"', "")
}

impl DeltaSink<ObjectKey, Object> for Sink {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        let mut taken = lock(&self.0);
        if taken.closed {
            return Poll::Ready(Err(Closed));
        }
        if taken.full {
            taken.wakers.push(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn push(&mut self, delta: Delta<ObjectKey, Object>) {
        let mut taken = lock(&self.0);
        let whole = matches!(delta, Delta::Replace { .. });
        taken.deltas.push(delta);
        if let (true, Some(call)) = (whole, &mut taken.on_replace) {
            call();
        }
    }

    fn resync(&mut self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        if lock(&self.0).fails_resync {
            return Err("the copy is damaged".into());
        }
        self.push(Delta::Resync);
        Ok(())
    }

    fn applied(&self) -> Option<ResourceVersion> {
        lock(&self.0).applied.clone()
    }

    fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut taken = lock(&self.0);
        if taken.closed {
            return Poll::Ready(());
        }
        taken.wakers.push(cx.waker().clone());
        Poll::Pending
    }

    fn known(&self, key: &ObjectKey, stamp: &Stamp) -> Option<Arc<Object>> {
        lock(&self.0)
            .stored
            .iter()
            .find(|(stored, version, _)| stored == key && version == stamp)
            .map(|(_, _, object)| object.clone())
    }
}
