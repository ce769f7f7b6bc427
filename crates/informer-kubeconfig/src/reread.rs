//! Reading files again where a read may take long: not on the thread that everything else runs on, and one at a time.

use std::{sync::Arc, time::Duration};

use tokio::{runtime::Handle, sync::Mutex, task::spawn_blocking, time::timeout};

/// Who waits for a read goes on after so long with what there is. A file system that hangs does so for minutes.
const WAIT: Duration = Duration::from_secs(1);

/// Passed by one read at a time.
#[derive(Debug, Default)]
pub(crate) struct Gate(Arc<Mutex<()>>);

impl Gate {
    /// Lets `read` pass if it is due, and waits for it for a while. Where another one is under way, nothing is done, or that one is waited for
    /// first. Without a runtime it reads at once.
    pub(crate) async fn pass(
        &self,
        waits: bool,
        is_due: impl Fn() -> bool,
        read: impl FnOnce() + Send + 'static,
    ) {
        if Handle::try_current().is_err() {
            return read();
        }
        let gate = Arc::clone(&self.0);
        let pass = match waits {
            true => timeout(WAIT, gate.lock_owned()).await.ok(),
            false => gate.try_lock_owned().ok(),
        };
        let Some(pass) = pass else { return };
        if !is_due() {
            return;
        }
        let reading = spawn_blocking(move || {
            read();
            drop(pass);
        });
        // One that takes longer ends by itself, and leaves what it read for the next.
        let _ = timeout(WAIT, reading).await;
    }

    /// Whether a read is under way.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.try_lock().is_err()
    }
}
