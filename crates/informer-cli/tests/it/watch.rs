//! What is printed, and how it ends.

use std::process::Command;

use informer_core::Resource;
use informer_testkit::{FakeApi, Patch};
use serde_json::{Value, json};

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

/// On a terminal of its own, made by `script` of util-linux.
#[test]
fn terminal_gets_a_table_and_is_put_back() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_informer");
    let inner = format!("stty rows 12 cols 120; {program} watch pods --embedded --for 2s");
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command", &inner, "/dev/null"])
        .env("HOME", home.path())
        .env("TERM", "xterm")
        .env_remove("KUBECONFIG")
        .output()
        .unwrap();
    let screen = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{screen}");
    for part in [
        "NAME",
        "READY",
        "STATUS",
        "RESTARTS",
        "NODE",
        "AGE",
        "pods in default",
        "objects",
        "events/s",
        "lag",
    ] {
        assert!(screen.contains(part), "{part} is not on the screen: {screen}");
    }
    let (enter, leave) = ("\u{1b}[?1049h", "\u{1b}[?1049l");
    assert!(
        screen.find(enter).unwrap() < screen.rfind(leave).unwrap(),
        "the screen is put back"
    );
    assert!(screen.contains("peak memory"), "the summary comes after it");
}
