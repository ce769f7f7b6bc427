//! Indexed store with an exclusive writer and snapshot readers.
