//! Lists: which state a version asks for, pages, and what is refused.

use std::{ops::Bound, sync::Arc};

use serde_json::Value;

use super::{
    ApiError, Cause, FakeApi, Kind, Target, render,
    selector::{FieldSelector, Filter, LabelSelector},
    table::Stored,
    token::Token,
};

/// What a list is asked with. All text is as in the query of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListOptions {
    /// Of one namespace; of all when there is none.
    pub namespace: Option<String>,
    /// `labelSelector`.
    pub labels: String,
    /// `fieldSelector`.
    pub fields: String,
    /// `resourceVersion`.
    pub version: String,
    /// `resourceVersionMatch`.
    pub version_match: String,
    /// `limit`; 0 is none.
    pub limit: u64,
    /// `continue`.
    pub token: String,
    /// `sendInitialEvents`, which a list refuses.
    pub initial_events: Option<bool>,
}

impl ListOptions {
    /// The options for one namespace.
    #[must_use]
    pub fn in_namespace(namespace: &str) -> Self {
        Self {
            namespace: Some(namespace.to_owned()),
            ..Self::default()
        }
    }

    /// With this label selector.
    #[must_use]
    pub fn labels(mut self, selector: &str) -> Self {
        selector.clone_into(&mut self.labels);
        self
    }

    /// With this field selector.
    #[must_use]
    pub fn fields(mut self, selector: &str) -> Self {
        selector.clone_into(&mut self.fields);
        self
    }

    /// At this version.
    #[must_use]
    pub fn at(mut self, version: impl ToString) -> Self {
        self.version = version.to_string();
        self
    }

    /// With this `resourceVersionMatch`.
    #[must_use]
    pub fn matching(mut self, version_match: &str) -> Self {
        version_match.clone_into(&mut self.version_match);
        self
    }

    /// In pages of this size.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = limit;
        self
    }

    /// The page that this token names.
    #[must_use]
    pub fn page(mut self, token: &str) -> Self {
        token.clone_into(&mut self.token);
        self
    }
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ObjectList {
    /// The objects, in the order of namespace and name.
    pub items: Vec<Value>,
    /// The version of the list.
    pub version: String,
    /// Where the next page begins.
    pub token: Option<String>,
    /// How many objects the next pages hold, where that is known.
    pub remaining: Option<u64>,
}

/// Why a list brought nothing.
#[derive(Debug)]
pub(crate) enum ListFailure {
    Refused(ApiError),
    /// The version is not there yet; waiting may help.
    TooLarge {
        wanted: u64,
        current: u64,
    },
}

impl From<ApiError> for ListFailure {
    fn from(error: ApiError) -> Self {
        Self::Refused(error)
    }
}

impl ListFailure {
    pub(crate) fn into_error(self) -> ApiError {
        match self {
            Self::Refused(error) => error,
            Self::TooLarge { wanted, current } => ApiError::version_too_large(wanted, current),
        }
    }
}

/// A page of kept objects.
pub(crate) struct Page {
    pub(crate) items: Vec<Arc<Stored>>,
    pub(crate) version: u64,
    pub(crate) token: Option<String>,
    pub(crate) remaining: Option<u64>,
}

/// A list that was read and found sound.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    pub(crate) filter: Filter,
    limit: u64,
    state: State,
}

/// Which state is asked for (apiserver `storage.ValidateListOptions` and `delegator.ShouldDelegateList`).
#[derive(Debug, Clone)]
enum State {
    /// The most recent one.
    Latest,
    /// Whatever is at hand.
    Any,
    NotOlderThan(u64),
    Exact(u64),
    Page(Token),
}

