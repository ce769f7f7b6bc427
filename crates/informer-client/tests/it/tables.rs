//! Tables: rows with the server's columns, alone, in lists, in watches.

use informer_client::{Client, DynamicObject, Error, PartialMetadata, Selectors, TableRow, TableSource};
use informer_core::{
    Classify, Decoded, FailureClass, Feed, ListRequest, Listed, ListerWatcher, Resource, TokioClock,
    WatchRequest, Watched,
};
use informer_testkit::{FakeApi, FakeTransport, Patch, SharedApi};
use informer_transport::MetadataCodec;
use serde_json::{Value, json};

use crate::scripted::{Answer, Scripted, Step, data, ok, poll_once, run, status, steps};

type Source = TableSource<Scripted, PartialMetadata, MetadataCodec>;

fn foos() -> Resource {
    Resource::namespaced("example.com", "v1", "foos", "Foo")
}

fn source(answers: impl IntoIterator<Item = Answer>) -> (Scripted, Source) {
    let (log, client) = Scripted::new(answers);
    (log, client.metadata(foos()).tables().source(Selectors::all()))
}

const COLUMNS: &str = r#"[{"name":"Name","type":"string","format":"name","description":"","priority":0},{"name":"Node","type":"string","format":"","description":"","priority":1}]"#;

fn row(name: &str, node: &str) -> String {
    format!(
        r#"{{"cells":["{name}","{node}"],"object":{{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{{"name":"{name}","namespace":"n","resourceVersion":"5","uid":"u"}}}}}}"#
    )
}

fn table(columns: &str, metadata: &str, rows: &[String]) -> String {
    format!(
        r#"{{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{metadata},"columnDefinitions":{columns},"rows":[{}]}}"#,
        rows.join(",")
    )
}

fn event(kind: &str, table: &str) -> String {
    format!("{{\"type\":\"{kind}\",\"object\":{table}}}\n")
}

/// Identity, cells under their columns.
fn shown<K>(row: &Decoded<TableRow<K>>) -> String {
    let cells = row.object.columns.iter().zip(row.object.texts());
    let cells: Vec<String> = cells
        .map(|(column, cell)| format!("{}={cell}", column.name))
        .collect();
    format!("{} {}", row.identity, cells.join(" "))
}

fn listed(source: &Source) -> Vec<String> {
    let mut feed = run(source.list(ListRequest::default())).unwrap();
    let show = |event: Result<Listed<TableRow<PartialMetadata>>, Error>| match event {
        Ok(Listed::Item(Ok(row))) => shown(&row),
        Ok(Listed::Item(Err(error))) => error.to_string(),
        Ok(Listed::End { at, token }) => format!("end @{at} token {token:?}"),
        Err(error) => format!("{}: {error}", error.class()),
    };
    std::iter::from_fn(|| run(feed.next())).map(show).collect()
}

fn watched(source: &Source) -> Vec<String> {
    let mut feed = run(source.watch(WatchRequest::default())).unwrap();
    let show = |event: Result<Watched<TableRow<PartialMetadata>>, Error>| match event {
        Ok(Watched::Upsert(cause, Ok(row))) => format!("{cause:?} {}", shown(&row)),
        Ok(Watched::Delete(Ok(row))) => format!("Deleted {}", shown(&row)),
        Ok(Watched::Upsert(_, Err(error)) | Watched::Delete(Err(error))) => error.to_string(),
        Ok(Watched::Bookmark { at, end_of_initial }) => format!("bookmark @{at} {end_of_initial}"),
        Ok(Watched::Odd(error)) => format!("odd: {error}"),
        Err(error) => format!("{}: {error}", error.class()),
    };
    std::iter::from_fn(|| run(feed.next())).map(show).collect()
}

