//! The form of object that the program caches: the cells of a row, and the whole as text only where it will be printed.

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use informer::client::{TableColumn, TableRow};
use informer::contracts::{DecodeError, Decoded, ObjectKey, Resource};
use informer::sharedinformer::SharedInformer;
use informer::transport::{Codec, DynamicCodec, DynamicObject};
use jiff::Timestamp;

use crate::{age, columns::Columns};

/// An informer of rows.
pub(crate) type Informer = SharedInformer<ObjectKey, Row>;

/// What is kept of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// All rows share them, until the server names others.
    pub(crate) columns: Arc<[TableColumn]>,
    /// One for each column, as they were written when they came.
    cells: Box<[Box<str>]>,
    /// Which of them go on growing, and since when.
    ages: Box<[(usize, Timestamp)]>,
    /// The object as JSON, where that is printed.
    pub(crate) json: Option<Box<str>>,
    created: Option<Timestamp>,
}

impl Row {
    fn new(
        columns: Arc<[TableColumn]>,
        cells: impl Iterator<Item = Box<str>>,
        created: Option<Timestamp>,
    ) -> Self {
        let cells: Box<[Box<str>]> = cells.collect();
        let now = Timestamp::now();
        let ages = columns.iter().zip(&cells).enumerate();
        let ages = ages
            .filter(|(_, (column, _))| is_age(column))
            .filter_map(|(at, (_, cell))| Some((at, age::since(cell, created, now)?)));
        Self {
            ages: ages.collect(),
            columns,
            cells,
            json: None,
            created,
        }
    }

    /// The row that a server made; where it made none, that of ours.
    pub(crate) fn of_table(row: TableRow<Self>) -> Self {
        if row.is_plain() {
            return row.object;
        }
        let cells = row.texts().map(|text| plain(&text));
        Self::new(row.columns.clone(), cells, row.object.created)
    }

    /// The cell of a column as it was written when it came; empty where there is none.
    pub(crate) fn written(&self, at: usize) -> &str {
        self.cells.get(at).map_or("", |cell| cell)
    }

    /// The cell of a column as it is by now: ages grow, although nobody tells of it.
    pub(crate) fn cell(&self, at: usize, now: Timestamp) -> Cow<'_, str> {
        match self.ages.iter().find(|(age, _)| *age == at) {
            Some((_, since)) => Cow::Owned(age::human(*since, now)),
            None => Cow::Borrowed(self.written(at)),
        }
    }
}

/// Whether cells of this column tell how long ago something was. Kinds that are built in name such columns so, custom ones give them a type.
fn is_age(column: &TableColumn) -> bool {
    let named = |name: &str| column.name.eq_ignore_ascii_case(name);
    column.kind == "date" || named("Age") || named("Last Seen") || named("First Seen")
}

/// A text that is safe to print: no byte of an object steers a terminal, or begins a line (cli-runtime `printers.WriteEscaped`).
fn plain(text: &str) -> Box<str> {
    if !text.contains(char::is_control) {
        return text.into();
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\u{1b}' => safe.push_str("^["),
            '\t' => safe.push(' '),
            c if c.is_control() => safe.extend(c.escape_default()),
            c => safe.push(c),
        }
    }
    safe.into()
}

/// Makes rows out of items, so that no more than a row of each is ever cached.
#[derive(Debug)]
pub(crate) struct RowCodec {
    objects: DynamicCodec,
    ours: Columns,
    columns: Arc<[TableColumn]>,
    keeps_json: bool,
}

impl RowCodec {
    pub(crate) fn new(resource: &Resource, keeps_json: bool) -> Self {
        let ours = Columns::of(resource);
        Self {
            objects: DynamicCodec::new(resource),
            columns: ours.of_table(),
            ours,
            keeps_json,
        }
    }

    /// What is shown where the server names no columns.
    pub(crate) fn columns(&self) -> Arc<[TableColumn]> {
        self.columns.clone()
    }
}

const PARTIAL: (&str, &str) = ("meta.k8s.io/v1", "PartialObjectMetadata");

impl Codec<Row> for RowCodec {
    fn media_type(&self) -> &'static str {
        Codec::<DynamicObject>::media_type(&self.objects)
    }

    /// With the rows of a table comes no more than metadata.
    fn envelope(&self) -> Option<(&'static str, &'static str)> {
        Some(PARTIAL)
    }

    fn decode(&self, item: Bytes) -> Result<Decoded<Row>, DecodeError> {
        let Decoded { identity, object } = self.objects.decode(item)?;
        let created: Option<Timestamp> = object
            .text("/metadata/creationTimestamp")
            .and_then(|text| text.parse().ok());
        let is_partial =
            object.text("/kind") == Some(PARTIAL.1) && object.text("/apiVersion") == Some(PARTIAL.0);
        let object = object.into_value();
        let mut cells = Vec::new();
        if !is_partial {
            let age = created.map_or_else(
                || "<unknown>".to_owned(),
                |created| age::human(created, Timestamp::now()),
            );
            cells.push(identity.name.to_string());
            cells.extend((self.ours.cells)(&object));
            cells.push(age);
        }
        let mut row = Row::new(
            self.columns.clone(),
            cells.iter().map(|cell| plain(cell)),
            created,
        );
        row.json = self.keeps_json.then(|| object.to_string().into());
        Ok(Decoded {
            identity,
            object: row,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config_maps() -> Resource {
        Resource::namespaced("", "v1", "configmaps", "ConfigMap")
    }

    fn decode(keeps_json: bool, item: &'static str) -> Row {
        let codec = RowCodec::new(&config_maps(), keeps_json);
        codec.decode(Bytes::from_static(item.as_bytes())).unwrap().object
    }

    #[test]
    fn row_of_a_list_item_is_printed_with_its_types() {
        let row = decode(
            true,
            r#"{"metadata":{"name":"a","namespace":"n","resourceVersion":"7","uid":"u",
            "managedFields":[{"manager":"m"}],"creationTimestamp":"1970-01-01T00:00:00Z"},"data":{"x":"1","y":"2"}}"#,
        );
        assert_eq!((row.written(0), row.written(1)), ("a", "2"));
        let later = Timestamp::from_second(90).unwrap();
        assert_eq!(row.cell(2, later), "90s", "it is so old by then");
        let json = row.json.unwrap();
        assert!(
            json.starts_with(r#"{"apiVersion":"v1","data":{"x":"1","y":"2"},"kind":"ConfigMap""#),
            "{json}"
        );
        assert!(!json.contains("managedFields"), "{json}");
    }

    #[test]
    fn nothing_but_cells_is_kept_of_a_row_that_is_not_printed() {
        let row = decode(false, r#"{"metadata":{"name":"a"}}"#);
        assert_eq!(row.json, None);
        assert_eq!(row.cell(2, Timestamp::UNIX_EPOCH), "<unknown>");
    }

    #[test]
    fn text_of_an_object_steers_no_terminal() {
        assert_eq!(&*plain("a\u{1b}[31mb\tc\u{7}"), "a^[[31mb c\\u{7}");
        assert_eq!(&*plain("ä b"), "ä b");
    }

    #[test]
    fn ages_are_columns_of_that_name_or_type() {
        let age = |name, kind| is_age(&TableColumn::new(name, kind));
        assert!(age("Age", "string") && age("LAST SEEN", "string") && age("Started", "date"));
        assert!(!age("Restarts", "string"));
    }
}
