//! What a script brought, without what cannot be the same on two servers: versions become labels that say where they were told first, uids,
//! generated names and times become words.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    script::{Action, Script},
    server::Record,
};

pub(super) struct Transcript {
    pub(super) steps: Vec<Step>,
}

pub(super) struct Step {
    pub(super) title: String,
    /// By JSON pointer; `status` is the HTTP status, `type` the content type.
    pub(super) fields: BTreeMap<String, String>,
}

impl Step {
    fn field(&self, field: &str) -> &str {
        self.fields.get(field).map_or("", |it| it.trim_end())
    }

    /// The HTTP status, and the kind of what was answered.
    pub(super) fn answer(&self) -> (&str, &str) {
        (self.field("status"), self.field("/kind"))
    }

    pub(super) fn summary(&self) -> String {
        let parts = [
            "status",
            "/kind",
            "/reason",
            "/message",
            "",
            "/metadata/resourceVersion",
        ];
        let parts: Vec<&str> = parts
            .iter()
            .map(|it| self.field(it))
            .filter(|it| !it.is_empty())
            .collect();
        parts.join(", ")
    }
}

impl Transcript {
    pub(super) fn of(script: &Script, records: &[Record]) -> Self {
        let mut labels = Labels::default();
        for (index, record) in records.iter().enumerate() {
            record.documents.iter().for_each(|it| labels.learn(index, it));
        }
        let mut steps = Vec::new();
        for (step, record) in script.steps.iter().zip(records) {
            let mut fields = BTreeMap::new();
            if matches!(step.action, Action::Send(_) | Action::End(_)) {
                fields.insert("status".to_owned(), record.status.to_string());
                fields.insert("type".to_owned(), record.content_type.clone());
            }
            if matches!(step.action, Action::Wait(..)) {
                fields.insert("status".to_owned(), record.status.to_string());
            }
            let ended = match &step.action {
                Action::End(_) => true,
                Action::Send(request) => request.path.contains("watch=") && record.documents.len() != 1,
                _ => false,
            };
            if let Action::End(name) = &step.action
                && script.is_long(name)
            {
                let last = record.documents.iter().rev().find(|it| is_heartbeat(it));
                let told = last.map_or("none", |it| text(it, "/object/metadata/resourceVersion"));
                fields.insert("bookmark".to_owned(), labels.since(told));
            }
            let documents = record.documents.iter().filter(|it| !is_heartbeat(it));
            for (index, document) in documents.enumerate() {
                let root = if ended { format!("/{index}") } else { String::new() };
                labels.flatten(root, document, &mut fields);
            }
            if !step.show.is_empty() {
                fields.retain(|field, _| {
                    !field.starts_with('/') || step.show.iter().any(|it| shown(it, field, ended))
                });
            }
            steps.push(Step {
                title: step.title.clone(),
                fields,
            });
        }
        steps.push(Step {
            title: "in the end".to_owned(),
            fields: labels.order(),
        });
        Self { steps }
    }
}

