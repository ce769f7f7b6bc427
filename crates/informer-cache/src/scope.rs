//! Which objects of a kind are cached: options, settled; and whether an object is among them.

use std::{collections::BTreeMap, time::Duration};

use informer_core::{Resource, Scope};
use informer_sharedinformer::LabelSelector;
use serde_json::Value;

use crate::{
    error::CacheError,
    fields::{self, Requirement},
    options::{PartOptions, Selecting},
    transform::AnyTransform,
};

/// The selectors of one namespace, or of all.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    pub(crate) labels: String,
    pub(crate) fields: String,
    pub(crate) transform: Option<AnyTransform>,
    pub(crate) sync_period: Option<Duration>,
    pub(crate) bookmarks: Option<bool>,
    parsed_labels: LabelSelector,
    parsed_fields: Vec<Requirement>,
}

/// What is cached of a kind.
#[derive(Debug, Clone)]
pub(crate) enum Covered {
    /// Every namespace, or a kind that has none.
    All(Part),
    /// These namespaces; those that are added later with the selectors of all. The empty name stands for all the others.
    Named {
        named: BTreeMap<String, Part>,
        later: Part,
    },
}

/// Whether an object is in what is cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selected {
    Yes,
    No,
    /// The selector is of a field that cannot be read of the object.
    Unknown,
}

impl Part {
    fn of(labels: Option<&String>, fields: Option<&String>) -> Result<Self, CacheError> {
        let text = |text: Option<&String>| text.cloned().unwrap_or_default();
        let (labels, fields) = (text(labels), text(fields));
        Ok(Self {
            parsed_labels: labels.parse().map_err(CacheError::selector)?,
            parsed_fields: fields::parse(&fields)?,
            labels,
            fields,
            transform: None,
            sync_period: None,
            bookmarks: None,
        })
    }

    /// The same, outside of these namespaces.
    fn outside<'a>(&self, named: impl Iterator<Item = &'a String>) -> Result<Self, CacheError> {
        let pins = named.map(|name| format!("metadata.namespace!={name}"));
        let fields = Some(self.fields.clone()).filter(|fields| !fields.is_empty());
        let all: Vec<String> = fields.into_iter().chain(pins).collect();
        Ok(Self {
            transform: self.transform.clone(),
            sync_period: self.sync_period,
            bookmarks: self.bookmarks,
            ..Self::of(Some(&self.labels), Some(&all.join(",")))?
        })
    }

    fn selects(&self, object: &Value) -> Selected {
        let labels = object.get("metadata").and_then(|metadata| metadata.get("labels"));
        if !self.parsed_labels.matches(|name| labels?.get(name)?.as_str()) {
            return Selected::No;
        }
        let mut all = Selected::Yes;
        for requirement in &self.parsed_fields {
            match fields::holds(requirement, object) {
                Some(true) => {}
                Some(false) => return Selected::No,
                None => all = Selected::Unknown,
            }
        }
        all
    }
}

/// Settles what a kind's options say with what is said by default.
pub(crate) fn settle(
    resource: &Resource,
    kind: &Selecting,
    default: &Selecting,
) -> Result<Covered, CacheError> {
    let in_context = |error: CacheError| CacheError::build(format!("{resource}: {error}"));
    let part = |of_kind: Option<&PartOptions>, by_default: Option<&PartOptions>| {
        let chain = [of_kind, Some(&kind.all), by_default, Some(&default.all)];
        let first = |get: fn(&PartOptions) -> Option<&String>| chain.iter().flatten().find_map(|it| get(it));
        let part = Part::of(first(|it| it.labels.as_ref()), first(|it| it.fields.as_ref()));
        let mut part = part.map_err(in_context)?;
        let chain = || chain.iter().flatten();
        part.transform = chain().find_map(|it| it.transform.clone());
        part.sync_period = chain().find_map(|it| it.sync_period);
        part.bookmarks = chain().find_map(|it| it.bookmarks);
        Ok::<Part, CacheError>(part)
    };
    if resource.scope == Scope::Cluster {
        if kind.namespaces.as_ref().is_some_and(|names| !names.is_empty()) {
            return Err(CacheError::build(format!(
                "{resource} live in no namespace, but some are named"
            )));
        }
        return Ok(Covered::All(part(None, None)?));
    }
    let names = kind.namespaces.as_ref().or(default.namespaces.as_ref());
    let names = names.filter(|names| !names.is_empty());
    let Some(names) = names else {
        let all = part(None, None)?;
        return Ok(match pinned(&all) {
            None => Covered::All(all),
            Some(namespace) => Covered::Named {
                named: [(namespace, all.clone())].into(),
                later: all,
            },
        });
    };
    let mut named = BTreeMap::new();
    for name in names.keys() {
        let of = |selecting: &'_ Selecting| {
            selecting
                .namespaces
                .as_ref()
                .and_then(|all| all.get(name).cloned())
        };
        named.insert(name.clone(), part(of(kind).as_ref(), of(default).as_ref())?);
    }
    if let Some(others) = named.remove("") {
        if named.is_empty() {
            return Ok(Covered::All(others));
        }
        let others = others.outside(named.keys()).map_err(in_context)?;
        named.insert(String::new(), others);
    }
    Ok(Covered::Named {
        named,
        later: part(None, None)?,
    })
}

