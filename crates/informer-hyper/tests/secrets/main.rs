//! Secrets are planted in everything that holds one, used, and looked for in all that is said: logs and spans of every crate at the most
//! talkative level, errors with their causes, and what values print of themselves.
//!
//! A program of its own, since it listens to the whole process.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../it/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "other tests need more of it")]
mod support;

use std::{
    fmt::{Debug, Write as _},
    io,
    sync::{Arc, Mutex},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::header::AUTHORIZATION;
use informer_hyper::{Builder, HttpVersion, HyperTransport};
use informer_kubeconfig::{Config, Overrides};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tracing_subscriber::fmt::MakeWriter;

use self::support::{Authority, Server, Wire, answer, fetch, sentence};

const TOKEN: &str = "planted-token-7f3a";
const PASSWORD: &str = "planted-password-91bc";
const EXEC_TOKEN: &str = "planted-exec-token-5d2e";
const PROXY_PASSWORD: &str = "planted-proxy-password-c044";
const URL_PASSWORD: &str = "planted-url-password-aa17";
const BROKEN_KEY: &str = "planted-broken-key-e3b0";

/// All that is said.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<u8>>>);

impl io::Write for Heard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Heard {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// A cluster that wants to see one of these headers, and everything to reach it.
struct Cluster {
    server: Server,
    authority: Authority,
    seen: Arc<Mutex<Vec<String>>>,
    folder: tempfile::TempDir,
    heard: Heard,
}

impl Cluster {
    async fn start(heard: Heard) -> Self {
        let authority = Authority::new("ours");
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let headers = Arc::clone(&seen);
        let config = authority
            .issue(&["127.0.0.1"])
            .for_server(None, &["h2", "http/1.1"]);
        let server = Server::start(Wire::Tls(config), move |request| {
            let header = request.headers().get(AUTHORIZATION);
            let text = header.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
            headers.lock().unwrap().push(text.unwrap_or_default());
            async { answer("ok") }
        });
        Self {
            server: server.await,
            authority,
            seen,
            folder: tempfile::tempdir().unwrap(),
            heard,
        }
    }

    /// A kubeconfig of this user, with this said of the cluster besides, as a configuration or the sentence that it is refused with.
    fn config(&self, user: &Value, cluster: &Value) -> Result<Config, String> {
        let mut entry = json!({
            "server": self.server.url(),
            "certificate-authority-data": BASE64_STANDARD.encode(self.authority.pem()),
        });
        for (key, value) in cluster.as_object().unwrap() {
            entry[key] = value.clone();
        }
        let document = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": entry}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        });
        self.read(&document.to_string())
    }

    fn read(&self, document: &str) -> Result<Config, String> {
        let path = self.folder.path().join("config");
        std::fs::write(&path, document).unwrap();
        let mut overrides = Overrides::default();
        overrides.kubeconfig = Some(path);
        overrides.token = None;
        let found = Config::find(&overrides);
        self.say(&found);
        match found {
            Ok(config) => Ok(config.expect("the file is there")),
            Err(error) => {
                let text = sentence(&error);
                self.say(&text);
                Err(text)
            }
        }
    }

    /// What somebody may print.
    fn say(&self, value: &dyn Debug) {
        let mut text = String::new();
        write!(text, "printed: {value:?} {value:#?}").unwrap();
        self.heard.0.lock().unwrap().extend_from_slice(text.as_bytes());
    }

    /// Asks in both versions of HTTP, and says all that can be said.
    async fn ask(&self, config: &Config) -> Vec<Result<(), String>> {
        let mut outcomes = Vec::new();
        for version in [HttpVersion::Http1, HttpVersion::Http2] {
            let builder = builder(config).http_version(version).max_retries(0);
            self.say(&builder);
            let transport = match builder.build() {
                Ok(transport) => transport,
                Err(error) => {
                    self.say(&error);
                    self.say(&sentence(&error));
                    outcomes.push(Err(sentence(&error)));
                    continue;
                }
            };
            self.say(&transport);
            let fetched = fetch(&transport, "/api").await;
            self.say(&fetched);
            self.say(&config.tls().current());
            outcomes.push(fetched.map(|_| ()).map_err(|error| sentence(&error)));
        }
        outcomes
    }

    /// The server has seen this since it was asked last, each time.
    fn saw(&self, expected: &str) {
        let seen = std::mem::take(&mut *self.seen.lock().unwrap());
        assert_eq!(seen, [expected, expected]);
    }
}

fn builder(config: &Config) -> Builder {
    HyperTransport::builder(config.server())
        .authorize(config.authorizer())
        .tls(config.tls())
        .proxy(config.proxy())
}

/// A proxy that wants a password, and writes down what it gets.
async fn proxy(is_good: bool) -> (String, Arc<Mutex<Vec<String>>>, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!(
        "http://somebody:{PROXY_PASSWORD}@{}",
        listener.local_addr().unwrap()
    );
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let heads = Arc::clone(&seen);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(client.read_u8().await.unwrap());
            }
            let head = String::from_utf8(head).unwrap();
            let target = head.split(' ').nth(1).unwrap().to_owned();
            heads.lock().unwrap().push(head);
            if !is_good {
                let refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n";
                client.write_all(refusal).await.unwrap();
                continue;
            }
            let mut server = TcpStream::connect(target).await.unwrap();
            client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            let _ = copy_bidirectional(&mut client, &mut server).await;
        }
    });
    (url, seen, tasks)
}

fn exec(script: &str) -> Value {
    json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", script], "interactiveMode": "Never",
    }})
}

