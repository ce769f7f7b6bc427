//! What a queue is made of.

use std::fmt;

use crate::{Item, Metrics, Order, Priority, RateLimiter, default_controller_limiter};

/// What becomes of an item's delayed copy when the item is added without a delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DelayedCopy {
    /// It stays, and the item is handed out once more when it is due (client-go's delaying queue).
    #[default]
    Keep,
    /// It goes: one entry for each item, at the earliest time of all adds. An add with a delay for an item that is ready changes no
    /// time either (controller-runtime's priority queue).
    Absorb,
}

/// The parts of a queue: limiter, order, metrics, and what becomes of delayed copies.
///
/// The default has client-go's default controller limiter, priorities with aging (plain arrival order as long as nobody gives a
/// priority), no metrics, and keeps delayed copies.
pub struct Config<T> {
    pub(crate) limiter: Box<dyn RateLimiter<T>>,
    pub(crate) order: Box<dyn Order<T>>,
    pub(crate) metrics: Option<Box<dyn Metrics>>,
    pub(crate) delayed_copy: DelayedCopy,
}

impl<T: Item> Default for Config<T> {
    fn default() -> Self {
        Self {
            limiter: Box::new(default_controller_limiter()),
            order: Box::new(Priority::default()),
            metrics: None,
            delayed_copy: DelayedCopy::default(),
        }
    }
}

impl<T> Config<T> {
    /// With another limiter.
    #[must_use]
    pub fn limiter(mut self, limiter: impl RateLimiter<T> + 'static) -> Self {
        self.limiter = Box::new(limiter);
        self
    }

    /// With another order.
    #[must_use]
    pub fn order(mut self, order: impl Order<T> + 'static) -> Self {
        self.order = Box::new(order);
        self
    }

    /// With somebody to count.
    #[must_use]
    pub fn metrics(mut self, metrics: impl Metrics + 'static) -> Self {
        self.metrics = Some(Box::new(metrics));
        self
    }

    /// With another rule for delayed copies.
    #[must_use]
    pub fn delayed_copy(mut self, delayed_copy: DelayedCopy) -> Self {
        self.delayed_copy = delayed_copy;
        self
    }
}

impl<T> fmt::Debug for Config<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("delayed_copy", &self.delayed_copy)
            .finish_non_exhaustive()
    }
}
