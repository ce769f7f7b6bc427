//! Secrets are planted wherever a process that uses everything holds one: configuration, transport, client, cache, controller, manager with
//! metrics and `/debug`, events, leader election, against a real server, with requests that fail among them. They are looked for, as they are
//! and in base64, in all that is said: logs and spans of every crate at the most talkative level, metrics, `/debug`, errors with their causes,
//! and what values print of themselves.
//!
//! A program of its own, since it listens to the whole process.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    error::Error,
    fmt::{Debug, Write as _},
    fs, io,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use apiserver_tests::{ControlPlane, Login, Options, http::Http, kubeconfig::ADMIN_TOKEN, wait};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use informer_client::{Client, Selectors};
use informer_core::Resource;
use informer_hyper::HyperTransport;
use informer_kubeconfig::{Config, Overrides};
use informer_leaderelection::Options as Replica;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream},
    task::{JoinSet, block_in_place},
};
use tracing_subscriber::fmt::MakeWriter;

const LIMIT: Duration = Duration::from_secs(90);

const WRONG_TOKEN: &str = "planted-wrong-token-2b9e";
const PASSWORD: &str = "planted-password-91bc";
const EXEC_VARIABLE: &str = "planted-exec-variable-44aa";
const EXEC_ARGUMENT: &str = "planted-exec-argument-d5f1";
const PROXY_PASSWORD: &str = "planted-proxy-password-c044";
const OVERRIDE_TOKEN: &str = "planted-override-token-60f2";
const CONTENT: &str = "planted-content-of-a-secret-8e13";

/// All that is said.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<u8>>>);

impl Heard {
    /// What somebody may print.
    fn say(&self, value: &dyn Debug) {
        let mut text = String::new();
        write!(text, "printed: {value:?} {value:#?}").unwrap();
        self.add(&text);
    }