#[test]
fn a_list_is_rows_with_their_objects_and_columns() {
    let body = table(
        COLUMNS,
        r#"{"resourceVersion":"9"}"#,
        &[row("a", "n1"), row("b", "")],
    );
    let (log, source) = source([steps(body.as_bytes().chunks(7).flat_map(|chunk| {
        [
            data(std::str::from_utf8(chunk).expect("all is ASCII")),
            Step::Pending,
        ]
    }))]);
    assert!(source.columns().is_empty(), "nothing was asked yet");
    assert_eq!(
        listed(&source),
        ["n/a Name=a Node=n1", "n/b Name=b Node=", "end @9 token None"]
    );
    assert_eq!(
        log.header("accept"),
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
    );
    assert_eq!(
        log.requests(),
        ["GET /apis/example.com/v1/foos?includeObject=Metadata"]
    );
    let columns = source.columns();
    assert_eq!((&*columns[1].name, columns[1].is_wide()), ("Node", true));
    assert!(columns[0].is_name());
}

#[test]
fn later_pages_need_name_no_columns_and_share_those_of_the_first() {
    let (log, client) = Scripted::new([
        ok(&table(
            COLUMNS,
            r#"{"resourceVersion":"9","continue":"t"}"#,
            &[row("a", "n1")],
        )),
        ok(&table("null", r#"{"resourceVersion":"9"}"#, &[row("b", "n2")])),
    ]);
    let tables = client.metadata(foos()).in_namespace("n").tables();
    let table = run(tables.list(&Selectors::all().labels("a=b"))).unwrap();
    let rows: Vec<String> = table.rows.iter().map(shown).collect();
    assert_eq!(rows, ["n/a Name=a Node=n1", "n/b Name=b Node=n2"]);
    assert_eq!((table.version.as_str(), table.columns.len()), ("9", 2));
    let [first, second] = &*table.rows else {
        panic!("there are two rows")
    };
    assert!(
        std::sync::Arc::ptr_eq(&first.object.columns, &second.object.columns),
        "columns are kept once"
    );
    assert_eq!(
        log.requests(),
        [
            "GET /apis/example.com/v1/namespaces/n/foos?labelSelector=a%3Db&limit=500&includeObject=Metadata",
            "GET /apis/example.com/v1/namespaces/n/foos?labelSelector=a%3Db&limit=500&continue=t&includeObject=Metadata",
        ]
    );
}

#[test]
fn an_expired_token_means_the_whole_table_at_once() {
    let (log, client) = Scripted::new([
        ok(&table(COLUMNS, r#"{"continue":"t"}"#, &[row("a", "")])),
        status(410, r#"{"kind":"Status","reason":"Expired","code":410}"#),
        ok(&table(COLUMNS, r#"{"resourceVersion":"11"}"#, &[row("b", "")])),
    ]);
    let table = run(client.metadata(foos()).tables().list(&Selectors::all())).unwrap();
    assert_eq!(table.rows.len(), 1);
    assert_eq!(
        log.requests().pop().unwrap(),
        "GET /apis/example.com/v1/foos?includeObject=Metadata"
    );
}

#[test]
fn a_watch_names_its_columns_once_and_may_bring_several_rows_at_once() {
    let events = [
        event("ADDED", &table(COLUMNS, "{}", &[row("a", "n1")])),
        event(
            "MODIFIED",
            &table("null", "{}", &[row("a", "n2"), row("b", "n3")]),
        ),
        event("ADDED", &table("null", "{}", &[])),
        event(
            "BOOKMARK",
            &table("null", r#"{"resourceVersion":"8"}"#, &[row("", "")]),
        ),
        event("DELETED", &table("[]", "{}", &[row("a", "n2")])),
        event(
            "ADDED",
            r#"{"kind":"Bar","apiVersion":"v1","metadata":{"name":"x"}}"#,
        ),
        event("ADDED", &table("null", "{}", &[r#"{"cells":["c"]}"#.to_owned()])),
        event(
            "ERROR",
            r#"{"kind":"Status","code":410,"reason":"Expired","message":"too old"}"#,
        ),
    ];
    let (log, source) = source([ok(&events.concat())]);
    assert_eq!(
        watched(&source),
        [
            "Added n/a Name=a Node=n1",
            "Modified n/a Name=a Node=n2",
            "Modified n/b Name=b Node=n3",
            "bookmark @8 false",
            "Deleted n/a Name=a Node=n2",
            "odd: cannot decode Bar of v1 x: ADDED holds it where a Foo of example.com/v1 is watched",
            "cannot decode object: a row of the table brings no object",
            "expired: too old",
        ]
    );
    assert_eq!(
        log.requests(),
        ["GET /apis/example.com/v1/foos?watch=true&includeObject=Metadata"]
    );
}

/// A server whose definition of a kind changed ends the watches of it: the next one names other columns, and older rows keep theirs.
#[test]
fn other_columns_are_those_of_other_rows() {
    let other = r#"[{"name":"Name","format":"name"},{"name":"Size"}]"#;
    let (_, source) = source([
        ok(&table(COLUMNS, r#"{"resourceVersion":"9"}"#, &[row("a", "n1")])),
        ok(&event("ADDED", &table(other, "{}", &[row("b", "7")]))),
    ]);
    assert_eq!(listed(&source)[0], "n/a Name=a Node=n1");
    assert_eq!(watched(&source), ["Added n/b Name=b Size=7"]);
    assert_eq!(source.columns()[1].name, "Size");
}

/// What an aggregated API server does that is older than tables.
#[test]
fn a_server_that_knows_no_tables_is_taken_as_it_is() {
    let object =
        r#"{"kind":"Foo","apiVersion":"example.com/v1","metadata":{"name":"a","namespace":"n"},"rows":[1]}"#;
    let (_, source) = source([
        ok(
            r#"{"kind":"FooList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a","namespace":"n"}}]}"#,
        ),
        ok(&event("ADDED", object)),
    ]);
    let mut feed = run(source.list(ListRequest::default())).unwrap();
    let Some(Ok(Listed::Item(Ok(row)))) = run(feed.next()) else {
        panic!("there is an item")
    };
    assert!(row.object.is_plain());
    assert_eq!(row.identity.to_string(), "n/a");
    let mut feed = run(source.watch(WatchRequest::default())).unwrap();
    let Some(Ok(Watched::Upsert(_, Ok(row)))) = run(feed.next()) else {
        panic!("there is an event")
    };
    assert!(row.object.is_plain());
    assert!(source.columns().is_empty());
}

#[test]
fn to_ordinary_codecs_a_table_stays_odd() {
    let (_, client) = Scripted::new([
        ok(&table(COLUMNS, "{}", &[row("a", "")])),
        ok(&event("ADDED", &table(COLUMNS, "{}", &[row("a", "")]))),
    ]);
    let source = client.metadata(foos()).source(Selectors::all());
    let mut feed = run(source.list(ListRequest::default())).unwrap();
    let Some(Err(error)) = run(feed.next()) else {
        panic!("a table is no list")
    };
    assert_eq!(error.class(), FailureClass::Fatal);
    let mut feed = run(source.watch(WatchRequest::default())).unwrap();
    assert!(matches!(run(feed.next()), Some(Ok(Watched::Odd(_)))));
}

#[test]
fn a_body_that_is_cut_is_an_error_and_a_dropped_read_loses_no_row() {
    let body = event("ADDED", &table(COLUMNS, "{}", &[row("a", "1"), row("b", "2")]));
    let (head, tail) = body.split_at(60);
    let (_, source) = source([
        steps([data(head), Step::Pending, data(tail), Step::Cut]),
        steps([data(r#"{"kind":"Table","rows":[{"cells":["#)]),
    ]);
    let mut feed = run(source.watch(WatchRequest::default())).unwrap();
    assert!(poll_once(feed.next()).is_none());
    let mut rows = Vec::new();
    while let Some(Ok(Watched::Upsert(_, Ok(row)))) = run(feed.next()) {
        rows.push(shown(&row));
    }
    assert_eq!(rows, ["n/a Name=a Node=1", "n/b Name=b Node=2"]);
    assert!(run(feed.next()).is_none(), "it has failed and stays so");
    assert_eq!(listed(&source), ["transient: the list was cut after 34 bytes"]);
}

#[test]
fn cells_are_printed_as_kubectl_does() {
    let text = |cell: Value| TableRow::<()>::cell_text(&cell).into_owned();
    assert_eq!(text(Value::Null), "");
    assert_eq!(text(json!("a")), "a");
    assert_eq!(text(json!("a\nb")), "a...");
    assert_eq!(text(json!(3)), "3");
    assert_eq!(text(json!(true)), "true");
    assert_eq!(
        text(json!(["x", 1, null, {"b": 2, "a": [1]}])),
        "[x 1 <nil> map[a:[1] b:2]]"
    );
}

fn model() -> (SharedApi<TokioClock>, Client<FakeTransport<TokioClock>>) {
    let api = SharedApi::new(FakeApi::with_builtins(), TokioClock);
    (api.clone(), Client::new(FakeTransport::new(api)))
}

fn config_maps() -> Resource {
    Resource::namespaced("", "v1", "configmaps", "ConfigMap")
}

#[tokio::test(start_paused = true)]
async fn one_object_a_list_and_a_list_of_cells_from_a_server() {
    let (api, client) = model();
    api.with(|api| {
        let object =
            json!({"metadata": {"name": "a", "namespace": "n", "labels": {"x": "y"}}, "data": {"k": "v"}});
        api.create(&config_maps(), object).unwrap();
    });
    let metadata = client.metadata(config_maps()).in_namespace("n").tables();
    let table = metadata.get("a").await.unwrap();
    let row = &table.rows[0].object;
    assert_eq!(row.cell("DATA"), Some(&json!("1")));
    assert_eq!(row.object.metadata.labels["x"], "y");
    assert_eq!(table.version, table.rows[0].identity.stamp.version);
    assert!(metadata.get("b").await.unwrap_err().is_not_found());
    assert!(metadata.get("..").await.is_err(), "names are checked as ever");

    let whole = client.dynamic(config_maps()).tables();
    let table = whole.list(&Selectors::all()).await.unwrap();
    let object: &DynamicObject = &table.rows[0].object.object;
    assert_eq!(object.text("/data/k"), Some("v"));
    assert_eq!(object.text("/kind"), Some("ConfigMap"));

    let cells = whole.cells(&Selectors::all()).await.unwrap();
    let titles: Vec<&str> = cells.columns.iter().map(|column| &*column.name).collect();
    assert_eq!(titles, ["Name", "Data", "Age"]);
    assert_eq!(*cells.rows[0].object.cells, [json!("a"), json!("1"), json!("0s")]);
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_of_tables_ends_with_its_mark_and_goes_on() {
    let (api, client) = model();
    let object = |name: &str| json!({"metadata": {"name": name, "namespace": "n"}, "data": {"k": "v"}});
    api.with(|api| api.create(&config_maps(), object("a")).unwrap());
    let source = client.metadata(config_maps()).tables().source_of("a");
    let mut request = WatchRequest::default();
    request.initial_events = true;
    let mut feed = source.watch(request).await.unwrap();
    let Some(Ok(Watched::Upsert(_, Ok(row)))) = feed.next().await else {
        panic!("the object is there")
    };
    assert_eq!(shown(&row), "n/a Name=a Data=1 Age=0s");
    let Some(Ok(Watched::Bookmark { end_of_initial, .. })) = feed.next().await else {
        panic!("the initial events have ended")
    };
    assert!(end_of_initial);
    api.with(|api| {
        api.create(&config_maps(), object("b")).unwrap();
        let more = json!({"data": {"l": "w"}});
        api.patch(&config_maps(), Some("n"), "a", &Patch::Merge(more))
            .unwrap();
    });
    let Some(Ok(Watched::Upsert(_, Ok(row)))) = feed.next().await else {
        panic!("it was changed")
    };
    assert_eq!(shown(&row), "n/a Name=a Data=2 Age=0s");
    assert_eq!(
        row.object.columns,
        source.columns(),
        "named by the first event alone"
    );
}