#[tokio::test]
async fn no_secret_is_ever_said() {
    let heard = Heard::default();
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(heard.clone())
        .init();
    let cluster = Cluster::start(heard.clone()).await;
    let ok = vec![Ok(()), Ok(())];
    let nothing = json!({});

    let config = cluster.config(&json!({"token": TOKEN}), &nothing).unwrap();
    assert_eq!(cluster.ask(&config).await, ok);
    cluster.saw(&format!("Bearer {TOKEN}"));

    let basic = json!({"username": "somebody", "password": PASSWORD});
    let pair = BASE64_STANDARD.encode(format!("somebody:{PASSWORD}"));
    let config = cluster.config(&basic, &nothing).unwrap();
    assert_eq!(cluster.ask(&config).await, ok);
    cluster.saw(&format!("Basic {pair}"));

    let printed = json!({
        "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": EXEC_TOKEN},
    });
    let config = cluster
        .config(&exec(&format!("echo '{printed}'")), &nothing)
        .unwrap();
    assert_eq!(cluster.ask(&config).await, ok);
    cluster.saw(&format!("Bearer {EXEC_TOKEN}"));
    // One that says no JSON, and one that fails after it said it.
    for script in [
        format!("echo '{EXEC_TOKEN}'"),
        format!("echo '{printed}'; exit 3"),
    ] {
        let config = cluster.config(&exec(&script), &nothing).unwrap();
        assert!(cluster.ask(&config).await.iter().all(Result::is_err));
    }

    let identity = cluster.authority.issue(&["somebody"]);
    let certificate = |key: &str| {
        json!({
            "client-certificate-data": BASE64_STANDARD.encode(&identity.certificate),
            "client-key-data": BASE64_STANDARD.encode(key),
        })
    };
    let config = cluster.config(&certificate(&identity.key), &nothing).unwrap();
    assert_eq!(cluster.ask(&config).await, ok);
    cluster.saw("");
    let other = cluster.authority.issue(&["another"]).key;
    let broken = format!("-----BEGIN PRIVATE KEY-----\n{BROKEN_KEY}\n-----END PRIVATE KEY-----\n");
    for key in [&*other, &*broken, BROKEN_KEY] {
        // Refused when it is read or when it is used.
        if let Ok(config) = cluster.config(&certificate(key), &nothing) {
            assert!(cluster.ask(&config).await.iter().all(Result::is_err));
        }
    }

    let proxy_pair = BASE64_STANDARD.encode(format!("somebody:{PROXY_PASSWORD}"));
    for is_good in [true, false] {
        let (url, seen, _tasks) = proxy(is_good).await;
        let through = json!({"proxy-url": url});
        let config = cluster.config(&json!({"token": TOKEN}), &through).unwrap();
        let outcomes = cluster.ask(&config).await;
        assert!(
            outcomes.iter().all(|outcome| outcome.is_ok() == is_good),
            "{outcomes:?}"
        );
        assert!(seen.lock().unwrap().iter().all(|head| head.contains(&proxy_pair)));
        assert_eq!(seen.lock().unwrap().len(), 2);
        if is_good {
            cluster.saw(&format!("Bearer {TOKEN}"));
        }
    }
    for url in ["ftp", "http://[", "http"] {
        let url = format!("{url}://somebody:{PROXY_PASSWORD}@127.0.0.1:99999");
        if let Ok(config) = cluster.config(&json!({"token": TOKEN}), &json!({"proxy-url": url})) {
            assert!(cluster.ask(&config).await.iter().all(Result::is_err));
        }
    }

    let url = format!("https://somebody:{URL_PASSWORD}@127.0.0.1:1");
    if let Ok(config) = cluster.config(&json!({"token": TOKEN}), &json!({"server": url})) {
        assert!(cluster.ask(&config).await.iter().all(Result::is_err));
    }
    // A file that cannot be read, near a secret.
    for document in [
        format!("users: [{{name: u, user: {{token: {TOKEN}"),
        format!("users: [{{name: u, user: {{token: [{TOKEN}]}}}}]"),
        format!("users: {TOKEN}"),
        format!("users:\n- name: u\n  user:\n    password: \"{PASSWORD}\n"),
        format!(
            "users: [{{name: u, user: {{client-key-data: '*{BROKEN_KEY}*', client-certificate-data: eA==}}}}]\ncontexts: [{{name: c, context: {{user: u}}}}]\ncurrent-context: c"
        ),
    ] {
        cluster
            .read(&document)
            .map(|config| cluster.say(&config))
            .unwrap_or_default();
    }

    let said = String::from_utf8_lossy(&heard.0.lock().unwrap()).into_owned();
    // It did listen: to us, to HTTP, and to TLS, which logs in another way.
    for expected in ["Connection opened", " h2::", " rustls::", "printed: "] {
        assert!(said.contains(expected), "nothing was heard of {expected:?}");
    }
    let key_line = identity.key.lines().nth(1).unwrap();
    let key_data = BASE64_STANDARD.encode(&identity.key);
    let secrets = [
        TOKEN,
        PASSWORD,
        EXEC_TOKEN,
        PROXY_PASSWORD,
        URL_PASSWORD,
        BROKEN_KEY,
        &pair,
        &proxy_pair,
        key_line,
        &key_data,
    ];
    for secret in secrets {
        let lines: Vec<_> = said.lines().filter(|line| line.contains(secret)).collect();
        assert!(lines.is_empty(), "{secret} was said: {lines:#?}");
    }
}
