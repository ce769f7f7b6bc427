//! Secrets are planted in every place that holds one, requests are made with them, and everything that is printed meanwhile is searched:
//! logs of every level, errors with their causes, and `Debug` of whatever is public.

use std::{
    fmt::{Debug, Write as _},
    fs, io,
    path::Path,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use http::{HeaderMap, Request};
use informer_hyper::{HttpVersion, HyperTransport};
use informer_kubeconfig::{
    Config, Environment, Kubeconfig, MemoryEnvironment, Overrides, PluginCommand, PluginOutput,
    ProcessEnvironment,
};
use informer_transport::Transport as _;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

use crate::support::{FILE, base64, certificate, config, file, find, home, sentence};

/// Stands in every secret that is text.
const MARK: &str = "pl4nted";
const PASSWORD: &str = "pl4nted-password";

/// Everything that was logged in this process.
fn logged() -> &'static Mutex<Vec<u8>> {
    static LOGGED: OnceLock<Mutex<Vec<u8>>> = OnceLock::new();
    LOGGED.get_or_init(|| {
        tracing_subscriber::fmt()
            .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
            .with_ansi(false)
            .with_writer(|| Log)
            .init();
        Mutex::default()
    })
}

struct Log;

impl io::Write for Log {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        logged().lock().unwrap().extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What was printed besides.
#[derive(Default)]
struct Printed(String);

impl Printed {
    fn debug(&mut self, value: &dyn Debug) {
        writeln!(self.0, "{value:?}\n{value:#?}").unwrap();
    }

    fn text(&mut self, text: &str) {
        writeln!(self.0, "{text}").unwrap();
    }

    fn config(&mut self, config: &Config) {
        let description = config.describe();
        self.debug(config);
        self.debug(&description);
        self.text(&description.to_string());
        self.text(&serde_json::to_string(&description).unwrap());
        self.debug(&config.tls().current().unwrap());
    }

    fn kubeconfig(&mut self, kubeconfig: &Kubeconfig) {
        let description = kubeconfig.describe();
        self.debug(kubeconfig);
        self.debug(&description);
        self.text(&description.to_string());
        self.text(&serde_json::to_string(&description).unwrap());
    }

    fn error(&mut self, error: &dyn std::error::Error) {
        self.text(&sentence(error));
        self.debug(&error);
    }

    /// None of these is in what was printed or logged.
    fn holds_none_of(&self, secrets: &[String]) {
        let logged = String::from_utf8_lossy(&logged().lock().unwrap()).into_owned();
        let ways = [MARK.to_owned(), base64(&format!("ada:{PASSWORD}"))];
        for secret in secrets.iter().chain(&ways) {
            for (where_, text) in [("printed", &self.0), ("logged", &logged)] {
                if let Some(at) = text.find(secret.as_str()) {
                    let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
                    panic!("{where_}: {}", text[line..].lines().next().unwrap_or_default());
                }
            }
        }
    }
}

/// A proxy and the server behind it in one: answers 401 to every other request, and else 200.
async fn serve(listener: TcpListener, connect: &'static str) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(talk(stream, connect));
    }
}

async fn talk(mut stream: TcpStream, connect: &str) -> io::Result<()> {
    static N_REQUESTS: AtomicUsize = AtomicUsize::new(0);
    loop {
        let mut head = Vec::new();
        let mut first = [0];
        if stream.peek(&mut first).await? == 0 || first == [0x16] {
            // The client is gone, or speaks TLS.
            return Ok(());
        }
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        if head.starts_with(b"CONNECT") {
            stream
                .write_all(format!("HTTP/1.1 {connect}\r\n\r\n").as_bytes())
                .await?;
            if !connect.starts_with("200") {
                return Ok(());
            }
            continue;
        }
        let is_odd = N_REQUESTS.fetch_add(1, Ordering::Relaxed) % 2 == 1;
        let status = if is_odd { "200 OK" } else { "401 Unauthorized" };
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\nok");
        stream.write_all(answer.as_bytes()).await?;
    }
}

/// Requests with these credentials, until the server is content, or an error.
async fn ask(config: &Config, printed: &mut Printed) {
    let builder = HyperTransport::builder(config.server())
        .authorize(config.authorizer())
        .tls(config.tls())
        .proxy(config.proxy())
        .ignore_proxy_variables()
        .http_version(HttpVersion::Http1);
    printed.debug(&builder);
    let transport = match builder.build() {
        Ok(transport) => transport,
        Err(error) => return printed.error(&error),
    };
    printed.debug(&transport);
    for _ in 0..2 {
        match transport
            .send(Request::get("/api").body(Bytes::new()).unwrap())
            .await
        {
            Ok(response) => printed.text(&response.status().to_string()),
            Err(error) => printed.error(&error),
        }
    }
    let mut headers = HeaderMap::new();
    match config.authorizer().authorize(&mut headers).await {
        Ok(issue) => {
            printed.debug(&(&headers, issue));
            config.authorizer().rejected(issue);
        }
        Err(error) => printed.error(&error),
    }
}

