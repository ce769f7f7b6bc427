//! The two servers, and how a script is run on one.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use apiserver_tests::{ControlPlane, Login, wait};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use informer_apiserver::Options;
use informer_hyper::{HttpVersion, HyperTransport};
use informer_kubeconfig::{Config, Overrides};
use informer_transport::{RepeatedBySender, Transport as _};
use serde_json::{Value, json};
use tokio::task::{JoinHandle, block_in_place};

use super::script::{Action, Request, Script, fill};
use crate::support::{config_maps, own};

/// How long a status may take to come.
const PATIENCE: Duration = Duration::from_secs(5);

enum Kind {
    Real(Arc<ControlPlane>),
    Embedded(informer_apiserver::Server),
}

/// A server.
pub(super) struct Server {
    kind: Kind,
    transport: HyperTransport,
}

/// What an action brought.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) status: u16,
    pub(super) content_type: String,
    /// The documents of the body: one, or one for each event. What is no JSON is a string.
    pub(super) documents: Vec<Value>,
}

impl Server {
    pub(super) async fn real() -> Self {
        // Nobody but a script compacts, and the namespaces that scripts delete stay as they are: there is no controller.
        let plane = own(&["--etcd-compaction-interval=0"]).await;
        let mut overrides = Overrides::default();
        overrides.kubeconfig = Some(plane.kubeconfig(Login::Token, None).unwrap());
        let config = Config::find(&overrides).unwrap().expect("the file is there");
        let transport = HyperTransport::builder(config.server())
            .authorize(config.authorizer())
            .tls(config.tls())
            .http_version(HttpVersion::Http1)
            .user_agent("differ")
            .build()
            .unwrap();
        Self {
            kind: Kind::Real(plane),
            transport,
        }
    }

    pub(super) async fn embedded() -> Self {
        let server = informer_apiserver::Server::start(Options::default())
            .await
            .unwrap();
        server.with(|api| {
            // So that its versions have as many digits as those of the other.
            while api.revision() < 300 {
                let object =
                    json!({"metadata": {"name": "counter"}, "data": {"at": api.revision().to_string()}});
                api.put(&config_maps(), object).unwrap();
            }
        });
        let transport = HyperTransport::builder(server.url())
            .http_version(HttpVersion::Http1)
            .user_agent("differ")
            .build()
            .unwrap();
        Self {
            kind: Kind::Embedded(server),
            transport,
        }
    }

    pub(super) async fn end(self) {
        if let Kind::Embedded(server) = self.kind {
            server.shutdown().await;
        }
    }

    /// Runs a script in a namespace of its own.
    pub(super) async fn run(&self, script: &Script) -> Vec<Record> {
        let namespace = format!("differ-{}", script.name);
        let create = Request {
            method: http::Method::POST,
            path: "/api/v1/namespaces".to_owned(),
            headers: vec![("Content-Type".to_owned(), "application/json".to_owned())],
            body: json!({"metadata": {"name": namespace}}).to_string(),
        };
        let created = send(&self.transport, create, None).await;
        assert_eq!(created.status, 201, "{created:?}");
        let mut run = Run {
            server: self,
            values: BTreeMap::from([("ns".to_owned(), namespace)]),
            watches: BTreeMap::new(),
        };
        let mut records = Vec::new();
        for step in &script.steps {
            let record = run.act(&step.action).await;
            for (name, pointer) in &step.keep {
                let value = record.documents.first().and_then(|it| it.pointer(pointer));
                // Where a server answers otherwise, the comparison will say so.
                let text = match value {
                    Some(Value::String(text)) => text.clone(),
                    Some(value) => value.to_string(),
                    None => "missing".to_owned(),
                };
                run.values.insert(name.clone(), text);
            }
            records.push(record);
        }
        records
    }

    fn compact(&self) {
        match &self.kind {
            Kind::Real(plane) => drop(block_in_place(|| plane.etcd().compact()).unwrap()),
            Kind::Embedded(server) => server.with(|api| api.compact(api.revision())),
        }
    }

