//! By arrival.

use std::{collections::VecDeque, time::Instant};

use crate::Order;

/// First in, first out, whatever the priority (client-go `DefaultQueue`).
#[derive(Debug)]
pub struct Fifo<T> {
    items: VecDeque<T>,
}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Self {
            items: VecDeque::new(),
        }
    }
}

impl<T: Send> Order<T> for Fifo<T> {
    fn push(&mut self, _: Instant, item: T, _: i32) {
        self.items.push_back(item);
    }

    fn touch(&mut self, _: Instant, _: &T, _: i32) {}

    fn pop(&mut self, _: Instant) -> Option<T> {
        self.items.pop_front()
    }

    fn len(&self) -> usize {
        self.items.len()
    }
}
