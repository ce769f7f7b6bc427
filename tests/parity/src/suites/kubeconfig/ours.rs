//! What ours makes of a case.

use std::{
    error::Error,
    ffi::OsString,
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use http::HeaderMap;
use informer_core::BoxFuture;
use informer_hyper::HyperTransport;
use informer_kubeconfig::{Config, Environment, MemoryEnvironment, Overrides, PluginCommand, PluginOutput};
use informer_transport::Roots;
use serde_json::Value;

use super::case::Case;

/// The variable that tells a plug-in what it is asked for.
const INFO: &str = "KUBERNETES_EXEC_INFO";
/// What the plug-in of every case answers.
const OF_PLUGIN: &str = "of-the-plugin";

/// What comes of a case: lines to compare, and the sentence of a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// As the oracle tells it.
    pub lines: Vec<String>,
    /// Why it was refused.
    pub says: Option<String>,
}

/// Loads a case, and tells what a client would connect with.
#[must_use]
pub fn ours(case: &Case) -> Told {
    let environment = Recorder::new(case);
    match load(case, &environment) {
        Ok(lines) => Told { lines, says: None },
        Err(says) => Told {
            lines: vec!["refused".to_owned()],
            says: Some(says),
        },
    }
}

fn load(case: &Case, environment: &Recorder) -> Result<Vec<String>, String> {
    let overrides = overrides(case);
    let config = find(environment, &overrides)?;
    let mut lines = vec![
        format!("server {}", config.server().trim_end_matches('/')),
        format!("namespace {}", config.namespace()),
    ];
    HyperTransport::builder(config.server())
        .tls(config.tls())
        .proxy(config.proxy())
        .ignore_proxy_variables()
        .build()
        .map_err(|error| sentence(&error))?;
    if config.server().starts_with("https://") {
        tell_trust(&config, &mut lines);
    }
    tell_headers(&config, environment, &overrides, &mut lines)?;
    lines.extend(config.proxy().map(|proxy| format!("proxy {proxy}")));
    if !config.accepts_compression() {
        lines.push("compression no".to_owned());
    }
    lines.extend(
        config
            .request_timeout()
            .map(|timeout| format!("timeout {timeout:?}")),
    );
    Ok(lines)
}

fn find(environment: &Recorder, overrides: &Overrides) -> Result<Config, String> {
    Config::find_in(Arc::new(environment.clone()), overrides)
        .map_err(|error| sentence(&error))?
        .ok_or_else(|| "there is no configuration".to_owned())
}

fn overrides(case: &Case) -> Overrides {
    let mut overrides = Overrides::default();
    for (name, value) in &case.overrides {
        let text = Some(value.clone());
        match &**name {
            "kubeconfig" => overrides.kubeconfig = Some(value.into()),
            "context" => overrides.context = text,
            "cluster" => overrides.cluster = text,
            "user" => overrides.user = text,
            "namespace" => overrides.namespace = text,
            "server" => overrides.server = text,
            "token" => overrides.token = text,
            "username" => overrides.username = text,
            "password" => overrides.password = text,
            "certificate" => overrides.client_certificate = Some(value.into()),
            "key" => overrides.client_key = Some(value.into()),
            "as" => overrides.impersonate = text,
            "as-uid" => overrides.impersonate_uid = text,
            "as-group" => overrides.impersonate_groups.push(value.clone()),
            "as-extra" => {
                let (key, value) = value.split_once(':').expect("KEY:VALUE");
                overrides = overrides.impersonate_extra(key, value);
            }
            "proxy" => overrides.proxy_url = text,
            "no-compression" => overrides.disable_compression = value == "true",
            "timeout" => {
                let seconds = value.trim_end_matches('s').parse().expect("seconds");
                overrides.request_timeout = Some(Duration::from_secs(seconds));
            }
            "authority" => overrides.certificate_authority = Some(value.into()),
            "insecure" => overrides.insecure_skip_tls_verify = value == "true",
            "name" => overrides.tls_server_name = text,
            other => panic!("there is no override {other:?}"),
        }
    }
    overrides
}

fn tell_trust(config: &Config, lines: &mut Vec<String>) {
    let material = config.tls().current().expect("it was read before");
    lines.push(match &material.roots {
        Roots::Platform => "trust platform".to_owned(),
        Roots::Insecure => "trust anybody".to_owned(),
        Roots::Pem(pem) => format!("trust {}", tail(pem)),
    });
    lines.extend(material.server_name.map(|name| format!("name {name}")));
    if let Some(client) = &material.client {
        lines.push(format!(
            "client {} {}",
            tail(&client.certificate),
            tail(&client.key)
        ));
    }
}

