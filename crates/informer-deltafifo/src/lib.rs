//! Delta queues: in order, and coalescing per key.
