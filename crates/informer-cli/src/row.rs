//! The form of object that the program caches: the cells of a row, and the whole as text only where it will be printed.

use bytes::Bytes;
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
    /// One for each column of the kind.
    pub(crate) cells: Box<[String]>,
    /// The object as JSON, where that is printed.
    pub(crate) json: Option<Box<str>>,
    created: Option<Timestamp>,
}

impl Row {
    /// How old the object is, as kubectl shows it.
    pub(crate) fn age(&self, now: Timestamp) -> String {
        self.created
            .map_or_else(|| "<unknown>".to_owned(), |created| age::human(created, now))
    }
}

/// Makes rows out of items, so that no more than a row of each is ever cached.
#[derive(Debug)]
pub(crate) struct RowCodec {
    objects: DynamicCodec,
    columns: Columns,
    keeps_json: bool,
}

impl RowCodec {
    pub(crate) fn new(resource: &Resource, keeps_json: bool) -> Self {
        Self {
            objects: DynamicCodec::new(resource),
            columns: Columns::of(resource),
            keeps_json,
        }
    }
}

impl Codec<Row> for RowCodec {
    fn media_type(&self) -> &'static str {
        Codec::<DynamicObject>::media_type(&self.objects)
    }

    fn decode(&self, item: Bytes) -> Result<Decoded<Row>, DecodeError> {
        let Decoded { identity, object } = self.objects.decode(item)?;
        let created = object
            .text("/metadata/creationTimestamp")
            .and_then(|text| text.parse().ok());
        let object = object.into_value();
        let row = Row {
            cells: (self.columns.cells)(&object).into(),
            json: self.keeps_json.then(|| object.to_string().into()),
            created,
        };
        Ok(Decoded {
            identity,
            object: row,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_of_a_list_item_is_printed_with_its_types() {
        let resource = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
        let item = r#"{"metadata":{"name":"a","namespace":"n","resourceVersion":"7","uid":"u",
            "managedFields":[{"manager":"m"}],"creationTimestamp":"2026-01-01T00:00:00Z"},"data":{"x":"1","y":"2"}}"#;
        let decoded = RowCodec::new(&resource, true)
            .decode(Bytes::from_static(item.as_bytes()))
            .unwrap();
        assert_eq!(decoded.identity.to_string(), "n/a");
        assert_eq!(*decoded.object.cells, ["2"]);
        let json = decoded.object.json.unwrap();
        assert!(
            json.starts_with(r#"{"apiVersion":"v1","data":{"x":"1","y":"2"},"kind":"ConfigMap""#),
            "{json}"
        );
        assert!(!json.contains("managedFields"), "{json}");
    }

    #[test]
    fn nothing_but_cells_is_kept_of_a_row_that_is_not_printed() {
        let resource = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
        let item = Bytes::from_static(br#"{"metadata":{"name":"a"}}"#);
        let row = RowCodec::new(&resource, false).decode(item).unwrap().object;
        assert_eq!(row.json, None);
        assert_eq!(row.age(Timestamp::UNIX_EPOCH), "<unknown>");
    }
}
