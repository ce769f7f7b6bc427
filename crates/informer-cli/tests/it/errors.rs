//! Bad input: one clear sentence that names the file, field or server, and the exit code.

use std::{net::TcpListener, process::Output};

use informer_testkit::{ApiError, Fault, On};

use crate::program::{Home, server, stderr, text};

/// Checks that it failed with one sentence that says all of this.
fn fails(output: &Output, says: &[&str]) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    for what in says {
        assert!(said.contains(what), "{what:?} is not in {said:?}");
    }
}

#[test]
fn wrong_usage_ends_with_2() {
    let home = Home::new();
    let cases: [&[&str]; 6] = [
        &["watch"],
        &["watch", "pods", "-n", "a", "-A"],
        &["watch", "pods", "-o", "yaml"],
        &["watch", "pods", "--for", "soon"],
        &["watch", "pods", "--embedded", "--context", "x"],
        &["look", "pods"],
    ];
    for arguments in cases {
        assert_eq!(home.run(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn unknown_resource_names_those_near_to_it() {
    let output = Home::new().run(&["watch", "pod5", "--embedded"]);
    fails(&output, &["pod5", "pods"]);
}

#[test]
fn kubeconfig_that_is_missing_or_broken_is_named() {
    let home = Home::new();
    fails(
        &home.run(&["watch", "pods", "--kubeconfig", "/no/such/file"]),
        &["/no/such/file"],
    );

    let broken = home.file("broken", "clusters: {");
    fails(
        &home.run(&["watch", "pods", "--kubeconfig", text(&broken)]),
        &[text(&broken)],
    );

    let no_context = home.kubeconfig("http://127.0.0.1:1");
    let output = home.run(&[
        "watch",
        "pods",
        "--kubeconfig",
        text(&no_context),
        "--context",
        "other",
    ]);
    fails(&output, &["other", text(&no_context)]);
}

/// What is found in the usual place and does not work is never silently replaced by the embedded server.
#[test]
fn configuration_that_is_found_and_fails_is_an_error() {
    let home = Home::new();
    let broken = home.file("broken", "clusters: {");
    let output = home
        .command(&["watch", "pods"])
        .env("KUBECONFIG", &broken)
        .output()
        .unwrap();
    fails(&output, &[text(&broken)]);
}

#[test]
fn refused_connection_names_the_server() {
    let home = Home::new();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{free}");
    let config = home.kubeconfig(&url);
    fails(
        &home.run(&["watch", "pods", "--kubeconfig", text(&config)]),
        &[&url, "refused"],
    );
}

async fn answered(error: ApiError, says: &[&str]) {
    let server = server().await;
    server.with(|api| {
        api.faults()
            .always(On::watch().of("pods"), Fault::Status(error.clone()));
        api.faults().always(On::list().of("pods"), Fault::Status(error));
    });
    let home = Home::new();
    let config = home.kubeconfig(&server.url());
    let run = move || home.run(&["watch", "pods", "--kubeconfig", text(&config)]);
    let output = tokio::task::spawn_blocking(run).await.unwrap();
    fails(&output, says);
    server.shutdown().await;
}

#[tokio::test]
async fn unauthorized_and_forbidden_are_told_as_the_server_told_them() {
    answered(ApiError::unauthorized(), &["http://127.0.0.1:", "Unauthorized"]).await;
    answered(
        ApiError::new(403, "Forbidden", "pods is forbidden: no rights"),
        &["http://127.0.0.1:", "no rights"],
    )
    .await;
}

#[test]
fn bad_selectors_are_told_as_the_server_told_them() {
    let home = Home::new();
    fails(
        &home.run(&["watch", "pods", "--embedded", "-l", "a=b=c"]),
        &["a=b=c"],
    );
    fails(
        &home.run(&[
            "watch",
            "pods",
            "--embedded",
            "--field-selector",
            "spec.nothing=1",
        ]),
        &["spec.nothing"],
    );
}