fn tell_headers(
    config: &Config,
    environment: &Recorder,
    overrides: &Overrides,
    lines: &mut Vec<String>,
) -> Result<(), String> {
    let headers = authorized(config)?;
    let mut told: Vec<String> = headers
        .iter()
        .map(|(name, value)| format!("header {name}: {}", String::from_utf8_lossy(value.as_bytes())))
        .filter(|line| !line.ends_with(OF_PLUGIN))
        .collect();
    told.sort();
    lines.append(&mut told);
    if let Some(command) = environment.ran() {
        // Without a terminal one that always talks fails, with one the others tell whether they would.
        let elsewhere = environment.without_terminal();
        let mode = match (authorized(&find(&elsewhere, overrides)?), command.interactive) {
            (Err(_), _) => "Always",
            (Ok(_), true) => "IfAvailable",
            (Ok(_), false) => "Never",
        };
        tell_plugin(&command, mode, lines);
    }
    Ok(())
}

fn authorized(config: &Config) -> Result<HeaderMap, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| sentence(&error))?;
    let mut headers = HeaderMap::new();
    runtime
        .block_on(config.authorizer().authorize(&mut headers))
        .map_err(|error| sentence(&error))?;
    Ok(headers)
}

fn tell_plugin(command: &PluginCommand, mode: &str, lines: &mut Vec<String>) {
    let info = info(command);
    lines.push(format!("exec {}", command.program.display()));
    lines.push(format!(
        "exec arguments {}",
        Value::from(command.arguments.clone())
    ));
    lines.push(format!(
        "exec version {}",
        info["apiVersion"].as_str().unwrap_or_default()
    ));
    lines.push(format!("exec mode {mode}"));
    let written = command.variables.iter().filter(|(name, _)| name != INFO);
    lines.extend(written.map(|(name, value)| format!("exec variable {name}={value}")));
    if let Value::Object(mut cluster) = info["spec"]["cluster"].clone() {
        if let Some(pem) = cluster.get_mut("certificate-authority-data") {
            use base64::{Engine as _, engine::general_purpose::STANDARD};
            let text = STANDARD
                .decode(pem.as_str().unwrap_or_default())
                .unwrap_or_default();
            *pem = tail(&text).into();
        }
        cluster.retain(|_, value| !value.is_null());
        lines.push(format!("exec cluster {}", Value::Object(cluster)));
    }
}

fn info(command: &PluginCommand) -> Value {
    let text = command.variables.iter().find(|(name, _)| name == INFO);
    text.and_then(|(_, text)| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

/// The last characters of a PEM text before its end, as the oracle tells it.
fn tail(pem: &[u8]) -> String {
    let text = String::from_utf8_lossy(pem);
    let body: String = text
        .lines()
        .filter(|line| !line.starts_with('-'))
        .map(str::trim)
        .collect();
    body[body.len().saturating_sub(12)..].to_owned()
}

fn sentence(error: &dyn Error) -> String {
    let mut sentence = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(sentence, ": {error}");
        cause = error.source();
    }
    sentence
}

/// The files of a case, somebody at a terminal, and a plug-in of any name that tells how it was called.
#[derive(Clone)]
struct Recorder {
    memory: MemoryEnvironment,
    has_terminal: bool,
    ran: Arc<Mutex<Option<PluginCommand>>>,
}

impl Recorder {
    fn new(case: &Case) -> Self {
        let mut memory = MemoryEnvironment::new().var("HOME", "/case").in_dir("/case");
        for (name, value) in &case.env {
            memory = memory.var(name, value);
        }
        for (path, content) in &case.files {
            memory.write(path, content.clone());
        }
        Self {
            memory,
            has_terminal: true,
            ran: Arc::default(),
        }
    }

    fn without_terminal(&self) -> Self {
        Self {
            has_terminal: false,
            ran: Arc::default(),
            ..self.clone()
        }
    }

    fn ran(&self) -> Option<PluginCommand> {
        self.ran.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Environment for Recorder {
    fn var(&self, name: &str) -> Option<OsString> {
        Environment::var(&self.memory, name)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.memory.read(path)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        self.memory.current_dir()
    }

    fn now(&self) -> Instant {
        self.memory.now()
    }

    fn has_terminal(&self) -> bool {
        self.has_terminal
    }

    fn run(&self, command: PluginCommand) -> BoxFuture<'static, io::Result<PluginOutput>> {
        let version = info(&command)["apiVersion"].clone();
        let printed = serde_json::json!({
            "kind": "ExecCredential", "apiVersion": version, "status": {"token": OF_PLUGIN},
        });
        *self.ran.lock().unwrap_or_else(PoisonError::into_inner) = Some(command);
        Box::pin(std::future::ready(Ok(PluginOutput {
            code: Some(0),
            printed: printed.to_string().into_bytes(),
        })))
    }
}