impl Query {
    pub(crate) fn read(target: &Target, kind: &Kind, options: &ListOptions) -> Result<Self, ApiError> {
        check_match(options)?;
        let filter = filter(target, kind, &options.labels, &options.fields)?;
        let version = parse_version(&options.version)?;
        let state = if options.token.is_empty() {
            match (options.version_match.as_str(), version) {
                ("Exact", version) => State::Exact(version),
                ("NotOlderThan", 0) => State::Any,
                ("NotOlderThan", version) => State::NotOlderThan(version),
                (_, 0) if options.version.is_empty() => State::Latest,
                (_, 0) => State::Any,
                // Pages of one version are of exactly that version, for want of another way to keep them consistent.
                (_, version) if options.limit > 0 => State::Exact(version),
                (_, version) => State::NotOlderThan(version),
            }
        } else {
            let token = Token::decode(&options.token)?;
            if version > 0 {
                return Err(ApiError::bad_request(
                    "specifying resource version is not allowed when using continue",
                ));
            }
            State::Page(token)
        };
        // The watch cache serves "any" whole (apiserver `computeListLimit`).
        let limit = if options.version == "0" { 0 } else { options.limit };
        Ok(Self { filter, limit, state })
    }

    /// Runs it on a server whose reads have come as far as `view`.
    pub(crate) fn run(&self, kind: &Kind, revision: u64, view: u64) -> Result<Page, ListFailure> {
        let prefix = self
            .filter
            .namespace
            .as_ref()
            .map_or_else(String::new, |it| format!("{it}/"));
        let (at, start) = match &self.state {
            State::Latest => (revision, None),
            State::Any => (view, None),
            State::NotOlderThan(wanted) if *wanted > view => {
                return Err(ListFailure::TooLarge {
                    wanted: *wanted,
                    current: view,
                });
            }
            State::NotOlderThan(_) => (view, None),
            State::Exact(wanted) => {
                self.check_exact(kind, *wanted, view, None)?;
                (*wanted, None)
            }
            State::Page(token) => {
                let at = token.revision.unwrap_or(revision);
                self.check_exact(kind, at, revision, Some(token))?;
                (at, Some(token.start.as_str()))
            }
        };
        Ok(self.page(kind, &prefix, at, (at < revision).then_some(at), start))
    }

    fn check_exact(
        &self,
        kind: &Kind,
        wanted: u64,
        current: u64,
        token: Option<&Token>,
    ) -> Result<(), ListFailure> {
        if wanted > current {
            return Err(ListFailure::TooLarge { wanted, current });
        }
        if wanted >= kind.table.exact_floor() {
            return Ok(());
        }
        Err(match token {
            None => ApiError::expired("The resourceVersion for the provided list is too old."),
            Some(token) => {
                let fresh = Token {
                    revision: None,
                    start: token.start.clone(),
                };
                ApiError::expired(INCONSISTENT_CONTINUE).with_token(fresh.encode())
            }
        }
        .into())
    }

    fn page(&self, kind: &Kind, prefix: &str, version: u64, at: Option<u64>, start: Option<&str>) -> Page {
        let from = start.map(|start| format!("{prefix}{start}"));
        let from = from.as_deref().map_or(Bound::Included(prefix), Bound::Included);
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let mut items = Vec::new();
        let mut candidates = kind.table.scan(prefix, from, at);
        let mut more = false;
        let mut n_left = 0_u64;
        for stored in candidates.by_ref() {
            if limit > 0 && items.len() >= limit {
                // Objects that the selector refuses count as "more", as in the server, which has not looked at them.
                more = true;
                n_left = 1;
                break;
            }
            if self.filter.matches(stored) {
                items.push(stored.clone());
            }
        }
        let mut page = Page {
            version,
            token: None,
            remaining: None,
            items,
        };
        if let (true, Some(last)) = (more, page.items.last()) {
            let last = last.key.strip_prefix(prefix).unwrap_or(&last.key);
            page.token = Some(Token::after(last, Some(version)).encode());
            if self.filter.selects_all() {
                n_left += candidates.count() as u64;
                page.remaining = Some(n_left);
            }
        }
        page
    }
}

