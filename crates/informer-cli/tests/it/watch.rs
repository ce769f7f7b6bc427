//! What is printed, and how it ends.

use std::{net::SocketAddr, process::Command};

use informer_core::Resource;
use informer_testkit::{FakeApi, Patch};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

use crate::program::{Home, Running, server, stderr, text};

fn config_maps() -> Resource {
    Resource::namespaced("", "v1", "configmaps", "ConfigMap")
}

fn create(api: &mut FakeApi, name: &str) {
    let object = json!({"metadata": {"name": name, "namespace": "ns"}, "data": {"k": "v"}});
    api.create(&config_maps(), object).unwrap();
}

#[test]
fn without_any_configuration_it_says_so_and_shows_the_sample_workload() {
    let output = Home::new().run(&["watch", "pods", "--for", "2s"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.lines().next().unwrap().contains("no kubeconfig was found"),
        "{said}"
    );

    let printed = String::from_utf8(output.stdout).unwrap();
    let n_added = printed
        .lines()
        .filter(|line| line.starts_with("ADDED      default/"))
        .count();
    assert!(n_added >= 200, "some hundreds of pods, not {n_added}");
    assert!(
        printed.contains("1/1   Running"),
        "{}",
        printed.lines().next().unwrap_or_default()
    );

    let summary = said.lines().last().unwrap();
    for part in [
        " objects, ",
        " events, ",
        " lists, ",
        " watches, 0 relists, peak memory ",
        " MiB",
    ] {
        assert!(summary.contains(part), "{summary}");
    }
}

#[test]
fn json_is_an_event_a_line() {
    let output = Home::new().run(&["watch", "deploy", "--embedded", "--for", "1s", "-o", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.lines().count() >= 3, "{printed}");
    for line in printed.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        assert!(["ADDED", "MODIFIED", "DELETED"].contains(&event["type"].as_str().unwrap()));
        assert_eq!(event["object"]["kind"], "Deployment");
        assert_eq!(event["object"]["apiVersion"], "apps/v1");
        assert_eq!(event["object"]["metadata"]["managedFields"], Value::Null);
    }
}

/// Add, change, delete, a connection that is lost and found again, and an interrupt.
#[tokio::test(flavor = "multi_thread")]
async fn every_change_is_a_line_and_a_lost_connection_is_none() {
    let server = server().await;
    server.with(|api| create(api, "a"));
    let home = Home::new();
    let config = home.kubeconfig(&server.url());
    let mut running =
        Running::start(home.command(&["watch", "cm", "--kubeconfig", text(&config), "-l", "!hidden"]));

    let mut next = |starts: &str| {
        let line = running.line();
        assert!(
            line.starts_with(starts),
            "{line:?} does not start with {starts:?}"
        );
    };
    next("ADDED      ns/a   1   ");
    server.with(|api| create(api, "b"));
    next("ADDED      ns/b   1   ");
    let more = json!({"data": {"l": "w"}});
    server
        .with(|api| api.patch(&config_maps(), Some("ns"), "a", &Patch::Merge(more)))
        .unwrap();
    next("MODIFIED   ns/a   2   ");
    server.with(FakeApi::cut_connections);
    server
        .with(|api| api.delete(&config_maps(), Some("ns"), "a"))
        .unwrap();
    next("DELETED    ns/a   2   ");
    let hide = json!({"metadata": {"labels": {"hidden": ""}}});
    server
        .with(|api| api.patch(&config_maps(), Some("ns"), "b", &Patch::Merge(hide)))
        .unwrap();
    next("DELETED    ns/b   1   ");

    running.interrupt();
    assert_eq!(running.wait().code(), Some(0));
    server.shutdown().await;
}

#[test]
fn names_can_be_piped() {
    let output = Home::new().run(&[
        "watch",
        "widgets.example.com",
        "-A",
        "--embedded",
        "--for",
        "1s",
        "-o",
        "name",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.lines().count() >= 1);
    assert!(
        printed
            .lines()
            .all(|line| line.starts_with("widget.example.com/")),
        "{printed}"
    );
}

#[test]
fn reader_that_has_seen_enough_ends_it() {
    let mut running = Running::start(Home::new().command(&["watch", "pods", "--embedded", "-o", "name"]));
    assert!(running.line().starts_with("pod/"));
    running.close();
    assert_eq!(running.wait().code(), Some(0));
}

/// What is on a terminal of its own while the program runs there, made by `script` of util-linux.
fn on_terminal(arguments: &str) -> String {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_informer");
    let inner = format!("stty rows 12 cols 160; {program} {arguments}");
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command", &inner, "/dev/null"])
        .env("HOME", home.path())
        .env("TERM", "xterm")
        .env_remove("KUBECONFIG")
        .output()
        .unwrap();
    let screen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{screen}");
    screen
}

#[test]
fn terminal_gets_a_table_and_is_put_back() {
    let screen = on_terminal("watch pods --embedded --for 2s");
    for part in [
        "NAME",
        "READY",
        "STATUS",
        "RESTARTS",
        "AGE",
        "pods in default",
        "objects",
        "events/s",
        "lag",
    ] {
        assert!(screen.contains(part), "{part} is not on the screen: {screen}");
    }
    assert!(!screen.contains("NOMINATED"), "there is no room for it: {screen}");
    let (enter, leave) = ("\u{1b}[?1049h", "\u{1b}[?1049l");
    assert!(
        screen.find(enter).unwrap() < screen.rfind(leave).unwrap(),
        "the screen is put back"
    );
    assert!(screen.contains("peak memory"), "the summary comes after it");
}

#[test]
fn a_wide_table_has_the_columns_that_need_room() {
    let screen = on_terminal("watch pods --embedded --for 2s -o wide");
    // A terminal is told of what changes: a title of two words may come in two pieces.
    for part in ["NAME", "AGE", "IP", "NODE", "NOMINATED", "READINESS", "GATES"] {
        assert!(screen.contains(part), "{part} is not on the screen: {screen}");
    }
}

fn define_things(api: &mut FakeApi) -> Resource {
    let definitions = Resource::cluster(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
    );
    let definition = json!({"metadata": {"name": "things.example.com"}, "spec": {
        "group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
        "versions": [{"name": "v1", "served": true, "storage": true, "additionalPrinterColumns": [
            {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
            {"name": "Note", "type": "string", "priority": 1, "jsonPath": ".spec.note"},
            {"name": "Started", "type": "date", "jsonPath": ".spec.started"},
        ]}],
    }});
    api.create(&definitions, definition).unwrap();
    Resource::namespaced("example.com", "v1", "things", "Thing")
}

/// Columns of a definition, and none of a field that is absent; what steers terminals is made visible.
#[tokio::test(flavor = "multi_thread")]
async fn a_custom_resource_is_shown_in_the_columns_of_its_definition() {
    let server = server().await;
    let things = server.with(define_things);
    server.with(|api| {
        let object = json!({
            "metadata": {"name": "a", "namespace": "ns"}, "spec": {"size": 3, "note": "x\u{1b}[2Jy\nz"},
        });
        api.create(&things, object).unwrap();
    });
    let home = Home::new();
    let config = home.kubeconfig(&server.url());
    let start = |output: &str| {
        let arguments = [
            "watch",
            "things.example.com",
            "--kubeconfig",
            text(&config),
            "-o",
            output,
        ];
        Running::start(home.command(&arguments))
    };
    let (mut narrow, mut wide) = (start("table"), start("wide"));
    assert_eq!(narrow.line(), "ADDED      ns/a   3   ");
    assert_eq!(wide.line(), "ADDED      ns/a   3   x^[[2Jy...   ");
    let more = json!({"spec": {"size": 4}});
    server
        .with(|api| api.patch(&things, Some("ns"), "a", &Patch::Merge(more)))
        .unwrap();
    assert_eq!(narrow.line(), "MODIFIED   ns/a   4   ");
    assert_eq!(wide.line(), "MODIFIED   ns/a   4   x^[[2Jy...   ");
    let asked = server.with(|api| {
        let log = api.request_log().iter();
        let things = log.filter(|it| it.resource == "things");
        things.map(|it| it.uri.clone()).collect::<Vec<_>>()
    });
    assert!(
        asked.iter().all(|uri| uri.contains("includeObject=Metadata")),
        "no more than metadata is asked for beside the cells: {asked:?}"
    );
    drop((narrow, wide));
    server.shutdown().await;
}

/// Such are aggregated API servers that are older than tables.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_tables_is_shown_in_columns_of_our_own() {
    let server = server().await;
    server.with(|api| create(api, "a"));
    let (blind, _relay) = without_tables(server.address()).await;
    let home = Home::new();
    let config = home.kubeconfig(&format!("http://{blind}"));
    let mut running = Running::start(home.command(&["watch", "cm", "--kubeconfig", text(&config)]));
    let line = running.line();
    assert!(line.starts_with("ADDED      ns/a   1   "), "{line:?}");
    assert!(
        line.ends_with(['s', 'm', 'h', 'd', 'y']),
        "it has an age: {line:?}"
    );
    server.with(|api| create(api, "b"));
    assert!(running.line().starts_with("ADDED      ns/b   1   "));
    let tables = server.with(|api| {
        let mut log = api.request_log().iter();
        log.any(|it| {
            it.headers
                .get("accept")
                .is_some_and(|accept| accept.as_bytes().windows(8).any(|part| part == b"as=Table"))
        })
    });
    assert!(!tables, "the server was never asked for a table");
    drop(running);
    server.shutdown().await;
}

/// In front of a server, the address of one that does not understand what a table is.
async fn without_tables(server: SocketAddr) -> (SocketAddr, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut relay = JoinSet::new();
    relay.spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((client, _)) = listener.accept().await {
            connections.spawn(forget_tables(client, server));
        }
    });
    (address, relay)
}

async fn forget_tables(client: TcpStream, server: SocketAddr) {
    let server = TcpStream::connect(server).await.unwrap();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let requests = async move {
        let mut bytes = vec![0; 1 << 16];
        // A request of this client comes in one piece.
        while let Ok(n @ 1..) = from_client.read(&mut bytes).await {
            let text = String::from_utf8_lossy(&bytes[..n]).replace("as=Table", "as=Other");
            to_server.write_all(text.as_bytes()).await.unwrap();
        }
    };
    let answers = async move { tokio::io::copy(&mut from_server, &mut to_client).await };
    tokio::select! {
        () = requests => {}
        _ = answers => {}
    }
}
