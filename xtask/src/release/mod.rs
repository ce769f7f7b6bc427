//! `release`: dry runs of what a release does. Nothing here publishes or edits a file of the checkout.

pub(crate) mod plan;
pub(crate) mod verify;
