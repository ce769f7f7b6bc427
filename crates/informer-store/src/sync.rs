//! Locks and the swapped pointer of the store, and what stands in for them where loom tries every interleaving.
//!
//! loom's are there in this crate's own tests alone (`RUSTFLAGS="--cfg loom" cargo test --lib`), so that nobody who depends on the crate
//! ever meets loom.

#[cfg(not(all(test, loom)))]
pub(crate) use arc_swap::ArcSwap;
#[cfg(all(test, loom))]
pub(crate) use loom::sync::{Mutex, MutexGuard};
#[cfg(not(all(test, loom)))]
pub(crate) use std::sync::{Mutex, MutexGuard};

#[cfg(all(test, loom))]
pub(crate) use self::stand_in::ArcSwap;

#[cfg(all(test, loom))]
mod stand_in {
    use std::sync::Arc;

    use loom::sync::Mutex;

    /// A pointer that is swapped at once: what arc-swap promises, which is tested there. What is tried here is the protocol around it.
    pub(crate) struct ArcSwap<T>(Mutex<Arc<T>>);

    impl<T> ArcSwap<T> {
        pub(crate) fn from_pointee(value: T) -> Self {
            Self(Mutex::new(Arc::new(value)))
        }

        pub(crate) fn load(&self) -> Arc<T> {
            self.0.lock().expect("nothing panics under it").clone()
        }

        pub(crate) fn load_full(&self) -> Arc<T> {
            self.load()
        }

        pub(crate) fn store(&self, value: Arc<T>) {
            *self.0.lock().expect("nothing panics under it") = value;
        }
    }
}
