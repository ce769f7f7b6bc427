//! Certificates that may be files: read again when they change.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use informer_transport::{ClientCertificate, CredentialError, Roots, TlsMaterial, TlsSource};

use crate::{
    Environment, Error, Place,
    exec::Plugin,
    field::Pem,
    pair::{self, Problem},
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
    environment: Arc<dyn Environment>,
    trust: Trust,
    client: Option<(Pem, Pem)>,
    /// Makes the client certificate, where none is configured.
    plugin: Option<Plugin>,
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
            environment,
            trust,
            client,
            plugin: None,
            state,
        })
    }

    /// The same, with the client certificate that a plug-in gives, if it gives any.
    pub(crate) fn with_plugin(self, plugin: Option<Plugin>) -> Self {
        Self { plugin, ..self }
    }

    /// What they are read from.
    pub(crate) fn sources(&self) -> (&Trust, Option<&(Pem, Pem)>) {
        (&self.trust, self.client.as_ref())
    }

    /// The name that the server is checked for, where it is not that of the URL.
    pub(crate) fn server_name(&self) -> Option<String> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.material.server_name.as_deref().map(str::to_owned)
    }

    fn may_change(&self) -> bool {
        let trust = matches!(&self.trust, Trust::Authority(pem) if pem.is_file());
        let client =
            matches!(&self.client, Some((certificate, key)) if certificate.is_file() || key.is_file());
        trust || client
    }

    fn read_again(&self, material: &mut TlsMaterial) {
        let mut changed = false;
        match load_roots(&*self.environment, &self.trust) {
            Ok(roots) if !same_roots(&roots, &material.roots) => {
                material.roots = roots;
                changed = true;
            }
            Ok(_) => {}
            Err(error) => kept(&error),
        }
        // Certificate and key are a pair: both are replaced or none.
        match load_client(&*self.environment, self.client.as_ref()) {
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
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.may_change() {
            let now = self.environment.now();
            if now.saturating_duration_since(state.read_at) >= REREAD_AFTER {
                state.read_at = now;
                self.read_again(&mut state.material);
            }
        }
        let mut material = state.material.clone();
        // Under the lock, so that no two states of the two counts have one sum.
        if let Some(plugin) = &self.plugin {
            let (client, generation) = plugin.certificate();
            material.client = client;
            material.generation += generation;
        }
        Ok(material)
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
