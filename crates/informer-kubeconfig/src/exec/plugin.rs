//! `Plugin`: runs the program when credentials are needed, one run at a time, and keeps what it printed while it is good.

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http::HeaderValue;
use informer_transport::{ClientCertificate, CredentialError, Issue};

use super::{
    Interactive, PluginCall, PluginMetrics, Version,
    credential::Credential,
    info::{self, ClusterInfo},
    validity,
};
use crate::{Environment, Error, PluginCommand, PluginOutput, SignIn, field::Field};

/// How long a plug-in may take that talks with nobody, unless the overrides say otherwise.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How the plug-in is called.
pub(super) struct Settings {
    pub(super) version: Version,
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) variables: Vec<(String, String)>,
    pub(super) interactive: Interactive,
    pub(super) install_hint: Option<String>,
    pub(super) cluster: Option<ClusterInfo>,
    pub(super) timeout: Option<Duration>,
    pub(super) metrics: Option<Arc<dyn PluginMetrics>>,
}

/// A plug-in and the credentials that it gave. Clones share them.
#[derive(Clone)]
pub(crate) struct Plugin(Arc<Inner>);

struct Inner {
    environment: Arc<dyn Environment>,
    field: Field,
    settings: Settings,
    /// Held while the program runs: whoever needs credentials meanwhile waits for the same run.
    running: tokio::sync::Mutex<()>,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    credential: Option<Credential>,
    /// Counts the credentials, so that a refusal of earlier ones is known for what it is.
    issue: Issue,
    /// The server refused it.
    refused: bool,
    /// Counts the changes of the client certificate.
    generation: u64,
}

impl Plugin {
    pub(super) fn new(environment: Arc<dyn Environment>, field: Field, settings: Settings) -> Self {
        Self(Arc::new(Inner {
            environment,
            field,
            settings,
            running: tokio::sync::Mutex::default(),
            held: Mutex::default(),
        }))
    }

