//! `TableSource`: a reflector's source whose objects are rows.

use std::{fmt, sync::Arc};

use informer_core::{ListRequest, ListerWatcher, WatchRequest};
use informer_transport::{Codec, ListSplitter, Query, Transport, Wire};

use super::{
    ACCEPT, Include, TableColumn, TableListFeed, TableRow, TableWatchFeed, wire::Known, wire::Memory,
};
use crate::{ApiSource, Error, body::Chunks, source::asked};

/// Lists and watches the rows of a kind, each with its object: see [`Tables`](crate::Tables). Clones share what they know of the columns.
pub struct TableSource<T, K, C> {
    source: ApiSource<T, K, C>,
    include: Include,
    known: Known,
}

impl<T, K, C> Clone for TableSource<T, K, C> {
    fn clone(&self) -> Self {
        Self {
            source: self.source.clone(),
            include: self.include,
            known: self.known.clone(),
        }
    }
}

impl<T, K, C> fmt::Debug for TableSource<T, K, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableSource")
            .field("source", &self.source)
            .field("columns", &self.known)
            .finish_non_exhaustive()
    }
}

impl<T: Transport, K, C: Codec<K>> TableSource<T, K, C> {
    pub(super) fn new(source: ApiSource<T, K, C>, include: Include, known: Known) -> Self {
        Self {
            source,
            include,
            known,
        }
    }

    pub(super) fn unrepeated(mut self) -> Self {
        self.source = self.source.unrepeated();
        self
    }

    /// The same, with a last word on the query of every list, page and watch.
    #[must_use]
    pub fn tweak(mut self, tweak: impl Fn(&mut Query) + Send + Sync + 'static) -> Self {
        self.source = self.source.tweak(tweak);
        self
    }

    /// The columns that the server named last; none before the first list or watch, or where it knows no tables.
    #[must_use]
    pub fn columns(&self) -> Arc<[TableColumn]> {
        self.known.get()
    }

    fn query(&self, mut query: Query) -> Query {
        query.set("includeObject", self.include.as_str());
        query
    }
}

impl<T, K, C> ListerWatcher for TableSource<T, K, C>
where
    T: Transport,
    K: Send + Sync + 'static,
    C: Codec<K>,
{
    type Object = TableRow<K>;
    type Error = Error;
    type List = TableListFeed<T::Body, K, C>;
    type Watch = TableWatchFeed<T::Body, K, C>;

    async fn list(&self, request: ListRequest) -> Result<Self::List, Error> {
        let source = &self.source;
        let query = self.query(Query::of_list(source.selectors(), &request));
        let requests = source.api().requests().accept(ACCEPT, ACCEPT);
        let response = source.open_list(&requests, query).await?;
        let wire = Wire::of(response.headers());
        Ok(TableListFeed::new(
            Chunks::new(response.into_body()),
            ListSplitter::of(wire).with_limit(source.limit()).tables(),
            source.api().codec().clone(),
            Memory::new(self.known.clone()),
        ))
    }

    async fn watch(&self, request: WatchRequest) -> Result<Self::Watch, Error> {
        let source = &self.source;
        let asked = asked(&request);
        let query = self.query(Query::of_watch(source.selectors(), &request));
        let requests = source.api().requests().accept(ACCEPT, ACCEPT);
        let frames = source.open_watch(&requests, query, asked).await?;
        Ok(TableWatchFeed::new(
            frames.tables(),
            source.api().codec().clone(),
            Memory::new(self.known.clone()),
        ))
    }
}
