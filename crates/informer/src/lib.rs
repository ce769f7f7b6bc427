//! Kubernetes informers, work queues and controllers: the facade.