/// Whether a field is at or below a pointer; of a watch, below that of each event.
fn shown(pointer: &str, field: &str, events: bool) -> bool {
    let field = match field.get(1..).and_then(|it| it.find('/')) {
        Some(at) if events => &field[at + 1..],
        _ => field,
    };
    field
        .strip_prefix(pointer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[derive(Default)]
struct Labels {
    /// Versions of objects, in numeric order.
    versions: BTreeMap<u64, String>,
    n_in_step: BTreeMap<usize, usize>,
    uids: BTreeMap<String, String>,
    /// Generated names, and what stands for them.
    names: BTreeSet<(String, String)>,
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or("")
}

fn is_bookmark(value: &Value) -> bool {
    text(value, "/type") == "BOOKMARK"
}

/// A bookmark that ends no initial events: when one comes is a matter of time, so that only the last of a long watch is told.
fn is_heartbeat(value: &Value) -> bool {
    is_bookmark(value)
        && text(value, "/object/kind") != "Table"
        && value.pointer("/object/metadata/annotations").is_none()
}

impl Labels {
    fn learn(&mut self, step: usize, value: &Value) {
        if let Value::Array(items) = value {
            return items.iter().for_each(|item| self.learn(step, item));
        }
        let Value::Object(fields) = value else { return };
        if is_bookmark(value) {
            return;
        }
        if fields.contains_key("metadata") && !fields.contains_key("items") {
            if let Ok(version) = text(value, "/metadata/resourceVersion").parse()
                && !self.versions.contains_key(&version)
            {
                let n = self.n_in_step.entry(step).or_default();
                self.versions.insert(version, format!("<version {step}.{n}>"));
                *n += 1;
            }
            let uid = text(value, "/metadata/uid");
            if !uid.is_empty() && !self.uids.contains_key(uid) {
                self.uids
                    .insert(uid.to_owned(), format!("<uid {}>", self.uids.len()));
            }
            let (name, prefix) = (
                text(value, "/metadata/name"),
                text(value, "/metadata/generateName"),
            );
            if !prefix.is_empty() && name.strip_prefix(prefix).is_some_and(|it| it.len() == 5) {
                self.names.insert((name.to_owned(), format!("{prefix}<five>")));
            }
        }
        fields.values().for_each(|field| self.learn(step, field));
    }

    /// In which order the versions came about.
    fn order(&self) -> BTreeMap<String, String> {
        let pairs = self.versions.values().zip(self.versions.values().skip(1));
        pairs
            .map(|(before, after)| (format!("after {before}"), after.clone()))
            .collect()
    }

    fn flatten(&self, at: String, value: &Value, out: &mut BTreeMap<String, String>) {
        match value {
            Value::Object(fields) if fields.is_empty() => drop(out.insert(at, "{}".to_owned())),
            Value::Array(items) if items.is_empty() => drop(out.insert(at, "[]".to_owned())),
            Value::Object(fields) => {
                // What kind of version it is depends on what holds it.
                let loose = fields.contains_key("items") || is_bookmark(value);
                for (name, field) in fields {
                    // Escaped as in a JSON pointer.
                    let at = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                    match (name.as_str(), field) {
                        ("managedFields", _) => {}
                        // Of a column.
                        ("description", _) if fields.contains_key("priority") => {}
                        ("metadata" | "object", Value::Object(inner)) if loose => {
                            self.flatten_loose(at, inner, out);
                        }
                        ("continue", Value::String(token)) => drop(out.insert(at, self.token(token))),
                        _ => self.flatten(at, field, out),
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.flatten(format!("{at}/{index}"), item, out);
                }
            }
            Value::String(text) => drop(out.insert(at, self.text(text))),
            other => drop(out.insert(at, other.to_string())),
        }
    }

    /// The metadata of a list or a bookmark: its version may be newer than the newest object's, since other things change as well.
    fn flatten_loose(
        &self,
        at: String,
        fields: &serde_json::Map<String, Value>,
        out: &mut BTreeMap<String, String>,
    ) {
        for (name, field) in fields {
            let at = format!("{at}/{name}");
            match (name.as_str(), field) {
                ("resourceVersion", Value::String(version)) => drop(out.insert(at, self.since(version))),
                ("metadata" | "object", Value::Object(inner)) => self.flatten_loose(at, inner, out),
                // A bookmark among tables is a table.
                ("rows", Value::Array(rows)) => {
                    for (index, row) in rows.iter().enumerate() {
                        match row {
                            Value::Object(row) => self.flatten_loose(format!("{at}/{index}"), row, out),
                            other => self.flatten(format!("{at}/{index}"), other, out),
                        }
                    }
                }
                ("continue", Value::String(token)) => drop(out.insert(at, self.token(token))),
                _ => self.flatten(at, field, out),
            }
        }
    }

    fn since(&self, version: &str) -> String {
        let version = version.parse().unwrap_or(0);
        match self.versions.range(..=version).next_back() {
            Some((_, label)) => format!("since {label}"),
            None => "before all".to_owned(),
        }
    }

    /// What a continue token says: a version and a key.
    fn token(&self, token: &str) -> String {
        use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
        let decoded = URL_SAFE_NO_PAD
            .decode(token.trim_end_matches('='))
            .unwrap_or_default();
        let token: Value = serde_json::from_slice(&decoded).unwrap_or_default();
        let version = match token["rv"].as_i64() {
            Some(version) if version > 0 => self.since(&version.to_string()),
            other => format!("{other:?}"),
        };
        // Keys of custom resources have a slash more.
        let start = token["start"].as_str().unwrap_or_default();
        format!("{version}, from {:?}", start.trim_start_matches('/'))
    }

    fn text(&self, text: &str) -> String {
        if let Some(label) = text
            .parse()
            .ok()
            .and_then(|version: u64| self.versions.get(&version))
        {
            return label.clone();
        }
        let mut plain = text.to_owned();
        for (uid, label) in &self.uids {
            plain = plain.replace(uid, label);
        }
        for (name, label) in &self.names {
            plain = plain.replace(name, label);
        }
        without_times_and_numbers(&plain)
    }
}

/// As `12s` or `3d4h`.
fn is_age(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| "smhdy".contains(c))
        && text.chars().all(|c| c.is_ascii_digit() || "smhdy".contains(c))
}

/// Times become `<time>`, ages `<age>`; in sentences, numbers of at least three digits become `<n>`.
fn without_times_and_numbers(text: &str) -> String {
    let bytes = text.as_bytes();
    let is_time = bytes.len() >= 20 && bytes.ends_with(b"Z") && bytes[4] == b'-' && bytes[10] == b'T';
    if is_time {
        return "<time>".to_owned();
    }
    if !text.contains(' ') {
        return if is_age(text) { "<age>" } else { text }.to_owned();
    }
    let mut plain = String::new();
    let mut digits = String::new();
    for c in text.chars().chain(['\0']) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        if digits.len() >= 3 {
            plain.push_str("<n>");
        } else {
            plain.push_str(&digits);
        }
        digits.clear();
        if c != '\0' {
            plain.push(c);
        }
    }
    plain
}
