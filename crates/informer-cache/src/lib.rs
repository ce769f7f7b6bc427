//! One shared informer per kind, started on first use, and a client that reads from it.
