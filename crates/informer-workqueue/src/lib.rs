//! Deduplicating, delaying, rate limited work queue; knows nothing of Kubernetes.
