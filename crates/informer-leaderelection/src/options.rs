//! What can be chosen about an election, and what is refused.

use std::{error::Error, fmt, sync::Arc, time::Duration};

/// Waits between attempts to acquire are up to this many times longer than the retry period (client-go `JitterFactor`), and the renew
/// deadline must be longer than the retry period by this factor.
pub const JITTER_FACTOR: f64 = 1.2;

/// Options of a candidate. The numbers are those of client-go's recommendation: 15 s, 10 s and 2 s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Who this candidate is, in the lease. Must differ from that of every other candidate, also of one that ran before under the same
    /// name, or two terms cannot be told apart by their transitions alone.
    pub identity: Arc<str>,
    /// What the election is called in metrics, logs and health; client-go `LeaderElectionConfig.Name`.
    pub name: Arc<str>,
    /// How long others wait without seeing a change of the lease before they take it over. Written in whole seconds, rounded up.
    pub lease_duration: Duration,
    /// How long a leader leads after it sent the last renewal that went through.
    pub renew_deadline: Duration,
    /// How long to wait between attempts.
    pub retry_period: Duration,
    /// Give the lease back when asked to stop (client-go `ReleaseOnCancel`), after the work that it guards has ended.
    pub release_on_cancel: bool,
    /// How long one request may take; half the renew deadline unless given. A request that takes longer is abandoned and has failed.
    pub call_timeout: Option<Duration>,
    /// Coordinated election: the server writes who holds the lease, this candidate only renews what it was given (client-go
    /// `LeaderElectionConfig.Coordinated`).
    pub coordinated: bool,
}

impl Options {
    /// The recommended options for a candidate of this name.
    #[must_use]
    pub fn new(identity: impl Into<Arc<str>>) -> Self {
        Self {
            identity: identity.into(),
            name: Arc::from(""),
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
            release_on_cancel: false,
            call_timeout: None,
            coordinated: false,
        }
    }

    /// The same with this lease duration, and the other times in the proportion of the recommended ones: two thirds of it to renew, and two
    /// fifteenths between attempts.
    #[must_use]
    pub fn with_lease_duration(mut self, duration: Duration) -> Self {
        self.lease_duration = duration;
        self.renew_deadline = duration * 2 / 3;
        self.retry_period = duration * 2 / 15;
        self
    }

    /// Checks them, in the order of client-go's `NewLeaderElector`.
    ///
    /// # Errors
    /// With the first that does not hold.
    pub fn validate(&self) -> Result<(), InvalidOptions> {
        if self.lease_duration <= self.renew_deadline {
            return Err(InvalidOptions::LeaseNotLongerThanRenewDeadline);
        }
        if self.renew_deadline <= self.retry_period.mul_f64(JITTER_FACTOR) {
            return Err(InvalidOptions::RenewDeadlineNotLongerThanRetryPeriod);
        }
        if self.retry_period.is_zero() {
            return Err(InvalidOptions::NoRetryPeriod);
        }
        if self.lease_seconds().is_none() {
            return Err(InvalidOptions::LeaseTooLong);
        }
        if self.call_timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(InvalidOptions::NoCallTimeout);
        }
        if self.identity.is_empty() {
            return Err(InvalidOptions::NoIdentity);
        }
        Ok(())
    }

    /// The lease duration as it is written. Rounded up where client-go cuts: others must never wait shorter than this candidate leads.
    /// `None` when it does not fit into the 32 bits of the API.
    pub(crate) fn lease_seconds(&self) -> Option<u32> {
        let seconds = self.lease_duration.as_secs() + u64::from(self.lease_duration.subsec_nanos() > 0);
        i32::try_from(seconds).ok()?.try_into().ok()
    }

    pub(crate) fn call_timeout(&self) -> Duration {
        self.call_timeout.unwrap_or(self.renew_deadline / 2)
    }
}

/// Options that no election can be held with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidOptions {
    /// A leader would still lead when others take over.
    LeaseNotLongerThanRenewDeadline,
    /// A leader could give up before its second attempt.
    RenewDeadlineNotLongerThanRetryPeriod,
    /// Attempts would follow each other without a pause.
    NoRetryPeriod,
    /// It does not fit into a lease.
    LeaseTooLong,
    /// Every request would be abandoned at once.
    NoCallTimeout,
    /// The lease would look free.
    NoIdentity,
}

impl fmt::Display for InvalidOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LeaseNotLongerThanRenewDeadline => {
                "the lease duration must be longer than the renew deadline"
            }
            Self::RenewDeadlineNotLongerThanRetryPeriod => {
                "the renew deadline must be longer than the retry period times 1.2"
            }
            Self::NoRetryPeriod => "the retry period must be longer than zero",
            Self::LeaseTooLong => "the lease duration does not fit into a lease",
            Self::NoCallTimeout => "the timeout of a request must be longer than zero",
            Self::NoIdentity => "the identity is empty",
        })
    }
}

impl Error for InvalidOptions {}
