//! Embedded Kubernetes API server for demos and tests.
