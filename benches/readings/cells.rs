//! What is measured: who, in which form of object, over which wire format, by which start.

use std::fmt;

/// Whose informer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Informer,
    ClientGo,
    Kube,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell {
    pub(crate) who: Who,
    pub(crate) form: &'static str,
    pub(crate) wire: &'static str,
    pub(crate) start: &'static str,
}

/// The forms that there are, peers beside ours.
const FORMS: [(Who, &str, &str); 17] = [
    (Who::Informer, "typed", "protobuf"),
    (Who::ClientGo, "typed", "protobuf"),
    (Who::ClientGo, "typed, managed fields dropped", "protobuf"),
    (Who::Informer, "typed", "json"),
    (Who::ClientGo, "typed", "json"),
    (Who::Kube, "typed", "json"),
    (Who::Informer, "own", "protobuf"),
    (Who::Informer, "own", "json"),
    (Who::Informer, "metadata", "protobuf"),
    (Who::ClientGo, "metadata", "protobuf"),
    (Who::Informer, "metadata", "json"),
    (Who::Kube, "metadata", "json"),
    (Who::Informer, "packed", "protobuf"),
    (Who::Informer, "packed", "json"),
    (Who::Informer, "dynamic", "json"),
    (Who::ClientGo, "dynamic", "json"),
    (Who::Kube, "dynamic", "json"),
];

pub(crate) fn all() -> impl Iterator<Item = Cell> {
    FORMS.into_iter().flat_map(|(who, form, wire)| {
        ["LIST", "streaming"].map(|start| Cell {
            who,
            form,
            wire,
            start,
        })
    })
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Informer => "informer",
            Self::ClientGo => "client-go",
            Self::Kube => "kube",
        })
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.who, self.form, self.wire, self.start)
    }
}
