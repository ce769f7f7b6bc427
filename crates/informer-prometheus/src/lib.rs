//! The metrics of informers, queues and controllers under the names of client-go and controller-runtime.