    fn restart(&self) {
        match &self.kind {
            Kind::Real(plane) => block_in_place(|| {
                plane.kill_apiserver();
                plane.start_apiserver().unwrap();
            }),
            Kind::Embedded(server) => server.with(informer_testkit::FakeApi::restart),
        }
    }
}

struct Run<'a> {
    server: &'a Server,
    values: BTreeMap<String, String>,
    watches: BTreeMap<String, JoinHandle<Record>>,
}

impl Run<'_> {
    async fn act(&mut self, action: &Action) -> Record {
        let transport = &self.server.transport;
        match action {
            Action::Send(request) => send(transport, self.filled(request), None).await,
            Action::Watch(name, path) => {
                let (head, has_head) = tokio::sync::oneshot::channel();
                self.begin(name, path, Some(head));
                // A watch that was refused has ended, and says so at its end.
                let _refused = has_head.await;
                Record::default()
            }
            Action::Ask(name, path) => {
                self.begin(name, path, None);
                Record::default()
            }
            Action::End(name) => {
                let watch = self.watches.remove(name).expect("the watch was begun");
                watch.await.unwrap()
            }
            Action::Wait(status, path) => {
                let request = self.filled(&get(path));
                let mut last = Record::default();
                let come = async {
                    let mut ticks = tokio::time::interval(Duration::from_millis(25));
                    while last.status != *status {
                        ticks.tick().await;
                        last = send(transport, request.clone(), None).await;
                    }
                };
                // Where it does not come, the comparison will say so.
                let _in_time = tokio::time::timeout(wait::scaled(PATIENCE), come).await;
                Record {
                    status: last.status,
                    ..Record::default()
                }
            }
            Action::Compact => {
                self.server.compact();
                Record::default()
            }
            Action::Restart => {
                self.server.restart();
                Record::default()
            }
        }
    }

    /// Sends a GET in the background.
    fn begin(&mut self, name: &str, path: &str, head: Option<tokio::sync::oneshot::Sender<()>>) {
        let request = self.filled(&get(path));
        let transport = self.server.transport.clone();
        #[expect(clippy::disallowed_methods, reason = "the script waits for it")]
        let task = tokio::spawn(async move { send(&transport, request, head).await });
        self.watches.insert(name.to_owned(), task);
    }

    fn filled(&self, request: &Request) -> Request {
        Request {
            path: fill(&request.path, &self.values),
            body: fill(&request.body, &self.values),
            ..request.clone()
        }
    }
}

fn get(path: &str) -> Request {
    Request {
        method: http::Method::GET,
        path: path.to_owned(),
        headers: Vec::new(),
        body: String::new(),
    }
}

async fn send(
    transport: &HyperTransport,
    request: Request,
    head: Option<tokio::sync::oneshot::Sender<()>>,
) -> Record {
    let mut builder = http::Request::builder().method(request.method).uri(request.path);
    for (name, value) in &request.headers {
        builder = builder.header(name, value);
    }
    let mut request = builder.body(Bytes::from(request.body)).unwrap();
    // What a server answers is compared, also where it asks for another try.
    request.extensions_mut().insert(RepeatedBySender);
    let response = transport.send(request).await.unwrap();
    if let Some(head) = head {
        // The script always waits for it.
        let _gone = head.send(());
    }
    let content_type = response.headers().get(http::header::CONTENT_TYPE);
    let content_type = content_type.map_or("", |it| it.to_str().unwrap()).to_owned();
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let mut documents = Vec::new();
    for document in serde_json::Deserializer::from_slice(&body).into_iter() {
        match document {
            Ok(document) => documents.push(document),
            Err(_) => {
                documents = vec![String::from_utf8_lossy(&body).into()];
                break;
            }
        }
    }
    Record {
        status,
        content_type,
        documents,
    }
}
