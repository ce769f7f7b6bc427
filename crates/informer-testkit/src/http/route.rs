//! From method, path and query to what is asked for.

use std::collections::BTreeMap;

use http::Method;
use percent_encoding::percent_decode_str;

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Verb {
    /// One object.
    Get,
    /// A collection.
    List,
    /// Changes of a collection or an object.
    Watch,
    /// A watch that begins with the state (`sendInitialEvents=true`).
    StreamingList,
    /// A new object.
    Create,
    /// A replacement.
    Update,
    /// A patch.
    Patch,
    /// The deletion of an object.
    Delete,
    /// The deletion of a collection.
    DeleteCollection,
    /// Groups, versions, resources, the server's version, health.
    Discovery,
    /// Nothing that is served.
    Other,
}

impl Verb {
    /// Whether it is a watch, streaming list or not.
    #[must_use]
    pub fn is_watch(self) -> bool {
        matches!(self, Self::Watch | Self::StreamingList)
    }

    /// Whether it writes.
    #[must_use]
    pub fn is_write(self) -> bool {
        matches!(
            self,
            Self::Create | Self::Update | Self::Patch | Self::Delete | Self::DeleteCollection
        )
    }
}

/// A request's path and query, taken apart.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    pub(crate) path: String,
    pub(crate) segments: Vec<String>,
    pub(crate) query: BTreeMap<String, String>,
    pub(crate) verb: Verb,
    pub(crate) about: Option<About>,
}

/// The resource part of a path.
#[derive(Debug, Clone, Default)]
pub(crate) struct About {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) namespace: Option<String>,
    pub(crate) plural: String,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
    /// `/watch/` stands before it.
    pub(crate) old_watch: bool,
}

impl Route {
    pub(crate) fn of(method: &Method, path: &str, query: &str) -> Self {
        let segments: Vec<String> = path
            .split('/')
            .filter(|segment| !segment.is_empty())
            .map(decode)
            .collect();
        let query = parse_query(query);
        let about = about(&segments);
        let verb = match &about {
            Some(about) => verb(method, about, &query),
            None if is_discovery(&segments) && *method == Method::GET => Verb::Discovery,
            None => Verb::Other,
        };
        Self {
            path: path.to_owned(),
            segments,
            query,
            verb,
            about,
        }
    }

    pub(crate) fn param(&self, name: &str) -> &str {
        self.query.get(name).map_or("", String::as_str)
    }
}

fn is_discovery(segments: &[String]) -> bool {
    let first = segments.first().map_or("", String::as_str);
    matches!(
        first,
        "api" | "apis" | "version" | "healthz" | "livez" | "readyz" | "openapi"
    )
}

/// `/api/v1/…` or `/apis/GROUP/VERSION/…`, then `[namespaces/NS/]PLURAL[/NAME[/SUBRESOURCE]]`.
fn about(segments: &[String]) -> Option<About> {
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let (group, version, rest) = match segments.as_slice() {
        ["api", version, rest @ ..] => ("", *version, rest),
        ["apis", group, version, rest @ ..] => (*group, *version, rest),
        _ => return None,
    };
    // The old way to ask for a watch.
    let (old_watch, rest) = match rest {
        ["watch", rest @ ..] => (true, rest),
        _ => (false, rest),
    };
    // `namespaces/NS` and its subresources are about the namespace itself.
    let (namespace, rest) = match rest {
        ["namespaces", namespace, plural, ..] if !matches!(*plural, "status" | "finalize") => {
            (Some((*namespace).to_owned()), &rest[2..])
        }
        _ => (None, rest),
    };
    let mut rest = rest.iter().map(|it| (*it).to_owned());
    let about = About {
        group: group.to_owned(),
        version: version.to_owned(),
        namespace,
        plural: rest.next()?,
        name: rest.next(),
        subresource: rest.next(),
        old_watch,
    };
    rest.next().is_none().then_some(about)
}

fn verb(method: &Method, about: &About, query: &BTreeMap<String, String>) -> Verb {
    let is_true = |name: &str| query.get(name).is_some_and(|value| is_true(value));
    match (method.as_str(), about.name.is_some()) {
        // With a name, `watch` is not looked at (apiserver `request.RequestInfoFactory`), but for the old way.
        ("GET", named) if about.old_watch || (is_true("watch") && !named) => {
            if is_true("sendInitialEvents") {
                Verb::StreamingList
            } else {
                Verb::Watch
            }
        }
        ("GET", true) => Verb::Get,
        ("GET", false) => Verb::List,
        ("POST", false) => Verb::Create,
        ("PUT", true) => Verb::Update,
        ("PATCH", true) => Verb::Patch,
        ("DELETE", true) => Verb::Delete,
        ("DELETE", false) => Verb::DeleteCollection,
        _ => Verb::Other,
    }
}

/// A boolean of a query: anything but `false` and `0` (apimachinery `Convert_Slice_string_To_bool`).
pub(crate) fn is_true(value: &str) -> bool {
    !matches!(value, "0") && !value.eq_ignore_ascii_case("false")
}

fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The parameters of a query, decoded. Of a name that comes twice the first counts.
pub(crate) fn parse_query(query: &str) -> BTreeMap<String, String> {
    let mut parameters = BTreeMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let plain = |text: &str| decode(&text.replace('+', " "));
        parameters.entry(plain(name)).or_insert_with(|| plain(value));
    }
    parameters
}