/// A field selector that wants one namespace is a list of that namespace.
fn pinned(part: &Part) -> Option<String> {
    let mut pins = part.parsed_fields.iter();
    let pin = pins.find(|it| it.field == "metadata.namespace" && !it.unequal)?;
    Some(pin.value.clone())
}

impl Covered {
    /// The selectors of a namespace.
    pub(crate) fn part(&self, namespace: Option<&str>) -> &Part {
        match self {
            Self::All(part) => part,
            Self::Named { named, later } => {
                let of_it = namespace.and_then(|name| named.get(name));
                of_it.or_else(|| named.get("")).unwrap_or(later)
            }
        }
    }

    /// The namespaces that are named; one that is none for all.
    pub(crate) fn names(&self) -> impl Iterator<Item = Option<&str>> {
        let named = match self {
            Self::All(_) => None,
            Self::Named { named, .. } => Some(
                named
                    .keys()
                    .map(|name| Some(&**name).filter(|name| !name.is_empty())),
            ),
        };
        named.into_iter().flatten()
    }

    /// Whether any object is transformed.
    pub(crate) fn has_transform(&self) -> bool {
        match self {
            Self::All(part) => part.transform.is_some(),
            Self::Named { named, later } => {
                named.values().chain([later]).any(|part| part.transform.is_some())
            }
        }
    }

