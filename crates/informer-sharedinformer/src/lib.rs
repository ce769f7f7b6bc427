//! Shared informers: one list and watch per kind, an indexed store, many handlers.
