//! HTTP/1.1 and HTTP/2 transport over hyper and rustls for Kubernetes clients.
