//! A kube client as transport, and kube types in every layer.
