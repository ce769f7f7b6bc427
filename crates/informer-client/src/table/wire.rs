//! From the bytes of tables to rows.

use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use bytes::Bytes;
use informer_core::{DecodeError, Decoded};
use informer_transport::Codec;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{RowCondition, TableColumn, TableRow};

/// The columns that were told last. All lists and watches of a source share them: a server names columns once in each watch, and the rows
/// that it sends need not wait for that, nor does anybody who prints a table that is still empty.
#[derive(Clone)]
pub(super) struct Known(Arc<RwLock<Arc<[TableColumn]>>>);

impl Default for Known {
    fn default() -> Self {
        Self(Arc::new(RwLock::new(Arc::from([]))))
    }
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl Known {
    pub(super) fn get(&self) -> Arc<[TableColumn]> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Columns that are those known already are not kept twice.
    fn learn(&self, columns: Vec<TableColumn>) -> Arc<[TableColumn]> {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if **known != *columns {
            *known = columns.into();
        }
        known.clone()
    }
}

/// A row with its identity, or why there is none.
pub(super) type Read<K> = Result<Decoded<TableRow<K>>, DecodeError>;

/// Makes rows of what one list or watch brings.
#[derive(Debug)]
pub(super) struct Memory {
    known: Known,
    columns: Arc<[TableColumn]>,
    none: Arc<[TableColumn]>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Types<'a> {
    #[serde(borrow)]
    api_version: Option<Cow<'a, str>>,
    #[serde(borrow)]
    kind: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireTable<'a> {
    column_definitions: Option<Vec<TableColumn>>,
    #[serde(borrow)]
    rows: Option<Vec<WireRow<'a>>>,
}

#[derive(Deserialize)]
struct WireRow<'a> {
    cells: Option<Vec<Value>>,
    conditions: Option<Vec<RowCondition>>,
    #[serde(borrow)]
    object: Option<&'a RawValue>,
}

impl Memory {
    pub(super) fn new(known: Known) -> Self {
        Self {
            columns: known.get(),
            known,
            none: Arc::from([]),
        }
    }

    /// Takes the columns that a list names.
    pub(super) fn learn(&mut self, columns: &[u8]) -> Result<(), serde_json::Error> {
        self.columns = self.known.learn(serde_json::from_slice(columns)?);
        Ok(())
    }

    /// The row of one item of a list that is a table.
    pub(super) fn row<K>(&self, codec: &impl Codec<K>, item: &Bytes) -> Read<K> {
        let row = serde_json::from_slice(item)
            .map_err(|error| DecodeError::new("a row of the table is none").caused_by(error))?;
        self.fill(codec, row, item)
    }

    /// The row of a plain object.
    pub(super) fn plain<K>(&self, codec: &impl Codec<K>, item: Bytes) -> Read<K> {
        let Decoded { identity, object } = codec.decode(item)?;
        let object = TableRow {
            columns: self.none.clone(),
            cells: Box::default(),
            conditions: Box::default(),
            object,
        };
        Ok(Decoded { identity, object })
    }

    /// The rows of a whole answer or event: those of a table, or that of a plain object.
    pub(super) fn rows_of_object<K>(&mut self, codec: &impl Codec<K>, object: &Bytes) -> Vec<Read<K>> {
        if !is_table(object) {
            return vec![self.plain(codec, object.clone())];
        }
        let table: WireTable<'_> = match serde_json::from_slice(object) {
            Ok(table) => table,
            Err(error) => {
                return vec![Err(
                    DecodeError::new("it is no table of Kubernetes").caused_by(error)
                )];
            }
        };
        if let Some(columns) = table.column_definitions.filter(|columns| !columns.is_empty()) {
            self.columns = self.known.learn(columns);
        }
        let rows = table.rows.into_iter().flatten();
        rows.map(|row| self.fill(codec, row, object)).collect()
    }

    fn fill<K>(&self, codec: &impl Codec<K>, row: WireRow<'_>, within: &Bytes) -> Read<K> {
        // Without an object there is none to tell the key by. The codec that wants none does not mind.
        let Decoded { identity, object } = match row.object {
            Some(object) => codec.decode(within.slice_ref(object.get().as_bytes()))?,
            None => codec
                .decode(Bytes::from_static(b"null"))
                .map_err(|_| DecodeError::new("a row of the table brings no object"))?,
        };
        let object = TableRow {
            columns: self.columns.clone(),
            cells: row.cells.unwrap_or_default().into(),
            conditions: row.conditions.unwrap_or_default().into(),
            object,
        };
        Ok(Decoded { identity, object })
    }
}

fn is_table(object: &[u8]) -> bool {
    serde_json::from_slice::<Types<'_>>(object).is_ok_and(|types| {
        types.kind.is_some_and(|kind| kind == "Table")
            && types
                .api_version
                .is_some_and(|version| version.starts_with("meta.k8s.io/"))
    })
}
