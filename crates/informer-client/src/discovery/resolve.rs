//! From what people call a kind to the kind.

use super::{ApiResource, Discovery, UnknownResource, near};

pub(super) fn resolve<'a>(discovery: &'a Discovery, name: &str) -> Result<&'a ApiResource, UnknownResource> {
    let asked = name.trim().to_lowercase();
    for reading in readings(&asked) {
        if let Some(found) = find(discovery, &reading) {
            return Ok(found);
        }
    }
    let (word, group) = asked.split_once('.').unwrap_or((&asked, ""));
    let failures = discovery.failures.iter();
    Err(UnknownResource {
        name: name.to_owned(),
        near: near::names(discovery.kinds(), word),
        failures: failures
            .filter(|(failed, _)| group.is_empty() || group.ends_with(&**failed))
            .cloned()
            .collect(),
    })
}

/// One way to read a name.
struct Reading<'a> {
    word: &'a str,
    version: Option<&'a str>,
    group: Option<&'a str>,
}

/// A name with two dots may hold a version, or a group with a dot: both are tried, the version first (apimachinery `ParseResourceArg`).
fn readings(name: &str) -> Vec<Reading<'_>> {
    let mut readings = Vec::with_capacity(2);
    let mut parts = name.splitn(3, '.');
    if let (Some(word), Some(version), Some(group)) = (parts.next(), parts.next(), parts.next()) {
        readings.push(Reading {
            word,
            version: Some(version),
            group: Some(group),
        });
    }
    let (word, group) = match name.split_once('.') {
        Some((word, group)) => (word, Some(group)),
        None => (name, None),
    };
    readings.push(Reading {
        word,
        version: None,
        group,
    });
    readings
}

/// Ways to be called a word, the strongest first. A short name never hides the plural of another kind (client-go `shortcutExpander`).
const NAMES: [fn(&ApiResource, &str) -> bool; 4] = [
    |kind, word| *kind.resource.plural == *word,
    |kind, word| kind.singular == word,
    |kind, word| kind.short_names.iter().any(|name| name == word),
    |kind, word| kind.resource.kind.eq_ignore_ascii_case(word),
];

fn find<'a>(discovery: &'a Discovery, reading: &Reading<'_>) -> Option<&'a ApiResource> {
    let is_candidate = |kind: &&ApiResource| {
        reading.group.is_none_or(|group| *kind.resource.group == *group)
            && reading
                .version
                .is_none_or(|version| *kind.resource.version == *version)
    };
    NAMES.iter().find_map(|is_called| {
        discovery
            .kinds()
            .iter()
            .filter(is_candidate)
            .find(|kind| is_called(kind, reading.word))
    })
}
