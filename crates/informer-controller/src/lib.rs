//! Controllers: sources, predicates, reconcilers and a worker pool over shared informers.
