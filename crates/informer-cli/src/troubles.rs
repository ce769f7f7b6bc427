//! What goes wrong while it runs: shown, unless it is hopeless.

use informer::contracts::FailureClass;
use informer::sharedinformer::Trouble;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::{failure::Failure, row::Informer};

/// What the informer says of its troubles.
pub(crate) struct Troubles {
    pub(crate) informer: Informer,
    pub(crate) receiver: UnboundedReceiver<Trouble>,
    pub(crate) place: String,
    /// The selectors as they were given, for the server does not always repeat them when it refuses them.
    pub(crate) selectors: String,
}

impl Troubles {
    /// The next trouble that is to be shown; the informer goes on by itself.
    ///
    /// A trouble before the first list is there that trying again will not cure is a failure: nothing was shown yet, and nothing will be.
    ///
    /// # Cancel safety
    /// Dropping the future loses no trouble.
    pub(crate) async fn next(&mut self) -> Result<String, Failure> {
        let Some(trouble) = self.receiver.recv().await else {
            // The informer was dropped, which ends the program by another way.
            return std::future::pending().await;
        };
        let sentence = format!("{}: {trouble}", self.place);
        let class = if let Trouble::Source { class, .. } = &trouble {
            *class
        } else {
            None
        };
        if !self.informer.has_synced() && class.is_some_and(is_hopeless) {
            let is_refused = class == Some(FailureClass::Unsupported);
            let selectors = if is_refused { &*self.selectors } else { "" };
            return Err(Failure::new(format!("{sentence}{selectors}")));
        }
        Ok(sentence)
    }
}

fn is_hopeless(class: FailureClass) -> bool {
    matches!(
        class,
        FailureClass::Unauthorized
            | FailureClass::Forbidden
            | FailureClass::NotFound
            | FailureClass::Unsupported
            | FailureClass::Refused
            | FailureClass::Fatal
    )
}
