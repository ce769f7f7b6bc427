//! The server's tables as a source of rows.

use informer::client::{Error, TableRow, TableSource};
use informer::contracts::{Decoded, Feed, ListRequest, Listed, ListerWatcher, WatchRequest, Watched};
use informer::transport::BoxTransport;

use crate::row::{Row, RowCodec};

/// A source of rows in the server's columns.
pub(crate) type Tables = TableSource<BoxTransport, Row, RowCodec>;

/// Lists and watches rows, and keeps no more of them than what is shown.
#[derive(Debug)]
pub(crate) struct Rows(pub(crate) Tables);

impl ListerWatcher for Rows {
    type Object = Row;
    type Error = Error;
    type List = ListedRows<<Tables as ListerWatcher>::List>;
    type Watch = WatchedRows<<Tables as ListerWatcher>::Watch>;

    async fn list(&self, request: ListRequest) -> Result<Self::List, Error> {
        self.0.list(request).await.map(ListedRows)
    }

    async fn watch(&self, request: WatchRequest) -> Result<Self::Watch, Error> {
        self.0.watch(request).await.map(WatchedRows)
    }
}

fn row(decoded: Decoded<TableRow<Row>>) -> Decoded<Row> {
    Decoded {
        identity: decoded.identity,
        object: Row::of_table(decoded.object),
    }
}

/// The rows of a list.
#[derive(Debug)]
pub(crate) struct ListedRows<F>(F);

impl<F: Feed<Event = Listed<TableRow<Row>>, Error = Error>> Feed for ListedRows<F> {
    type Event = Listed<Row>;
    type Error = Error;

    async fn next(&mut self) -> Option<Result<Listed<Row>, Error>> {
        let listed = self.0.next().await?;
        Some(listed.map(|listed| match listed {
            Listed::Item(item) => Listed::Item(item.map(row)),
            Listed::End { at, token } => Listed::End { at, token },
        }))
    }

    fn bytes_read(&self) -> Option<u64> {
        self.0.bytes_read()
    }
}

/// The rows of a watch.
#[derive(Debug)]
pub(crate) struct WatchedRows<F>(F);

impl<F: Feed<Event = Watched<TableRow<Row>>, Error = Error>> Feed for WatchedRows<F> {
    type Event = Watched<Row>;
    type Error = Error;

    async fn next(&mut self) -> Option<Result<Watched<Row>, Error>> {
        let watched = self.0.next().await?;
        Some(watched.map(|watched| match watched {
            Watched::Upsert(cause, item) => Watched::Upsert(cause, item.map(row)),
            Watched::Delete(item) => Watched::Delete(item.map(row)),
            Watched::Bookmark { at, end_of_initial } => Watched::Bookmark { at, end_of_initial },
            Watched::Odd(error) => Watched::Odd(error),
        }))
    }

    fn bytes_read(&self) -> Option<u64> {
        self.0.bytes_read()
    }
}