    /// The header of credentials that are good, if they have one, and which they are. Runs the program if there are none.
    ///
    /// # Cancel safety
    /// A run goes on when this is dropped, for whoever asks next: it may have asked a person already.
    pub(crate) async fn header(&self) -> Result<(Option<HeaderValue>, Issue), CredentialError> {
        if let Some((credential, issue)) = self.0.good() {
            return Ok((credential.header, issue));
        }
        let inner = self.0.clone();
        #[expect(
            clippy::disallowed_methods,
            reason = "a run outlives the request that asked for it, and ends by its own time limit"
        )]
        let run = tokio::spawn(async move { inner.renewed().await });
        let renewed = run
            .await
            .map_err(|_| CredentialError::new("the plug-in could not be run"))?;
        renewed
            .map(|(credential, issue)| (credential.header, issue))
            .map_err(|error| {
                let failed = CredentialError::new(error.to_string());
                match std::error::Error::source(&error) {
                    Some(cause) => failed.caused_by(cause.to_string()),
                    None => failed,
                }
            })
    }

    /// How it is called, without what may be a secret.
    pub(crate) fn describe(&self) -> SignIn {
        let settings = &self.0.settings;
        SignIn::Exec {
            command: settings.program.clone(),
            api_version: settings.version.text().to_owned(),
            variables: settings.variables.iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    /// The certificate of the credentials that are held, and how often it changed.
    pub(crate) fn certificate(&self) -> (Option<ClientCertificate>, u64) {
        let held = self.0.held();
        let client = held
            .credential
            .as_ref()
            .and_then(|credential| credential.client.clone());
        (client, held.generation)
    }

    /// The server refused these credentials: unless they have been replaced, the program is run for the next request.
    pub(crate) fn refused(&self, issue: Issue) {
        let mut held = self.0.held();
        if held.issue == issue {
            held.refused = true;
        }
    }
}

impl Inner {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn good(&self) -> Option<(Credential, Issue)> {
        let now = self.environment.system_time();
        let held = self.held();
        let credential = held.credential.as_ref()?;
        (!held.refused && credential.is_good(now)).then(|| (credential.clone(), held.issue))
    }

    async fn renewed(&self) -> Result<(Credential, Issue), Error> {
        let _running = self.running.lock().await;
        // Somebody else ran it while this waited.
        if let Some(good) = self.good() {
            return Ok(good);
        }
        let fresh = self.run().await?;
        self.tell_of_renewal(&fresh);
        let mut held = self.held();
        let is_same = held
            .credential
            .as_ref()
            .is_some_and(|old| old.has_same_certificate(&fresh));
        if !is_same && (held.credential.is_some() || fresh.client.is_some()) {
            held.generation += 1;
        }
        held.credential = Some(fresh.clone());
        held.issue = held.issue.next();
        held.refused = false;
        Ok((fresh, held.issue))
    }

    async fn run(&self) -> Result<Credential, Error> {
        let settings = &self.settings;
        let is_interactive = match (settings.interactive, self.environment.has_terminal()) {
            (Interactive::Always, false) => {
                return Err(self
                    .field
                    .error("the plug-in needs to talk with a person, and standard input is no terminal"));
            }
            (Interactive::Never, _) | (Interactive::IfAvailable, false) => false,
            (Interactive::IfAvailable | Interactive::Always, true) => true,
        };
        let info = info::value(settings.version, is_interactive, settings.cluster.as_ref());
        let mut variables = settings.variables.clone();
        variables.push((info::VARIABLE.to_owned(), info));
        let command = PluginCommand {
            program: settings.program.clone(),
            arguments: settings.arguments.clone(),
            variables,
            interactive: is_interactive,
        };
        // A person may take as long as they like.
        let timeout = settings.timeout.or_else(|| (!is_interactive).then_some(TIMEOUT));
        let run = self.environment.run(command);
        let output = match timeout {
            None => run.await,
            Some(timeout) => tokio::time::timeout(timeout, run).await.map_err(|_| {
                self.tell(|metrics| metrics.called(PluginCall::Failed { code: None }));
                self.field.error(format_args!(
                    "the plug-in {} did not end within {timeout:?}",
                    settings.program.display()
                ))
            })?,
        };
        self.tell(|metrics| metrics.called(call(&output)));
        let output = output.map_err(|cause| self.not_run(cause))?;
        self.printed(&output)
    }

    fn not_run(&self, cause: std::io::Error) -> Error {
        let program = self.settings.program.display();
        let hint = match (&self.settings.install_hint, cause.kind()) {
            (Some(hint), std::io::ErrorKind::NotFound) => format!("; {hint}"),
            _ => String::new(),
        };
        let what = match cause.kind() {
            std::io::ErrorKind::InvalidData => "is of no use",
            _ => "cannot be run",
        };
        self.field
            .error(format_args!("the plug-in {program} {what}{hint}"))
            .caused_by(cause)
    }

    fn printed(&self, output: &PluginOutput) -> Result<Credential, Error> {
        if output.code == Some(0) {
            return Credential::parse(&self.field, self.settings.version, &output.printed);
        }
        let how = match output.code {
            Some(code) => format!("with exit code {code}"),
            None => "by a signal".to_owned(),
        };
        Err(self.field.error(format_args!(
            "the plug-in {} ended {how}",
            self.settings.program.display()
        )))
    }
}

impl Inner {
    fn tell(&self, tell: impl FnOnce(&dyn PluginMetrics)) {
        if let Some(metrics) = &self.settings.metrics {
            tell(&**metrics);
        }
    }

    /// Tells how long the certificate that `fresh` replaces was in use, and until when the new one may be.
    fn tell_of_renewal(&self, fresh: &Credential) {
        let Some(metrics) = &self.settings.metrics else {
            return;
        };
        let of = |credential: &Credential| {
            let client = credential.client.as_ref()?;
            validity::of_pem(&client.certificate)
        };
        let held = self.held().credential.clone();
        if held
            .as_ref()
            .is_some_and(|old| old.has_same_certificate(fresh) && old.client.is_some())
        {
            return;
        }
        let now = self.environment.system_time();
        let lived = held
            .as_ref()
            .and_then(of)
            .map(|(from, _)| now.duration_since(from).unwrap_or_default());
        metrics.renewed(self.field.described(), of(fresh).map(|(_, until)| until), lived);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.tell(|metrics| metrics.gone(self.field.described()));
    }
}

/// As client-go tells them apart (`plugin/pkg/client/auth/exec/metrics.go`, `incrementCallsMetric`).
fn call(output: &std::io::Result<PluginOutput>) -> PluginCall {
    match output {
        Ok(PluginOutput { code: Some(0), .. }) => PluginCall::Good,
        Ok(PluginOutput { code, .. }) => PluginCall::Failed { code: *code },
        Err(error) => match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied => PluginCall::NotFound,
            _ => PluginCall::NotStarted,
        },
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin")
            .field("program", &self.0.settings.program)
            .finish_non_exhaustive()
    }
}