/// A program that prints these lines and ends with this code.
fn program(folder: &Path, name: &str, prints: &str, code: u8) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.join(name);
    fs::write(
        &path,
        format!("#!/bin/sh\ncat <<'END'\n{prints}\nEND\nexit {code}\n"),
    )
    .unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// An exec entry of that program, with secrets for it.
fn exec(program: &str) -> String {
    format!(
        "exec: {{apiVersion: client.authentication.k8s.io/v1, command: {program}, interactiveMode: Never, \
          args: [--key, pl4nted-argument], env: [{{name: KEY, value: pl4nted-variable}}]}}"
    )
}

fn users(folder: &Path) -> Vec<String> {
    let credential = |status: &str| {
        format!(
            r#"{{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{status}}}"#
        )
    };
    let mut users = vec![
        "token: pl4nted-token".to_owned(),
        format!("username: ada, password: {PASSWORD}"),
        "tokenFile: token".to_owned(),
        "token: \"pl4nted\\u0007token\"".to_owned(),
    ];
    for (name, prints, code) in [
        ("good", credential(r#"{"token":"pl4nted-of-exec"}"#), 0),
        ("half", credential(r#"{"clientKeyData":"pl4nted-key"}"#), 0),
        (
            "no-pem",
            credential(r#"{"clientKeyData":"pl4nted","clientCertificateData":"pl4nted"}"#),
            0,
        ),
        (
            "no-time",
            credential(r#"{"token":"pl4nted","expirationTimestamp":"pl4nted"}"#),
            0,
        ),
        ("wrong-type", credential(r#""pl4nted""#), 0),
        ("no-json", "pl4nted".to_owned(), 0),
        ("no-header", credential(r#"{"token":"pl4nted\u0007"}"#), 0),
        ("fails", "pl4nted".to_owned(), 3),
    ] {
        users.push(exec(&program(folder, name, &prints, code)));
    }
    users
}

#[tokio::test]
async fn requests_with_each_kind_of_secret_print_none() {
    logged();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("token"), "pl4nted-of-the-file").unwrap();
    let mut printed = Printed::default();
    for connect in ["200 OK", "407 Proxy Authentication Required"] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut serving = JoinSet::new();
        serving.spawn(serve(listener, connect));
        let cluster = format!("server: 'http://{address}', proxy-url: 'http://ada:{PASSWORD}@{address}'");
        for user in users(folder.path()) {
            let path = folder.path().join("config");
            fs::write(&path, file(&cluster, &user)).unwrap();
            printed.kubeconfig(&Kubeconfig::parse(&fs::read(&path).unwrap(), &path).unwrap());
            let mut overrides = Overrides::default();
            overrides.kubeconfig = Some(path);
            match Config::find(&overrides) {
                Ok(config) => {
                    let config = config.unwrap();
                    printed.config(&config);
                    ask(&config, &mut printed).await;
                    printed.config(&config);
                }
                Err(error) => printed.error(&error),
            }
        }
    }
    // Otherwise nothing was tried.
    for expected in [
        "200 OK",
        "401 Unauthorized",
        "proxy authorization required",
        "Sensitive",
    ] {
        assert!(printed.0.contains(expected), "{expected}");
    }
    assert!(!logged().lock().unwrap().is_empty());
    printed.holds_none_of(&[]);
}

#[tokio::test]
async fn a_client_key_is_not_printed_whatever_is_wrong_with_it() {
    logged();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // Speaks no TLS, so that the handshake fails.
    let mut serving = JoinSet::new();
    serving.spawn(serve(listener, "200 OK"));
    let (pem, key) = certificate();
    let (_, other) = certificate();
    let mut printed = Printed::default();
    let broken = key.replacen('M', "!", 1);
    let headless = key.replace("-----BEGIN", "BEGIN");
    let keys = [key.clone(), other.clone(), broken, headless];
    for key in &keys {
        let user = format!(
            "client-certificate-data: {}, client-key-data: {}",
            base64(&pem),
            base64(key)
        );
        match config(&format!("server: 'https://{address}'"), &user) {
            Ok(config) => {
                printed.config(&config);
                ask(&config, &mut printed).await;
            }
            Err(error) => printed.error(&error),
        }
    }
    let lines = |key: &String| {
        key.lines()
            .filter(|line| !line.starts_with('-'))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let mut secrets: Vec<String> = [&key, &other]
        .into_iter()
        .flat_map(lines)
        .filter(|line| line.len() > 20)
        .collect();
    secrets.extend([&key, &other].map(|key| base64(key)[60..100].to_owned()));
    assert!(secrets.len() >= 4);
    printed.holds_none_of(&secrets);
}

#[test]
fn files_that_cannot_be_read_are_not_quoted() {
    logged();
    let mut printed = Printed::default();
    let server = "server: 'https://s'";
    let tables = [
        file(server, "token: {a: pl4nted}"),
        file(server, "token: [pl4nted]"),
        file(server, "tokenFile: {pl4nted: pl4nted}"),
        file(server, "exec: pl4nted"),
        file(server, "exec: {args: pl4nted, env: pl4nted}"),
        file(server, "exec: {env: [pl4nted]}"),
        file(server, "as-groups: pl4nted"),
        file(server, "as-user-extra: pl4nted"),
        file(server, "client-key-data: pl4nted"),
        file(
            server,
            "client-certificate-data: pl4nted, client-key-data: pl4nted",
        ),
        file("server: 'https://s', insecure-skip-tls-verify: pl4nted", ""),
        file("server: 'https://ada:pl4nted@s'", ""),
        file("server: 'https://ada:pl4nted@s:port'", ""),
        file("server: 'https://ada:pl4nted/x y@s'", ""),
        file("server: 'ada:pl4nted@s'", ""),
        file("server: 'https://s', proxy-url: 'http://ada:pl4nted@p:port'", ""),
        file("server: 'https://s', proxy-url: 'ada:pl4nted@p'", ""),
        file("server: 'https://s', proxy-url: 'http://ada:pl4nted p'", ""),
        file("server: 'https://s', proxy-url: 'ftp://ada:pl4nted@p'", ""),
        file("server: 'https://s', certificate-authority-data: pl4nted", ""),
        file(server, "token: t").replace("user: {token: t}", "user: pl4nted"),
        "users: pl4nted".to_owned(),
        "users: [pl4nted]".to_owned(),
        "pl4nted".to_owned(),
        "users: [{name: u, user: {token: pl4nted".to_owned(),
        "users: [{name: u, user: {token: *pl4nted}}]".to_owned(),
        "users: [{name: u, user: {token: \"pl4nted\\q\"}}]".to_owned(),
        "users: [{name: u, user: {token: !!int pl4nted}}]".to_owned(),
        "users: [{name: u, user: {token: 'pl4nted}}]".to_owned(),
    ];
    let mut n_refused = 0;
    for content in tables {
        let path = Path::new(FILE);
        match Kubeconfig::parse(content.as_bytes(), path) {
            Ok(kubeconfig) => printed.kubeconfig(&kubeconfig),
            Err(error) => printed.error(&error),
        }
        match find(&home().file(FILE, content), &Overrides::default()) {
            Ok(config) => printed.config(&config.unwrap()),
            Err(error) => {
                n_refused += 1;
                printed.error(&error);
            }
        }
    }
    assert!(n_refused > 20, "{n_refused}");
    printed.holds_none_of(&[]);
}

#[test]
fn nothing_that_can_be_printed_prints_a_secret() {
    logged();
    let mut printed = Printed::default();
    let mut overrides = Overrides::default();
    overrides.token = Some("pl4nted".to_owned());
    overrides.server = Some(format!("https://ada:{PASSWORD}@s"));
    printed.debug(&overrides);
    let seen = Arc::new(Mutex::new(None::<PluginCommand>));
    let environment = {
        let seen = Arc::clone(&seen);
        MemoryEnvironment::new()
            .var("HOME", "/home/ada")
            .var("KEY", "pl4nted")
            .plugin("login", move |command| {
                *seen.lock().unwrap() = Some(command.clone());
                Ok(PluginOutput {
                    code: Some(1),
                    printed: b"pl4nted".to_vec(),
                })
            })
            .file(FILE, file("server: 'https://s'", &exec("login")))
    };
    let config = find(&environment, &Overrides::default()).unwrap().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let refused = runtime.block_on(config.authorizer().authorize(&mut HeaderMap::new()));
    printed.error(&refused.unwrap_err());
    printed.debug(&environment);
    printed.debug(&seen.lock().unwrap().take().expect("it ran"));
    printed.debug(&PluginOutput {
        code: None,
        printed: b"pl4nted".to_vec(),
    });
    printed.debug(&ProcessEnvironment);
    let shared: Arc<dyn Environment> = Arc::new(environment);
    let in_cluster = Config::in_cluster_in(
        Arc::new(
            MemoryEnvironment::new()
                .var("KUBERNETES_SERVICE_HOST", "10.0.0.1")
                .var("KUBERNETES_SERVICE_PORT", "443")
                .file("/account/token", "pl4nted"),
        ),
        &Overrides::default(),
        Path::new("/account"),
    );
    printed.config(&in_cluster.unwrap());
    let kubeconfig = Kubeconfig::parse(
        file("server: 'https://s'", &exec("login")).as_bytes(),
        Path::new(FILE),
    );
    printed.config(&Config::from_kubeconfig(&kubeconfig.unwrap(), shared, &Overrides::default()).unwrap());
    printed.holds_none_of(&[]);
}
