//! How long a connection may live whose certificates are not those of now.

use std::{future::Future, time::Duration};

use tokio::sync::watch;

/// What runs over a connection goes on for so long after its certificates were replaced. client-go closes everything at once
/// (`transport/cert_rotation.go`), and looks for new ones as seldom as this; here those who watch end by themselves, as a rule.
pub(crate) const DRAIN_FOR: Duration = Duration::from_secs(5 * 60);

/// The generation of TLS material that is in use, told to all connections.
#[derive(Debug)]
pub(crate) struct Generations(watch::Sender<u64>);

/// The time of a connection: until `DRAIN_FOR` after another generation came.
#[derive(Debug)]
pub(crate) struct Term {
    own: u64,
    current: watch::Receiver<u64>,
}

impl Generations {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    /// This one is in use now.
    pub(crate) fn saw(&self, generation: u64) {
        self.0.send_if_modified(|current| {
            let is_other = *current != generation;
            *current = generation;
            is_other
        });
    }

    /// The term of a connection that is made with this one.
    pub(crate) fn term(&self, generation: u64) -> Term {
        Term {
            own: generation,
            current: self.0.subscribe(),
        }
    }
}

impl Term {
    /// Runs until the end, its own or that of the term; then `cut` ends what else belongs to it.
    pub(crate) async fn bound(mut self, connection: impl Future<Output = ()>, cut: impl FnOnce()) {
        let own = self.own;
        let over = async {
            // Without a sender the transport is gone, and its tasks with it.
            if self.current.wait_for(|current| *current != own).await.is_err() {
                std::future::pending::<()>().await;
            }
            wait(DRAIN_FOR).await;
        };
        tokio::select! {
            () = connection => {}
            () = over => {
                tracing::debug!("A connection with certificates that were replaced is closed");
                // The connection has been dropped by now, so that bodies know why they end.
                cut();
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the edge where time enters")]
async fn wait(time: Duration) {
    tokio::time::sleep(time).await;
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };

    use super::{DRAIN_FOR, Generations};

    struct Open(Arc<AtomicBool>);

    impl Drop for Open {
        fn drop(&mut self) {
            self.0.store(false, Ordering::SeqCst);
        }
    }

    #[tokio::test(start_paused = true)]
    #[expect(clippy::disallowed_methods, reason = "in virtual time")]
    async fn a_connection_outlives_its_certificates_for_a_while() {
        let generations = Generations::new();
        generations.saw(7);
        let is_open = Arc::new(AtomicBool::new(true));
        let open = Open(Arc::clone(&is_open));
        let connection = async move {
            let _open = open;
            std::future::pending::<()>().await;
        };
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(generations.term(7).bound(connection, || {}));
        generations.saw(7);
        tokio::time::sleep(DRAIN_FOR * 100).await;
        assert!(is_open.load(Ordering::SeqCst), "they are those of now");
        generations.saw(8);
        tokio::time::sleep(DRAIN_FOR - std::time::Duration::from_secs(1)).await;
        assert!(is_open.load(Ordering::SeqCst), "what runs on it goes on");
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
        assert!(!is_open.load(Ordering::SeqCst));
        assert!(tasks.join_next().await.is_some());
    }
}
