//! Exec plug-ins: when they run, what they are told, what they may answer.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::PermissionsExt as _,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use http::{HeaderMap, header::AUTHORIZATION};
use informer_kubeconfig::{
    Config, ExecPolicy, MemoryEnvironment, Overrides, PluginCall, PluginCommand, PluginMetrics, PluginOutput,
    ProcessEnvironment,
};
use informer_transport::{CredentialError, Issue};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::support::{FILE, base64, certificate, file, find, home, material, sentence};

const V1: &str = "client.authentication.k8s.io/v1";

fn printed(value: &Value) -> io::Result<PluginOutput> {
    Ok(PluginOutput {
        code: Some(0),
        printed: value.to_string().into_bytes(),
    })
}

fn answer(status: Value) -> Value {
    json!({"kind": "ExecCredential", "apiVersion": V1, "status": status})
}

fn user(more: &str) -> String {
    format!("exec: {{command: login, apiVersion: {V1}, interactiveMode: Never{more}}}")
}

/// With a plug-in that answers so.
fn with(status: Value) -> MemoryEnvironment {
    home().plugin("login", move |_| printed(&answer(status.clone())))
}

fn config_of(environment: &MemoryEnvironment, user: &str) -> Config {
    let environment = environment
        .clone()
        .file(FILE, file("server: 'https://s/k8s'", user));
    find(&environment, &Overrides::default())
        .expect("usable")
        .expect("there")
}

async fn signed_in(config: &Config) -> Result<Option<String>, CredentialError> {
    issued(config).await.map(|(header, _)| header)
}

async fn issued(config: &Config) -> Result<(Option<String>, Issue), CredentialError> {
    let mut headers = HeaderMap::new();
    let issue = config.authorizer().authorize(&mut headers).await?;
    let header = headers.get(AUTHORIZATION);
    assert!(header.is_none_or(http::HeaderValue::is_sensitive));
    Ok((
        header.map(|header| header.to_str().expect("text").to_owned()),
        issue,
    ))
}

