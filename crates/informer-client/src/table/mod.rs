//! Tables: a kind as the server shows it to people, in its own columns, as `kubectl get` prints it.

mod list;
mod model;
mod source;
mod watch;
mod wire;

use std::fmt;

use bytes::Bytes;
use informer_core::{DecodeError, Decoded, Identity, ResourceVersion, Stamp};
use informer_transport::{Asked, Codec, Query, RequestBuilder, Selectors, Transport};

use crate::{
    Api, Error, Pager,
    api::{ObjectList, collect, escaped},
};

pub use list::TableListFeed;
pub use model::{RowCondition, Table, TableColumn, TableRow};
pub use source::TableSource;
pub use watch::TableWatchFeed;
use wire::{Known, Memory};

/// What is asked for: a table, or what a server has that knows none.
const ACCEPT: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/// What comes with each row (`includeObject`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Include {
    None,
    Metadata,
    Object,
}

impl Include {
    fn as_str(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Metadata => "Metadata",
            Self::Object => "Object",
        }
    }
}

/// One kind as tables, with the columns that the server has for it: those built in, or the `additionalPrinterColumns` of a custom resource.
///
/// Each row brings the object that it is of, in the form of the [`Api`] that this was made from: metadata where that is what its codec reads
/// (`client.metadata(..).tables()`, which costs the least), whole objects else. A row is thereby an object with a key and a version, and
/// [`source`](Self::source) makes an informer of rows.
///
/// A server that knows no tables answers with plain objects. Their rows have neither columns nor cells: see [`TableRow::is_plain`].
///
/// The cells are what the server wrote when it sent them: the age of an object that does not change is not told again.
pub struct Tables<T, K, C> {
    api: Api<T, K, C>,
    include: Include,
    known: Known,
}

impl<T, K, C> Clone for Tables<T, K, C> {
    fn clone(&self) -> Self {
        Self {
            api: self.api.clone(),
            include: self.include,
            known: self.known.clone(),
        }
    }
}

impl<T, K, C> fmt::Debug for Tables<T, K, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tables")
            .field("api", &self.api)
            .field("include", &self.include)
            .finish_non_exhaustive()
    }
}

impl<T: Transport, K, C: Codec<K>> Tables<T, K, C> {
    pub(crate) fn new(api: Api<T, K, C>) -> Self {
        let is_partial = api
            .codec()
            .envelope()
            .is_some_and(|(_, kind)| kind == "PartialObjectMetadata");
        Self {
            api,
            include: if is_partial {
                Include::Metadata
            } else {
                Include::Object
            },
            known: Known::default(),
        }
    }

    /// What the rows are of.
    #[must_use]
    pub fn api(&self) -> &Api<T, K, C> {
        &self.api
    }

    /// The table of one object.
    ///
    /// # Errors
    /// When it is not there, or the request failed; see [`Error`].
    pub async fn get(&self, name: &str) -> Result<Table<K>, Error> {
        let mut query = Query::new();
        query.set("includeObject", self.include.as_str());
        let request = self.requests().get_with(name, None, &query)?;
        let body = self.api.client().fetch(request, Asked::Object).await?;
        let mut memory = Memory::new(self.known.clone());
        let mut rows = ObjectList {
            items: Vec::new(),
            unreadable: Vec::new(),
            version: ResourceVersion::none(),
            next: None,
        };
        for row in memory.rows_of_object(&**self.api.codec(), &body) {
            match row {
                Ok(row) => {
                    rows.version = row.identity.stamp.version.clone();
                    rows.items.push(row);
                }
                Err(error) => rows.unreadable.push(error),
            }
        }
        Ok(self.table(rows))
    }

    /// Lists and watches, row by row, what the selectors match: what a reflector or an informer reads from.
    #[must_use]
    pub fn source(&self, selectors: Selectors) -> TableSource<T, K, C> {
        TableSource::new(self.api.source(selectors), self.include, self.known.clone())
    }

    /// Lists and watches the row of the one object of this name.
    #[must_use]
    pub fn source_of(&self, name: &str) -> TableSource<T, K, C> {
        self.source(Selectors::all().fields(format!("metadata.name={}", escaped(name))))
    }

    fn requests(&self) -> RequestBuilder {
        self.api.requests().accept(ACCEPT, ACCEPT)
    }

    fn table(&self, rows: ObjectList<TableRow<K>>) -> Table<K> {
        Table {
            columns: self.known.get(),
            rows: rows.items,
            unreadable: rows.unreadable,
            version: rows.version,
        }
    }
}

impl<T: Transport, K: Send + Sync + 'static, C: Codec<K>> Tables<T, K, C> {
    /// The table of all objects that the selectors match, from all pages.
    ///
    /// # Errors
    /// See [`Error`]. A row that cannot be decoded is no error: it is among the unreadable.
    pub async fn list(&self, selectors: &Selectors) -> Result<Table<K>, Error> {
        let source = self.source(selectors.clone()).unrepeated();
        Ok(self.table(collect(&source).await?))
    }

    /// The rows page by page, with the next ones fetched ahead.
    #[must_use]
    pub fn pager(&self, selectors: Selectors) -> Pager<TableSource<T, K, C>>
    where
        T: 'static,
        C: 'static,
    {
        Pager::new(self.source(selectors).unrepeated())
    }

    /// The table without objects, for those who only print it: nothing tells of which object a row is but its cells.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub async fn cells(&self, selectors: &Selectors) -> Result<Table<()>, Error> {
        let mut api = Api::new(self.api.client().clone(), self.api.resource().clone(), NoObject);
        if let Some(namespace) = self.api.namespace() {
            api = api.in_namespace(namespace);
        }
        let tables = Tables {
            api,
            include: Include::None,
            known: self.known.clone(),
        };
        tables.list(selectors).await
    }
}

/// Reads nothing.
#[derive(Debug)]
struct NoObject;

impl Codec<()> for NoObject {
    fn media_type(&self) -> &'static str {
        "application/json"
    }

    fn decode(&self, _: Bytes) -> Result<Decoded<()>, DecodeError> {
        Ok(Decoded {
            identity: Identity {
                namespace: None,
                name: "".into(),
                stamp: Stamp::default(),
            },
            object: (),
        })
    }
}