    /// Whether an object of a namespace that is cached is selected.
    pub(crate) fn selects(&self, namespace: Option<&str>, object: &Value) -> Selected {
        self.part(namespace).selects(object)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pods() -> Resource {
        Resource::namespaced("", "v1", "pods", "Pod")
    }

    fn of(kind: &Selecting, default: &Selecting, namespace: Option<&str>) -> (String, String) {
        let covered = settle(&pods(), kind, default).unwrap();
        let part = covered.part(namespace);
        (part.labels.clone(), part.fields.clone())
    }

    fn both(labels: &str, fields: &str) -> (String, String) {
        (labels.to_owned(), fields.to_owned())
    }

    #[test]
    fn t12_what_is_nearer_goes_first() {
        let default = Selecting::inherit()
            .labels("default=all")
            .fields("f=default")
            .namespace("a", PartOptions::inherit().labels("default=a"))
            .namespaces(["b"]);
        let none = Selecting::inherit();
        assert_eq!(of(&none, &default, Some("a")), both("default=a", "f=default"));
        assert_eq!(of(&none, &default, Some("b")), both("default=all", "f=default"));
        let kind = Selecting::inherit().labels("kind=all");
        assert_eq!(of(&kind, &default, Some("a")), both("kind=all", "f=default"));
        let kind = kind
            .namespace("a", PartOptions::inherit().labels("kind=a").fields(""))
            .namespaces(["c"]);
        assert_eq!(of(&kind, &default, Some("a")), both("kind=a", ""));
        assert_eq!(of(&kind, &default, Some("c")), both("kind=all", "f=default"));
        let covered = settle(&pods(), &kind, &default).unwrap();
        assert!(matches!(&covered, Covered::Named { named, .. } if named.keys().eq(["a", "c"])));
        let everywhere = settle(&pods(), &Selecting::inherit().every_namespace(), &default).unwrap();
        assert!(matches!(everywhere, Covered::All(_)));
    }

    /// Says one thing of a part.
    type Set = fn(PartOptions, u64, &[AnyTransform]) -> PartOptions;

    #[test]
    fn t12_each_option_is_inherited_by_itself() {
        let seconds = Duration::from_secs;
        let transforms: Vec<_> = (0..4).map(|_| AnyTransform::none()).collect();
        let sets: [Set; 5] = [
            |part, n, _| part.labels(format!("at={n}")),
            |part, n, _| part.fields(format!("at={n}")),
            |part, n, all| part.transform(all[n as usize].clone()),
            |part, n, _| part.sync_period(Duration::from_secs(n)),
            |part, n, _| part.bookmarks(n % 2 == 0),
        ];
        // Each option is said from a place on, farther from the namespace than the one before; the nearest has it.
        for (which, set) in sets.iter().enumerate() {
            for nearest in 0..4_u64 {
                let part = |n: u64| {
                    let part = PartOptions::inherit();
                    if n >= nearest {
                        set(part, n, &transforms)
                    } else {
                        part
                    }
                };
                let kind = Selecting::inherit().everywhere(part(1)).namespace("a", part(0));
                let default = Selecting::inherit().everywhere(part(3)).namespace("a", part(2));
                let covered = settle(&pods(), &kind, &default).unwrap();
                let found = covered.part(Some("a"));
                let at = |wanted: usize, value: String| if which == wanted { value } else { String::new() };
                assert_eq!(found.labels, at(0, format!("at={nearest}")), "{nearest}");
                assert_eq!(found.fields, at(1, format!("at={nearest}")), "{nearest}");
                let transform = (which == 2).then(|| transforms[nearest as usize].clone());
                assert_eq!(found.transform, transform, "{nearest}");
                assert_eq!(
                    found.sync_period,
                    (which == 3).then(|| seconds(nearest)),
                    "{nearest}"
                );
                assert_eq!(
                    found.bookmarks,
                    (which == 4).then_some(nearest % 2 == 0),
                    "{nearest}"
                );
            }
        }
    }

    #[test]
    fn t12_cluster_wide_kinds_have_no_namespaces() {
        let nodes = Resource::cluster("", "v1", "nodes", "Node");
        let default = Selecting::inherit().namespaces(["a"]).labels("x=y");
        let covered = settle(&nodes, &Selecting::inherit(), &default).unwrap();
        assert!(matches!(covered, Covered::All(part) if part.labels == "x=y"));
        let error = settle(&nodes, &default, &Selecting::inherit()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "nodes live in no namespace, but some are named"
        );
        let error = settle(&pods(), &Selecting::inherit().labels("a=b=c"), &default).unwrap_err();
        assert!(error.to_string().starts_with("pods: bad requirement"), "{error}");
    }

    #[test]
    fn t13_all_namespaces_beside_named_ones_are_the_others() {
        let none = Selecting::inherit();
        let kind = Selecting::inherit()
            .labels("kind=all")
            .fields("metadata.name!=x")
            .namespace("b", PartOptions::inherit().labels("kind=b").fields(""))
            .namespaces(["", "a"]);
        assert_eq!(
            of(&kind, &none, None),
            both(
                "kind=all",
                "metadata.name!=x,metadata.namespace!=a,metadata.namespace!=b"
            )
        );
        assert_eq!(of(&kind, &none, Some("elsewhere")), of(&kind, &none, None));
        assert_eq!(of(&kind, &none, Some("a")), both("kind=all", "metadata.name!=x"));
        assert_eq!(of(&kind, &none, Some("b")), both("kind=b", ""));
        // As it may be inherited.
        let default = Selecting::inherit().namespaces(["", "a"]);
        assert_eq!(of(&none, &default, Some("c")), both("", "metadata.namespace!=a"));
        // With all that is said of them.
        let transform = AnyTransform::none();
        let said = PartOptions::inherit()
            .transform(transform.clone())
            .bookmarks(false);
        let said = Selecting::inherit().everywhere(said.sync_period(Duration::from_secs(7)));
        let covered = settle(&pods(), &said.namespaces(["", "a"]), &none).unwrap();
        let others = covered.part(Some("elsewhere"));
        assert_eq!(others.transform, Some(transform));
        assert_eq!(
            (others.sync_period, others.bookmarks),
            (Some(Duration::from_secs(7)), Some(false))
        );
        // Alone it is every namespace.
        let alone = Selecting::inherit().namespace("", PartOptions::inherit().labels("kind=all"));
        let covered = settle(&pods(), &alone, &none).unwrap();
        assert!(matches!(covered, Covered::All(part) if part.labels == "kind=all"));
    }

    #[test]
    fn a_pinned_namespace_is_the_only_one() {
        let kind = Selecting::inherit().fields("metadata.namespace=a,metadata.name!=x");
        let covered = settle(&pods(), &kind, &Selecting::inherit()).unwrap();
        assert!(matches!(&covered, Covered::Named { named, .. } if named.keys().eq(["a"])));
    }

    #[test]
    fn objects_are_held_against_the_selectors() {
        let kind = Selecting::inherit().labels("app=web").fields("spec.nodeName=n1");
        let covered = settle(&pods(), &kind, &Selecting::inherit()).unwrap();
        let pod = |app: &str, node: Value| json!({"metadata": {"labels": {"app": app}}, "spec": {"nodeName": node}});
        assert_eq!(covered.selects(None, &pod("web", "n1".into())), Selected::Yes);
        assert_eq!(covered.selects(None, &pod("db", "n1".into())), Selected::No);
        assert_eq!(covered.selects(None, &pod("web", "n2".into())), Selected::No);
        assert_eq!(covered.selects(None, &pod("web", json!([]))), Selected::Unknown);
    }
}