    fn error(&self, error: &(dyn Error + 'static)) {
        self.say(&error);
        let mut next = Some(error);
        while let Some(error) = next {
            self.add(&error.to_string());
            next = error.source();
        }
    }

    fn add(&self, text: &str) {
        self.0.lock().unwrap().extend_from_slice(text.as_bytes());
    }
}

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

/// The ways in which a secret may be written: as it is, and in base64 wherever it begins in what is encoded.
fn spellings(secret: &str) -> Vec<String> {
    let mut all = vec![secret.to_owned()];
    for n_before in 0..3 {
        let encoded = BASE64_STANDARD.encode(["x".repeat(n_before).as_bytes(), secret.as_bytes()].concat());
        let encoded = encoded.trim_end_matches('=');
        // What the first and the last bytes share with their neighbours is left out.
        let from = if n_before == 0 { 0 } else { 4 };
        all.push(encoded[from..encoded.len() - 3].to_owned());
    }
    all
}

#[test]
fn a_secret_is_found_however_it_is_written() {
    for text in [
        format!("a {PASSWORD} b"),
        BASE64_STANDARD.encode(format!("ada:{PASSWORD}")),
        BASE64_STANDARD.encode(format!("adam:{PASSWORD}@")),
        BASE64_STANDARD.encode(format!("adama:{PASSWORD}:more")),
    ] {
        assert!(
            spellings(PASSWORD).iter().any(|spelling| text.contains(spelling)),
            "{text}"
        );
    }
}

/// A server, and kubeconfigs for it.
struct World {
    plane: ControlPlane,
    authority: String,
    folder: tempfile::TempDir,
    heard: Heard,
}

impl World {
    fn new(heard: Heard) -> Self {
        let plane = ControlPlane::start(Options::default()).unwrap();
        let path = plane.kubeconfig(Login::Token, None).unwrap();
        let document: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let authority = document["clusters"][0]["cluster"]["certificate-authority-data"]
            .as_str()
            .unwrap()
            .to_owned();
        Self {
            plane,
            authority,
            folder: tempfile::tempdir().unwrap(),
            heard,
        }
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    fn config(&self, user: &Value, proxy: Option<&str>, overrides: Overrides) -> Config {
        let mut cluster = json!({
            "server": format!("https://{}", self.plane.address()),
            "certificate-authority-data": self.authority,
        });
        if let Some(proxy) = proxy {
            cluster["proxy-url"] = proxy.into();
        }
        let document = json!({
            "clusters": [{"name": "c", "cluster": cluster}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "c",
        });
        let mut overrides = overrides;
        overrides.kubeconfig = Some(self.write("config", &document.to_string()));
        self.heard.say(&overrides);
        let config = Config::find(&overrides).unwrap().unwrap();
        self.heard.say(&config);
        self.heard.say(&config.describe());
        self.heard
            .add(&serde_json::to_string(&config.describe()).unwrap());
        config
    }

    fn transport(&self, config: &Config) -> HyperTransport {
        let builder = HyperTransport::builder(config.server())
            .authorize(config.authorizer())
            .tls(config.tls())
            .proxy(config.proxy())
            .accept_gzip(config.accepts_compression())
            .max_retries(0);
        self.heard.say(&builder);
        let transport = builder.build().unwrap();
        self.heard.say(&transport);
        transport
    }

    /// Reads the secrets of the server, in all forms that there are, and says what comes of it.
    async fn reads(&self, config: &Config) -> bool {
        let client = Client::new(self.transport(config));
        let secrets = Resource::namespaced("", "v1", "secrets", "Secret");
        let whole = client
            .objects::<Value>(secrets.clone())
            .list(&Selectors::all())
            .await;
        let packed = client.packed(secrets).list(&Selectors::all()).await;
        self.heard.say(&config.tls().current());
        let mut is_good = true;
        for error in [whole.err(), packed.err()].into_iter().flatten() {
            self.heard.error(&error);
            is_good = false;
        }
        is_good
    }

    fn post(&self, path: &str, body: &Value) {
        let answer = block_in_place(|| self.plane.http().send("POST", path, Some(body)));
        answer.unwrap().json().unwrap();
    }
}

/// A proxy that wants a password.
async fn proxy() -> (String, Arc<Mutex<Vec<String>>>, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://ada:{PROXY_PASSWORD}@{}", listener.local_addr().unwrap());
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let heads = Arc::clone(&seen);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut open = JoinSet::new();
        while let Ok((mut client, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(client.read_u8().await.unwrap());
            }
            let head = String::from_utf8(head).unwrap();
            let target = head.split(' ').nth(1).unwrap().to_owned();
            heads.lock().unwrap().push(head);
            open.spawn(async move {
                let mut server = TcpStream::connect(target).await.unwrap();
                client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                // However it ends.
                let _ = copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    (url, seen, tasks)
}

fn exec(script: &str) -> Value {
    json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "interactiveMode": "Never",
        "args": ["-c", script, EXEC_ARGUMENT], "env": [{"name": "PLANTED", "value": EXEC_VARIABLE}],
        "provideClusterInfo": true,
    }})
}

fn prints(token: &str) -> String {
    let answer = json!({
        "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token},
    });
    format!("[ -n \"$PLANTED\" ] && echo '{answer}'")
}

/// The example project: cache, controller, events, election, manager, metrics.
async fn runs_the_example(world: &World, config: &Config) {
    let definition = include_str!("../../../../examples/website/website.crd.json");
    let definition: Value = serde_json::from_str(definition).unwrap();
    world.post(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        &definition,
    );
    let websites = "/apis/example.com/v1/namespaces/default/websites";
    wait::until("websites are served", LIMIT, async || {
        let answer = block_in_place(|| world.plane.http().get(websites)).ok()?;
        (answer.status == 200).then_some(())
    })
    .await;
    let transport = world.transport(config);
    let at = SocketAddr::from(([127, 0, 0, 1], 0));
    let manager = website::manager(transport, "default", at, Replica::new("replica")).unwrap();
    let http = Http::plain(manager.health_addr().unwrap());
    let running = manager.spawn();
    let website = json!({
        "apiVersion": "example.com/v1", "kind": "Website", "metadata": {"name": "w"},
        "spec": {"html": "<p>hello</p>"},
    });
    world.post(websites, &website);
    wait::until("the website is there", LIMIT, async || {
        let path = "/api/v1/namespaces/default/configmaps";
        let items = block_in_place(|| world.plane.items(path)).ok()?;
        items
            .iter()
            .any(|item| item["metadata"]["ownerReferences"][0]["name"] == "w")
            .then_some(())
    })
    .await;
    wait::until("an event is there", LIMIT, async || {
        let items = block_in_place(|| world.plane.items("/api/v1/namespaces/default/events")).ok()?;
        items
            .iter()
            .any(|item| item["involvedObject"]["name"] == "w")
            .then_some(())
    })
    .await;
    for path in [
        "/metrics",
        "/debug/informers",
        "/healthz?verbose",
        "/readyz?verbose",
    ] {
        let answer = block_in_place(|| http.get(path)).unwrap();
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.body.is_empty(), "{path}");
        world.heard.add(&String::from_utf8_lossy(&answer.body));
    }
    world.heard.say(&running.stop().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_ever_said_by_a_process_that_uses_everything() {
    let heard = Heard::default();
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_ansi(false)
        .with_writer(heard.clone())
        .init();
    let world = {
        let heard = heard.clone();
        tokio::task::spawn_blocking(|| World::new(heard)).await.unwrap()
    };
    world.post(
        "/api/v1/namespaces/default/secrets",
        &json!({"metadata": {"name": "planted"}, "stringData": {"value": CONTENT}}),
    );

    // Each way to sign in, and what a file of the user holds then.
    let certified = world.plane.kubeconfig(Login::Certificate, None).unwrap();
    let document: Value = serde_json::from_slice(&fs::read(certified).unwrap()).unwrap();
    let certificate = document["users"][0]["user"].clone();
    let key = certificate["client-key-data"].as_str().unwrap().to_owned();
    let key = String::from_utf8(BASE64_STANDARD.decode(key).unwrap()).unwrap();
    let token_file = world.write("token", ADMIN_TOKEN);
    for user in [
        json!({"token": ADMIN_TOKEN}),
        json!({"tokenFile": token_file}),
        certificate,
        exec(&prints(ADMIN_TOKEN)),
    ] {
        let config = world.config(&user, None, Overrides::default());
        assert!(world.reads(&config).await, "{:?}", config.describe());
    }
    let config = world.config(&json!({}), None, Overrides::new().token(ADMIN_TOKEN));
    assert!(world.reads(&config).await);

    // Each way to be refused.
    let mut mute = exec(&format!("echo {WRONG_TOKEN}"));
    mute["exec"]["args"][1] = format!("echo {WRONG_TOKEN}; exit 3").into();
    for (user, overrides) in [
        (json!({"token": WRONG_TOKEN}), Overrides::default()),
        (
            json!({"username": "ada", "password": PASSWORD}),
            Overrides::default(),
        ),
        (json!({}), Overrides::new().username("ada").password(PASSWORD)),
        (json!({}), Overrides::new().token(OVERRIDE_TOKEN)),
        (exec(&prints(WRONG_TOKEN)), Overrides::default()),
        (exec(&format!("echo {WRONG_TOKEN}")), Overrides::default()),
        (mute, Overrides::default()),
    ] {
        let config = world.config(&user, None, overrides);
        assert!(!world.reads(&config).await, "{:?}", config.describe());
    }

    // All of it at once, through a proxy with a password.
    let (url, heads, _tasks) = proxy().await;
    let config = world.config(&exec(&prints(ADMIN_TOKEN)), Some(&url), Overrides::default());
    runs_the_example(&world, &config).await;
    let pair = BASE64_STANDARD.encode(format!("ada:{PROXY_PASSWORD}"));
    assert!(!heads.lock().unwrap().is_empty());
    assert!(heads.lock().unwrap().iter().all(|head| head.contains(&pair)));

    let said = String::from_utf8_lossy(&heard.0.lock().unwrap()).into_owned();
    for spoke in [
        "h2::",
        "hyper::",
        "informer_hyper",
        "informer_manager",
        "rest_client_requests_total",
    ] {
        assert!(said.contains(spoke), "{spoke} said nothing");
    }
    let secret_line = key.lines().nth(1).unwrap();
    for secret in [
        ADMIN_TOKEN,
        WRONG_TOKEN,
        PASSWORD,
        EXEC_VARIABLE,
        EXEC_ARGUMENT,
        PROXY_PASSWORD,
        OVERRIDE_TOKEN,
        CONTENT,
        secret_line,
    ] {
        for spelling in spellings(secret) {
            if let Some(at) = said.find(&spelling) {
                let near = &said.as_bytes()[at.saturating_sub(400)..(at + 200).min(said.len())];
                panic!("{secret}, as {spelling}: {}", String::from_utf8_lossy(near));
            }
        }
    }
}
