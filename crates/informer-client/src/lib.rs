//! Typed, dynamic and metadata-only Kubernetes client over any transport.