#[tokio::test]
async fn a_token_is_kept_until_it_expires() {
    let n_runs = Arc::new(AtomicUsize::new(0));
    let runs = n_runs.clone();
    let environment = home().plugin("login", move |_| {
        let n = runs.fetch_add(1, Ordering::SeqCst);
        printed(&answer(
            json!({"token": format!("t{n}"), "expirationTimestamp": format!("1970-01-01T01:{:02}:00Z", n * 10)}),
        ))
    });
    let config = config_of(&environment, &user(""));
    assert_eq!(n_runs.load(Ordering::SeqCst), 0, "not before somebody signs in");
    for _ in 0..3 {
        assert_eq!(signed_in(&config).await.unwrap().as_deref(), Some("Bearer t0"));
    }
    environment.advance(Duration::from_secs(3600));
    assert_eq!(
        signed_in(&config).await.unwrap().as_deref(),
        Some("Bearer t0"),
        "to the second"
    );
    environment.advance(Duration::from_secs(1));
    assert_eq!(signed_in(&config).await.unwrap().as_deref(), Some("Bearer t1"));
    assert_eq!(n_runs.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_refused_token_is_fetched_anew() {
    let n_runs = Arc::new(AtomicUsize::new(0));
    let runs = n_runs.clone();
    let environment = home().plugin("login", move |_| {
        printed(&answer(
            json!({"token": format!("t{}", runs.fetch_add(1, Ordering::SeqCst))}),
        ))
    });
    let config = config_of(&environment, &user(""));
    let (header, first) = issued(&config).await.unwrap();
    assert_eq!(header.as_deref(), Some("Bearer t0"));
    config.authorizer().rejected(first);
    let (header, second) = issued(&config).await.unwrap();
    assert_eq!(header.as_deref(), Some("Bearer t1"));
    // Answers to requests with the first one, which took their time.
    for _ in 0..3 {
        config.authorizer().rejected(first);
        assert_eq!(issued(&config).await.unwrap(), (header.clone(), second));
    }
    config.authorizer().rejected(second);
    assert_eq!(signed_in(&config).await.unwrap().as_deref(), Some("Bearer t2"));
}

/// Its credentials are others even where they look the same: a plug-in that keeps a refused token is not run once for each request.
#[tokio::test]
async fn a_plug_in_that_prints_the_same_again_is_run_once_for_all_refusals() {
    let n_runs = Arc::new(AtomicUsize::new(0));
    let runs = n_runs.clone();
    let environment = home().plugin("login", move |_| {
        runs.fetch_add(1, Ordering::SeqCst);
        printed(&answer(json!({"token": "kept"})))
    });
    let config = config_of(&environment, &user(""));
    let (_, first) = issued(&config).await.unwrap();
    for _ in 0..20 {
        config.authorizer().rejected(first);
        signed_in(&config).await.unwrap();
    }
    assert_eq!(n_runs.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn it_is_told_what_upstream_tells() {
    let seen: Arc<Mutex<Option<PluginCommand>>> = Arc::default();
    let told = seen.clone();
    let environment = home().plugin("/home/ada/.kube/bin/login", move |command| {
        *told.lock().unwrap() = Some(command.clone());
        printed(&answer(json!({"token": "t"})))
    });
    let (pem, _) = certificate();
    let cluster = format!(
        "server: 'https://s/k8s', certificate-authority-data: {}, tls-server-name: name, \
         extensions: [{{name: other, extension: 1}}, {{name: {V1}, extension: 2}}, \
         {{name: client.authentication.k8s.io/exec, extension: {{audience: a}}}}]",
        base64(&pem)
    );
    let user = format!(
        "exec: {{command: bin/login, apiVersion: {V1}, interactiveMode: IfAvailable, args: [get, token], \
         env: [{{name: REGION, value: north}}], provideClusterInfo: true}}"
    );
    let environment = environment.file(FILE, file(&cluster, &user));
    let config = find(&environment, &Overrides::default()).unwrap().unwrap();
    signed_in(&config).await.unwrap();

    let command = seen.lock().unwrap().take().unwrap();
    assert_eq!(command.arguments, ["get", "token"]);
    assert!(!command.interactive, "there is no terminal");
    let variables: BTreeMap<String, String> = command.variables.into_iter().collect();
    assert_eq!(variables["REGION"], "north");
    let info: Value = serde_json::from_str(&variables["KUBERNETES_EXEC_INFO"]).unwrap();
    assert_eq!(
        info,
        json!({
            "kind": "ExecCredential",
            "apiVersion": V1,
            "spec": {
                "interactive": false,
                "cluster": {
                    "server": "https://s/k8s",
                    "tls-server-name": "name",
                    "certificate-authority-data": base64(&pem),
                    "config": {"audience": "a"},
                },
            },
        })
    );
}

#[tokio::test]
async fn a_person_is_needed_always_never_or_if_there_is_one() {
    let table = [
        ("Never", false, Some(false)),
        ("Never", true, Some(false)),
        ("IfAvailable", false, Some(false)),
        ("IfAvailable", true, Some(true)),
        ("Always", false, None),
        ("Always", true, Some(true)),
    ];
    for (mode, has_terminal, expected) in table {
        let seen = Arc::new(Mutex::new(None));
        let told = seen.clone();
        let mut environment = home().plugin("login", move |command: &PluginCommand| {
            *told.lock().unwrap() = Some(command.interactive);
            printed(&answer(json!({"token": "t"})))
        });
        if has_terminal {
            environment = environment.with_terminal();
        }
        let user = format!("exec: {{command: login, apiVersion: {V1}, interactiveMode: {mode}}}");
        let result = signed_in(&config_of(&environment, &user)).await;
        assert_eq!(*seen.lock().unwrap(), expected, "{mode}, {has_terminal}");
        match result {
            Ok(_) => assert!(expected.is_some()),
            Err(error) => assert!(sentence(&error).contains("no terminal"), "{error}"),
        }
    }
}

#[tokio::test]
async fn what_it_must_not_answer_is_an_error_that_quotes_no_secret() {
    let (pem, key) = certificate();
    let (_, other) = certificate();
    let table = [
        (json!("s3cret"), "no ExecCredential"),
        (json!({"kind": "Other", "apiVersion": V1}), "\"Other\""),
        (
            json!({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1", "status": {"token": "s3cret"}}),
            "v1beta1",
        ),
        (json!({"kind": "ExecCredential", "apiVersion": V1}), "no status"),
        (answer(json!({})), "neither a token nor a certificate"),
        (answer(json!({"clientKeyData": key})), "only one of"),
        (answer(json!({"clientCertificateData": pem})), "only one of"),
        (
            answer(json!({"clientCertificateData": pem, "clientKeyData": other})),
            "a key that is not that of its certificate",
        ),
        (
            answer(json!({"clientCertificateData": "s3cret", "clientKeyData": "s3cret"})),
            "does not hold a certificate",
        ),
        (
            answer(json!({"token": "s3cret", "expirationTimestamp": "s3cret"})),
            "an expirationTimestamp that is no time",
        ),
        (answer(json!({"token": "s3cret\u{1}"})), "characters"),
        (answer(json!({"token": ["s3cret"]})), "no ExecCredential"),
    ];
    for (printed_value, why) in table {
        let environment = home().plugin("login", move |_| printed(&printed_value));
        let error = signed_in(&config_of(&environment, &user(""))).await.unwrap_err();
        let sentence = sentence(&error);
        assert!(
            sentence.starts_with("/home/ada/.kube/config: user \"u\": exec: "),
            "{sentence}"
        );
        assert!(sentence.contains(why), "{sentence}");
        assert!(!sentence.contains("s3cret"), "{sentence}");
    }
}

#[tokio::test]
async fn one_that_fails_is_an_error_and_runs_again_for_the_next_request() {
    let n_runs = Arc::new(AtomicUsize::new(0));
    let runs = n_runs.clone();
    let environment = home().plugin("login", move |_| match runs.fetch_add(1, Ordering::SeqCst) {
        0 => Ok(PluginOutput {
            code: Some(3),
            printed: Vec::new(),
        }),
        1 => Ok(PluginOutput {
            code: None,
            printed: Vec::new(),
        }),
        2 => Err(io::ErrorKind::NotFound.into()),
        _ => printed(&answer(json!({"token": "t"}))),
    });
    let config = config_of(&environment, &user(", installHint: try the package login"));
    for why in ["exit code 3", "by a signal", "try the package login"] {
        let error = signed_in(&config).await.unwrap_err();
        assert!(sentence(&error).contains(why), "{}", sentence(&error));
    }
    assert_eq!(signed_in(&config).await.unwrap().as_deref(), Some("Bearer t"));
}

#[tokio::test]
async fn a_certificate_reaches_connections_and_its_change_replaces_them() {
    let (first, second) = (certificate(), certificate());
    let n_runs = Arc::new(AtomicUsize::new(0));
    let runs = n_runs.clone();
    let pairs = [first.clone(), first.clone(), second.clone()];
    let environment = home().plugin("login", move |_| {
        let (pem, key) = &pairs[runs.fetch_add(1, Ordering::SeqCst)];
        printed(&answer(
            json!({"clientCertificateData": pem, "clientKeyData": key}),
        ))
    });
    let config = config_of(&environment, &user(""));
    assert!(material(&config).client.is_none(), "nobody signed in yet");
    let mut generations = Vec::new();
    for expected in [&first, &first, &second] {
        let (header, issue) = issued(&config).await.unwrap();
        assert_eq!(header, None, "no token");
        let material = material(&config);
        assert_eq!(*material.client.unwrap().certificate, *expected.0.as_bytes());
        generations.push(material.generation);
        config.authorizer().rejected(issue);
    }
    assert_eq!(
        generations[0], generations[1],
        "the same certificate keeps its connections"
    );
    assert!(generations[1] < generations[2]);
}

/// Writes down what it is told.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl PluginMetrics for Notes {
    fn called(&self, call: PluginCall) {
        self.0.lock().unwrap().push(format!("{call:?}"));
    }

    fn renewed(&self, entry: &str, expires: Option<SystemTime>, lived: Option<Duration>) {
        let expires = expires.map(|at| at.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs());
        self.0
            .lock()
            .unwrap()
            .push(format!("{entry}: until {expires:?}, after {lived:?}"));
    }

    fn gone(&self, entry: &str) {
        self.0.lock().unwrap().push(format!("{entry}: gone"));
    }
}

#[tokio::test]
async fn runs_and_the_lives_of_certificates_are_told() {
    let n_runs = AtomicUsize::new(0);
    let dated = |days: u32| {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut parameters = rcgen::CertificateParams::new(["a".to_owned()]).unwrap();
        parameters.not_before = rcgen::date_time_ymd(1970, 1, 1);
        parameters.not_after = rcgen::date_time_ymd(1970, 1, u8::try_from(1 + days).unwrap());
        let pem = parameters.self_signed(&key).unwrap().pem();
        answer(json!({"clientCertificateData": pem, "clientKeyData": key.serialize_pem()}))
    };
    let (first, second) = (dated(1), dated(2));
    let environment = home().plugin("login", move |_| match n_runs.fetch_add(1, Ordering::SeqCst) {
        0 => Err(io::ErrorKind::NotFound.into()),
        1 => Err(io::ErrorKind::OutOfMemory.into()),
        2 => Ok(PluginOutput {
            code: Some(7),
            printed: Vec::new(),
        }),
        3 | 4 => printed(&first),
        5 => printed(&second),
        _ => printed(&answer(json!({"token": "t"}))),
    });
    let environment = environment.file(FILE, file("server: 'https://s'", &user("")));
    let notes = Arc::new(Notes::default());
    let mut overrides = Overrides::default();
    overrides.exec_metrics = Some(notes.clone());
    let config = find(&environment, &overrides).unwrap().unwrap();
    for _ in 0..3 {
        signed_in(&config).await.unwrap_err();
    }
    for _ in 0..4 {
        let (_, issue) = issued(&config).await.unwrap();
        environment.advance(Duration::from_secs(3600));
        config.authorizer().rejected(issue);
    }
    drop(config);
    let entry = "/home/ada/.kube/config: user \"u\": exec";
    assert_eq!(
        *notes.0.lock().unwrap(),
        [
            "NotFound".to_owned(),
            "NotStarted".to_owned(),
            "Failed { code: Some(7) }".to_owned(),
            "Good".to_owned(),
            format!("{entry}: until Some(86400), after None"),
            "Good".to_owned(),
            "Good".to_owned(),
            format!("{entry}: until Some(172800), after Some(7200s)"),
            "Good".to_owned(),
            format!("{entry}: until None, after Some(10800s)"),
            format!("{entry}: gone"),
        ]
    );
}

#[tokio::test]
async fn credentials_that_are_written_down_win() {
    let (pem, key) = certificate();
    let pair = format!(
        "client-certificate-data: {}, client-key-data: {}",
        base64(&pem),
        base64(&key)
    );
    for more in ["token: t", "username: a, password: b", &pair] {
        let environment = home().plugin("login", |_| panic!("it is not needed"));
        let config = config_of(&environment, &format!("{}, {more}", user("")));
        signed_in(&config).await.unwrap();
    }
}

#[test]
fn a_policy_says_which_may_run() {
    let environment = with(json!({"token": "t"}))
        .plugin("/opt/bin/login", |_| printed(&answer(json!({"token": "t"}))))
        .var("PATH", "/bin:/opt/bin")
        .file(FILE, file("server: 'https://s'", &user("")));
    let allowed = |policy: ExecPolicy| {
        let mut overrides = Overrides::default();
        overrides.exec_policy = policy;
        find(&environment, &overrides).map(drop)
    };
    let list = |commands: &[&str]| ExecPolicy::Allowlist(commands.iter().map(ToString::to_string).collect());
    assert!(allowed(ExecPolicy::AllowAll).is_ok());
    assert!(allowed(list(&["other", "login"])).is_ok());
    assert!(
        allowed(list(&["/opt/bin/login"])).is_ok(),
        "the program that is found"
    );
    for refused in [
        ExecPolicy::DenyAll,
        list(&[]),
        list(&["/bin/login", "log", "other"]),
    ] {
        let error = allowed(refused).unwrap_err();
        assert!(error.to_string().contains("may not run"), "{error}");
    }
}

/// A program of its own, in a folder of its own.
struct Script(tempfile::TempDir);

impl Script {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("login");
        fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self(folder)
    }

    fn config(&self, timeout: Option<Duration>) -> Config {
        let path = self.0.path().join("config");
        let user = user("").replace("command: login", "command: ./login");
        fs::write(&path, file("server: 'https://s'", &user)).unwrap();
        let mut overrides = Overrides::default();
        overrides.kubeconfig = Some(path);
        overrides.exec_timeout = timeout;
        Config::find_in(Arc::new(ProcessEnvironment), &overrides)
            .unwrap()
            .unwrap()
    }

    fn lines(&self, name: &str) -> usize {
        fs::read_to_string(self.0.path().join(name))
            .unwrap_or_default()
            .lines()
            .count()
    }
}

#[tokio::test]
async fn twenty_who_need_credentials_wait_for_one_run_of_a_real_program() {
    let script = Script::new(&format!(
        r#"cd "$(dirname "$0")"; echo run >> runs
        echo '{{"kind":"ExecCredential","apiVersion":"{V1}","status":{{"token":"real"}}}}'"#
    ));
    let config = script.config(None);
    let mut waiting = JoinSet::new();
    for _ in 0..20 {
        let config = config.clone();
        waiting.spawn(async move { signed_in(&config).await });
    }
    while let Some(signed_in) = waiting.join_next().await {
        assert_eq!(signed_in.unwrap().unwrap().as_deref(), Some("Bearer real"));
    }
    assert_eq!(script.lines("runs"), 1);
}

#[tokio::test]
async fn one_that_hangs_is_ended_and_holds_nobody_else_up() {
    let script = Script::new(
        r#"cd "$(dirname "$0")"; tail -f /dev/null & echo "$!" > child; echo "$$" > own; exec tail -f /dev/null"#,
    );
    let config = script.config(Some(Duration::from_secs(1)));
    let mut hanging = JoinSet::new();
    hanging.spawn({
        let config = config.clone();
        async move { signed_in(&config).await }
    });
    // Whatever else runs here goes on meanwhile: the runtime has this one thread.
    let mut n_turns = 0_u64;
    let ended = loop {
        if let Some(ended) = hanging.try_join_next() {
            break ended;
        }
        n_turns += 1;
        tokio::task::yield_now().await;
    };
    assert!(n_turns > 100, "{n_turns}");
    let error = ended.unwrap().unwrap_err();
    assert!(sentence(&error).contains("did not end within 1s"), "{error}");
    // It is gone, and so is what it began.
    for name in ["own", "child"] {
        let number = fs::read_to_string(script.0.path().join(name)).unwrap();
        while is_running(number.trim()) {
            tokio::task::yield_now().await;
        }
    }
}

/// Whether a process is there and has not ended; one that nobody has waited for yet has.
fn is_running(number: &str) -> bool {
    let state = std::process::Command::new("ps")
        .args(["-o", "stat=", "-p", number])
        .output()
        .unwrap();
    let state = String::from_utf8(state.stdout).unwrap();
    !state.trim().is_empty() && !state.starts_with('Z')
}

#[tokio::test]
async fn one_that_prints_without_end_is_ended_and_named() {
    let script =
        Script::new(r#"cd "$(dirname "$0")"; echo "$$" > own; while :; do echo s3cret-s3cret-s3cret; done"#);
    let config = script.config(None);
    let error = signed_in(&config).await.unwrap_err();
    let told = sentence(&error);
    assert!(told.contains("is of no use"), "{told}");
    assert!(told.contains("printed more than 1048576 bytes"), "{told}");
    assert!(!told.contains("s3cret"));
    let number = fs::read_to_string(script.0.path().join("own")).unwrap();
    while is_running(number.trim()) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_request_that_is_given_up_leaves_the_run_to_the_next() {
    let script = Script::new(&format!(
        r#"cd "$(dirname "$0")"; echo run >> runs; while [ ! -e go ]; do :; done
        echo '{{"kind":"ExecCredential","apiVersion":"{V1}","status":{{"token":"late"}}}}'"#
    ));
    let config = script.config(None);
    let mut first = JoinSet::new();
    first.spawn({
        let config = config.clone();
        async move { signed_in(&config).await }
    });
    while script.lines("runs") == 0 {
        tokio::task::yield_now().await;
    }
    first.shutdown().await;
    fs::write(script.0.path().join("go"), "").unwrap();
    assert_eq!(signed_in(&config).await.unwrap().as_deref(), Some("Bearer late"));
    assert_eq!(script.lines("runs"), 1);
}
