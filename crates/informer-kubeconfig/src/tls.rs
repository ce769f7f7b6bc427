//! Certificates that may be files: read again when they change.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use informer_core::BoxFuture;
use informer_transport::{ClientCertificate, CredentialError, Roots, TlsMaterial, TlsSource};

use crate::{
    Environment, Error, Place,
    exec::Plugin,
    field::Pem,
    pair::{self, Problem},
    reread::Gate,
};

/// How long certificates that were read are taken for current while connections use them. Upstream looks every five minutes (client-go
/// `transport/cert_rotation.go`, `CertCallbackRefreshDuration`); a rotated authority should not fail handshakes for as long as that.
const REREAD_AFTER: Duration = Duration::from_secs(10);

/// Whom to trust, as configured.
#[derive(Clone)]
pub(crate) enum Trust {
    Platform,
    Authority(Pem),
    Anybody,
}

/// What the connections of a configuration are checked and signed with.
pub(crate) struct Certificates {
    files: Arc<Files>,
    gate: Gate,
    /// Makes the client certificate, where none is configured.
    plugin: Option<Plugin>,
}

/// Where they are read from, and what was read.
struct Files {
    environment: Arc<dyn Environment>,
    trust: Trust,
    client: Option<(Pem, Pem)>,
    state: Mutex<State>,
}

struct State {
    material: TlsMaterial,
    read_at: Instant,
}

impl Certificates {
    /// Reads everything once, so that what is wrong is said here.
    pub(crate) fn new(
        environment: Arc<dyn Environment>,
        trust: Trust,
        client: Option<(Pem, Pem)>,
        server_name: Option<&str>,
    ) -> Result<Self, Error> {
        let mut material = TlsMaterial::default();
        material.roots = load_roots(&*environment, &trust)?;
        material.client = load_client(&*environment, client.as_ref())?;
        material.server_name = server_name.map(Into::into);
        let state = Mutex::new(State {
            material,
            read_at: environment.now(),
        });
        Ok(Self {
            files: Arc::new(Files {
                environment,
                trust,
                client,
                state,
            }),
            gate: Gate::default(),
            plugin: None,
        })
    }

    /// The same, with the client certificate that a plug-in gives, if it gives any.
    pub(crate) fn with_plugin(self, plugin: Option<Plugin>) -> Self {
        Self { plugin, ..self }
    }

    /// What they are read from.
    pub(crate) fn sources(&self) -> (&Trust, Option<&(Pem, Pem)>) {
        (&self.files.trust, self.files.client.as_ref())
    }

    /// The name that the server is checked for, where it is not that of the URL.
    pub(crate) fn server_name(&self) -> Option<String> {
        let state = self.files.state();
        state.material.server_name.as_deref().map(str::to_owned)
    }
}

impl Files {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn may_change(&self) -> bool {
        let trust = matches!(&self.trust, Trust::Authority(pem) if pem.is_file());
        let client =
            matches!(&self.client, Some((certificate, key)) if certificate.is_file() || key.is_file());
        trust || client
    }

    fn is_due(&self) -> bool {
        let now = self.environment.now();
        self.may_change() && now.saturating_duration_since(self.state().read_at) >= REREAD_AFTER
    }

    fn read_again(&self) {
        let now = self.environment.now();
        // Nobody waits for the lock while files are read.
        let roots = load_roots(&*self.environment, &self.trust);
        // Certificate and key are a pair: both are replaced or none.
        let client = load_client(&*self.environment, self.client.as_ref());
        let mut state = self.state();
        state.read_at = now;
        let material = &mut state.material;
        let mut changed = false;
        match roots {
            Ok(roots) if !same_roots(&roots, &material.roots) => {
                material.roots = roots;
                changed = true;
            }
            Ok(_) => {}
            Err(error) => kept(&error),
        }
        match client {
            Ok(client) if !same_client(client.as_ref(), material.client.as_ref()) => {
                material.client = client;
                changed = true;
            }
            Ok(_) => {}
            Err(error) => kept(&error),
        }
        if changed {
            material.generation += 1;
            tracing::info!(generation = material.generation, "TLS certificates changed");
        }
    }
}

impl TlsSource for Certificates {
    fn current(&self) -> Result<TlsMaterial, CredentialError> {
        // A read that is under way brings what is new by itself.
        if self.files.is_due() && !self.gate.is_closed() {
            self.files.read_again();
        }
        let state = self.files.state();
        let mut material = state.material.clone();
        // Under the lock, so that no two states of the two counts have one sum.
        if let Some(plugin) = &self.plugin {
            let (client, generation) = plugin.certificate();
            material.client = client;
            material.generation += generation;
        }
        Ok(material)
    }

    fn refresh(&self) -> Option<BoxFuture<'_, ()>> {
        if !self.files.is_due() {
            return None;
        }
        let files = Arc::clone(&self.files);
        Some(Box::pin(self.gate.pass(
            false,
            || self.files.is_due(),
            move || files.read_again(),
        )))
    }
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificates").finish_non_exhaustive()
    }
}

fn kept(error: &Error) {
    tracing::warn!(
        error = %error,
        cause = std::error::Error::source(error).map(tracing::field::display),
        "Certificates could not be read again, the last good ones stay in use"
    );
}

fn load_roots(environment: &dyn Environment, trust: &Trust) -> Result<Roots, Error> {
    Ok(match trust {
        Trust::Platform => Roots::Platform,
        Trust::Anybody => Roots::Insecure,
        Trust::Authority(pem) => Roots::Pem(pem.load(environment)?),
    })
}

fn load_client(
    environment: &dyn Environment,
    client: Option<&(Pem, Pem)>,
) -> Result<Option<ClientCertificate>, Error> {
    let Some((certificate, key)) = client else {
        return Ok(None);
    };
    let pair = ClientCertificate {
        certificate: certificate.load(environment)?,
        key: key.load(environment)?,
    };
    pair::check(&pair).map_err(|problem| match problem {
        Problem::Certificate(why) => {
            certificate.error(format_args!("holds a certificate that cannot be used: {why}"))
        }
        Problem::Key => key.error("holds a key that is malformed or of a kind that is not supported"),
        Problem::Foreign => key.error(format_args!(
            "holds a key that is not that of the certificate in {}",
            match certificate.place() {
                Place::File { path } => path.display().to_string(),
                Place::Configuration => "client-certificate-data".to_owned(),
            }
        )),
    })?;
    Ok(Some(pair))
}

fn same_roots(one: &Roots, other: &Roots) -> bool {
    match (one, other) {
        (Roots::Pem(one), Roots::Pem(other)) => one == other,
        (Roots::Platform, Roots::Platform) | (Roots::Insecure, Roots::Insecure) => true,
        _ => false,
    }
}

fn same_client(one: Option<&ClientCertificate>, other: Option<&ClientCertificate>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.certificate == other.certificate && one.key == other.key,
        (None, None) => true,
        _ => false,
    }
}
