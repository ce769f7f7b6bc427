//! A request, as far as the rules of list and watch are about it.

use std::fmt;

use http::Uri;

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) kind: AskKind,
    /// The resource version, where there is one.
    pub(crate) version: Option<String>,
    limit: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskKind {
    List { continued: bool },
    StreamingList,
    Watch,
}

impl Ask {
    pub(crate) fn of(uri: &Uri) -> Self {
        let parameter = |name: &str| {
            let pairs = uri.query().unwrap_or_default().split('&');
            let mut found = pairs.filter_map(|pair| pair.split_once('='));
            found
                .find(|(key, value)| *key == name && !value.is_empty())
                .map(|(_, value)| value.to_owned())
        };
        let kind = match (parameter("watch"), parameter("sendInitialEvents")) {
            (None, _) => AskKind::List {
                continued: parameter("continue").is_some(),
            },
            (Some(_), Some(_)) => AskKind::StreamingList,
            (Some(_), None) => AskKind::Watch,
        };
        Self {
            kind,
            version: parameter("resourceVersion"),
            limit: parameter("limit"),
        }
    }
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            AskKind::List { continued: false } => "list",
            AskKind::List { continued: true } => "next page",
            AskKind::StreamingList => "stream",
            AskKind::Watch => "watch",
        })?;
        if let Some(version) = &self.version {
            write!(f, " from {version}")?;
        }
        match &self.limit {
            Some(limit) => write!(f, " by {limit}"),
            None => Ok(()),
        }
    }
}
