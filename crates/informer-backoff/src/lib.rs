//! Exponential backoff with jitter that resets on health, as a pure machine.
