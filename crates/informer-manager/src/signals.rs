//! What tells a manager to stop from outside.

use std::{fmt, future::pending};

use tokio::sync::mpsc;

use crate::machine::Input;

/// Signals of the operating system, or of a test. The first lets the manager stop within its grace time, the second ends it at once.
pub struct Signals {
    kind: Kind,
    n_seen: u32,
}

enum Kind {
    None,
    Os { second: Second, open: Option<Os> },
    Hand(mpsc::UnboundedReceiver<()>),
}

/// What the second signal does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Second {
    /// Ends the process with exit code 1, whatever blocks it, as controller-runtime does: on Unix in the signal handler itself, which needs
    /// no thread of the program. Nothing is flushed or dropped.
    #[default]
    Exit,
    /// Ends the manager at once: its run returns an error ([`RunError::is_forced`](crate::RunError::is_forced)).
    End,
}

impl Signals {
    /// No signals: the manager stops when its [`Handle`](crate::Handle) says so.
    #[must_use]
    pub fn none() -> Self {
        Self::of(Kind::None)
    }

    /// SIGINT and SIGTERM (where there is no SIGTERM, Ctrl-C). They are caught from the start of the run on.
    #[must_use]
    pub fn os(second: Second) -> Self {
        Self::of(Kind::Os { second, open: None })
    }

    /// Signals by hand, for tests.
    #[must_use]
    pub fn by_hand() -> (Ring, Self) {
        let (ring, heard) = mpsc::unbounded_channel();
        (Ring(ring), Self::of(Kind::Hand(heard)))
    }

    fn of(kind: Kind) -> Self {
        Self { kind, n_seen: 0 }
    }

    /// Waits for the next signal.
    ///
    /// # Cancel safety
    /// No signal is lost when the future is dropped.
    pub(crate) async fn next(&mut self) -> Input {
        let second = match &mut self.kind {
            Kind::None => pending().await,
            Kind::Hand(heard) => match heard.recv().await {
                Some(()) => Second::End,
                None => pending().await,
            },
            Kind::Os { second, open } => {
                open.get_or_insert_with(|| Os::open(*second)).recv().await;
                *second
            }
        };
        self.n_seen += 1;
        if self.n_seen == 1 {
            tracing::info!("Told by a signal to stop");
            return Input::Stop;
        }
        tracing::warn!("Told twice by a signal to stop");
        if second == Second::Exit {
            // Where the signal handler did not do that.
            std::process::exit(1);
        }
        Input::Force
    }
}

impl fmt::Debug for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::None => "none",
            Kind::Os { .. } => "os",
            Kind::Hand(_) => "by hand",
        };
        f.debug_struct("Signals")
            .field("kind", &kind)
            .field("n_seen", &self.n_seen)
            .finish()
    }
}

/// Sends a signal by hand.
#[derive(Debug, Clone)]
pub struct Ring(mpsc::UnboundedSender<()>);

impl Ring {
    /// Sends one. Nothing happens when the manager is gone.
    pub fn ring(&self) {
        let _gone = self.0.send(());
    }
}

#[cfg(unix)]
struct Os {
    signals: Vec<tokio::signal::unix::Signal>,
    _exit: Option<exit::OnSecond>,
}

#[cfg(unix)]
mod exit {
    //! The end of the process at the second signal, whatever its threads do.

    use std::{
        io,
        sync::{Arc, atomic::AtomicBool},
    };

    use signal_hook::{
        SigId,
        consts::{SIGINT, SIGTERM},
        flag, low_level,
    };

    /// As long as this lives, a signal that is not the first ends the process with exit code 1.
    #[derive(Default)]
    pub(super) struct OnSecond(Vec<SigId>);

    impl OnSecond {
        pub(super) fn arm() -> io::Result<Self> {
            let mut this = Self::default();
            let seen = Arc::new(AtomicBool::new(false));
            for signal in [SIGINT, SIGTERM] {
                // In this order, so that the first does not find itself seen.
                let exit = flag::register_conditional_shutdown(signal, 1, seen.clone())?;
                this.0.push(exit);
                this.0.push(flag::register(signal, seen.clone())?);
            }
            Ok(this)
        }
    }

    impl Drop for OnSecond {
        fn drop(&mut self) {
            for id in self.0.drain(..) {
                low_level::unregister(id);
            }
        }
    }
}

#[cfg(unix)]
impl Os {
    fn open(second: Second) -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let mut signals = Vec::new();
        for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
            match signal(kind) {
                Ok(signal) => signals.push(signal),
                Err(error) => tracing::error!(%error, "Cannot listen for a signal"),
            }
        }
        let _exit = match second {
            Second::Exit => exit::OnSecond::arm()
                .inspect_err(|error| tracing::error!(%error, "Cannot exit in a signal handler"))
                .ok(),
            Second::End => None,
        };
        Self { signals, _exit }
    }

    async fn recv(&mut self) {
        std::future::poll_fn(|cx| {
            let any = self
                .signals
                .iter_mut()
                .any(|signal| signal.poll_recv(cx).is_ready());
            if any {
                std::task::Poll::Ready(())
            } else {
                std::task::Poll::Pending
            }
        })
        .await;
    }
}

#[cfg(not(unix))]
struct Os;

#[cfg(not(unix))]
impl Os {
    fn open(_: Second) -> Self {
        Self
    }

    async fn recv(&mut self) {
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::error!(%error, "Cannot listen for a signal");
            pending().await
        }
    }
}
