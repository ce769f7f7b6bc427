//! What a table is made of (apimachinery `meta/v1.Table`).

use std::{borrow::Cow, sync::Arc};

use informer_core::{DecodeError, Decoded, ResourceVersion};
use serde::Deserialize;
use serde_json::Value;

/// A table.
#[derive(Debug)]
#[non_exhaustive]
pub struct Table<K> {
    /// The columns; none where the server knows no tables.
    pub columns: Arc<[TableColumn]>,
    /// The rows, in the order of the server, with the identity of their objects.
    pub rows: Vec<Decoded<TableRow<K>>>,
    /// Those that could not be decoded.
    pub unreadable: Vec<DecodeError>,
    /// The version of the list or the object; empty where the server gave none.
    pub version: ResourceVersion,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct TableColumn {
    /// The title. People are shown it in capitals.
    pub name: String,
    /// What the cells are, by OpenAPI: `string`, `integer`, `date`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// What modifies that: `name` for the column that names the object.
    pub format: String,
    /// What it tells.
    pub description: String,
    /// Zero for a column that is always shown; the greater, the more room there has to be (`kubectl get -o wide` shows all).
    pub priority: i32,
}

impl TableColumn {
    /// A column that is always shown.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind: kind.into(),
            ..Self::default()
        }
    }

    /// The same, with a format.
    #[must_use]
    pub fn format(mut self, format: impl Into<String>) -> Self {
        self.format = format.into();
        self
    }

    /// It is shown only where there is room (cli-runtime `printers.printTable`).
    #[must_use]
    pub fn is_wide(&self) -> bool {
        self.priority != 0
    }

    /// Its cells are the name of the object.
    #[must_use]
    pub fn is_name(&self) -> bool {
        self.format == "name"
    }
}

/// A row: what the server shows of one object, and the object in the form that was asked for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TableRow<K> {
    /// The columns of the cells. All rows of a source share them until the server names others.
    pub columns: Arc<[TableColumn]>,
    /// One for each column.
    pub cells: Box<[Value]>,
    /// What is to be known of the row as a whole: `Completed`.
    pub conditions: Box<[RowCondition]>,
    /// The object.
    pub object: K,
}

impl<K> TableRow<K> {
    /// The server knows no tables and sent the object alone.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.columns.is_empty() && self.cells.is_empty()
    }

    /// The cell of the column of this name, in any case of its letters.
    #[must_use]
    pub fn cell(&self, column: &str) -> Option<&Value> {
        let at = self
            .columns
            .iter()
            .position(|it| it.name.eq_ignore_ascii_case(column))?;
        self.cells.get(at)
    }

    /// The cells as kubectl prints them: see [`cell_text`](Self::cell_text).
    pub fn texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.cells.iter().map(Self::cell_text)
    }

    /// A cell as kubectl prints it: nothing for null, a text up to its first line break, anything else as Go does.
    #[must_use]
    pub fn cell_text(cell: &Value) -> Cow<'_, str> {
        match cell {
            Value::Null => Cow::Borrowed(""),
            Value::String(text) => match text.find(['\n', '\r', '\u{c}']) {
                Some(end) => Cow::Owned(format!("{}...", &text[..end])),
                None => Cow::Borrowed(text),
            },
            other => Cow::Owned(go(other)),
        }
    }

    /// The same row of another form of object.
    pub fn map<L>(self, f: impl FnOnce(K) -> L) -> TableRow<L> {
        TableRow {
            columns: self.columns,
            cells: self.cells,
            conditions: self.conditions,
            object: f(self.object),
        }
    }
}

/// As Go's `fmt.Sprint` has it.
fn go(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(it) => it.to_string(),
        Value::Number(it) => it.to_string(),
        Value::String(it) => it.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(members) => {
            let mut members: Vec<String> = members
                .iter()
                .map(|(name, value)| format!("{name}:{}", go(value)))
                .collect();
            members.sort();
            format!("map[{}]", members.join(" "))
        }
    }
}

/// Something that is to be known of a row.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct RowCondition {
    /// What: `Completed`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// Why, in a word.
    pub reason: String,
    /// Why, in a sentence.
    pub message: String,
}
