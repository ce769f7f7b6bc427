//! Kubernetes client configuration: kubeconfig files and in-cluster.