/// apiserver `etcd3.inconsistentContinue`, in short.
const INCONSISTENT_CONTINUE: &str = "The provided continue parameter is too old to display a consistent list result. You can start a new \
    list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing \
    with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first \
    chunk was returned and now may show up in the list.";

/// `resourceVersionMatch` (apimachinery `internalversion/validation.ValidateListOptions`).
fn check_match(options: &ListOptions) -> Result<(), ApiError> {
    let mut causes = Vec::new();
    let field = "resourceVersionMatch";
    if !options.version_match.is_empty() {
        if options.version.is_empty() {
            causes.push(Cause::forbidden(
                field,
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            ));
        }
        if !options.token.is_empty() {
            causes.push(Cause::forbidden(
                field,
                "resourceVersionMatch is forbidden when continue is provided",
            ));
        }
        match options.version_match.as_str() {
            "Exact" if options.version == "0" => causes.push(Cause::forbidden(
                field,
                "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
            )),
            "Exact" | "NotOlderThan" => {}
            other => causes.push(unsupported_match(other, "\"Exact\", \"NotOlderThan\", \"\"")),
        }
    }
    if options.initial_events.is_some() {
        causes.push(Cause::forbidden(
            "sendInitialEvents",
            "sendInitialEvents is forbidden for list",
        ));
    }
    if causes.is_empty() {
        Ok(())
    } else {
        Err(ApiError::invalid("meta.k8s.io", "ListOptions", "", causes))
    }
}

pub(super) fn unsupported_match(value: &str, supported: &str) -> Cause {
    Cause::new(
        "FieldValueNotSupported",
        "resourceVersionMatch",
        format!("Unsupported value: {value:?}: supported values: {supported}"),
    )
}

/// A version as the server reads it: empty and `0` are 0.
pub(super) fn parse_version(text: &str) -> Result<u64, ApiError> {
    match text {
        "" => Ok(0),
        text => text.parse().map_err(|_| {
            ApiError::bad_request(format!(
                "invalid resource version: resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"
            ))
        }),
    }
}

pub(super) fn filter(target: &Target, kind: &Kind, labels: &str, fields: &str) -> Result<Filter, ApiError> {
    let bad = |error: super::SelectorError| ApiError::bad_request(error.to_string());
    let labels: LabelSelector = labels.parse().map_err(bad)?;
    let fields: FieldSelector = fields.parse().map_err(bad)?;
    let namespace = target
        .namespace
        .clone()
        .or_else(|| fields.required("metadata.namespace").map(str::to_owned))
        .filter(|_| target.is_namespaced());
    Ok(Filter {
        namespace,
        labels,
        fields: fields
            .resolve(target.is_namespaced(), &target.def, &kind.selectable)
            .map_err(bad)?,
    })
}

impl FakeApi {
    /// A list, as a client gets it: one page, or everything.
    ///
    /// # Errors
    /// As the server refuses: an unknown kind, a bad selector, an expired or a too large version, a bad token.
    pub fn list(
        &self,
        resource: &informer_core::Resource,
        options: &ListOptions,
    ) -> Result<ObjectList, ApiError> {
        let target = self.kinds.target(resource, options.namespace.as_deref())?;
        let kind = self.kind_of(&target)?;
        let query = Query::read(&target, kind, options)?;
        let page = query
            .run(kind, self.revision, self.revision)
            .map_err(ListFailure::into_error)?;
        Ok(ObjectList {
            items: page
                .items
                .iter()
                .map(|stored| render::value(&target.def, stored))
                .collect(),
            version: page.version.to_string(),
            token: page.token,
            remaining: page.remaining,
        })
    }

    pub(crate) fn kind_of(&self, target: &Target) -> Result<&Kind, ApiError> {
        self.kinds
            .get(&target.key)
            .ok_or_else(|| ApiError::not_found(target.resource(), ""))
    }
}
