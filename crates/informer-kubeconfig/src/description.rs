//! `Description`: a configuration as it may be shown, with every secret left out.

use std::{fmt, path::PathBuf};

use http::Uri;
use serde::Serialize;

use crate::{Config, Kubeconfig, server::has_good_port, tls::Trust};

/// A [`Config`] for people and reports: everything that is in effect, and of secrets only where they come from. Serializes, and prints as
/// lines of `name: value`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Description {
    /// The URL of the server.
    pub server: String,
    /// The namespace where none is named.
    pub namespace: String,
    /// The context, where there is one.
    pub context: Option<String>,
    /// Where the configuration comes from.
    pub origin: String,
    /// How requests are signed in.
    pub sign_in: SignIn,
    /// The user that requests act as.
    pub impersonates: Option<String>,
    /// Whom connections trust.
    pub trust: Trusted,
    /// The name that the server's certificate is checked for, where it is not that of the URL.
    pub server_name: Option<String>,
    /// The client certificate, where one is configured. A plug-in may give one besides.
    pub client_certificate: Option<KeyPair>,
    /// The proxy, without name and password.
    pub proxy: Option<String>,
    /// Whether responses may be compressed.
    pub compression: bool,
}

/// How requests are signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[non_exhaustive]
pub enum SignIn {
    /// Not by a header.
    Nothing,
    /// By a token that the configuration holds.
    Token,
    /// By the token of a file, which is read again.
    TokenFile {
        /// The file.
        path: PathBuf,
    },
    /// By a name and a password.
    Basic,
    /// By what a plug-in prints.
    Exec {
        /// The program.
        command: PathBuf,
        /// The version of the interface.
        api_version: String,
        /// The names of the variables that it is given.
        variables: Vec<String>,
    },
    /// By a provider, which nothing here supports.
    AuthProvider {
        /// Its name.
        name: String,
    },
}

/// Whom connections trust.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[non_exhaustive]
pub enum Trusted {
    /// The authorities of the platform.
    Platform,
    /// Anybody: nothing is checked.
    Anybody,
    /// The authorities of the configuration.
    Authority(Place),
}

/// Where a text is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "place")]
#[non_exhaustive]
pub enum Place {
    /// In the configuration.
    Configuration,
    /// In a file, which is read again when it changes.
    File {
        /// The file.
        path: PathBuf,
    },
}

/// Where a client certificate and its key are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct KeyPair {
    /// The certificate.
    pub certificate: Place,
    /// The private key.
    pub key: Place,
}

/// A [`Kubeconfig`] for people and reports: all its entries, without a secret. Serializes, and prints as lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct KubeconfigDescription {
    /// The files, that of the highest precedence first.
    pub files: Vec<PathBuf>,
    /// The context in use where nobody asks for another.
    pub current_context: Option<String>,
    /// The clusters, by name.
    pub clusters: Vec<ClusterDescription>,
    /// The users, by name.
    pub users: Vec<UserDescription>,
    /// The contexts, by name.
    pub contexts: Vec<ContextDescription>,
}

/// A cluster's entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct ClusterDescription {
    /// Its name.
    pub name: String,
    /// The file that states it.
    pub file: PathBuf,
    /// The server, without name and password.
    pub server: Option<String>,
    /// Whom it trusts. Contradictions are told where the entry is used.
    pub trust: Trusted,
    /// The name that the server's certificate is checked for.
    pub server_name: Option<String>,
    /// The proxy, without name and password.
    pub proxy: Option<String>,
}

/// A user's entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct UserDescription {
    /// Its name.
    pub name: String,
    /// The file that states it.
    pub file: PathBuf,
    /// All ways to sign in that are written down; which of them counts is decided where the entry is used.
    pub sign_in: Vec<SignIn>,
    /// Where its client certificate is.
    pub client_certificate: Option<Place>,
    /// The user that it acts as.
    pub impersonates: Option<String>,
}

/// A context's entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct ContextDescription {
    /// Its name.
    pub name: String,
    /// The file that states it.
    pub file: PathBuf,
    /// Its cluster.
    pub cluster: Option<String>,
    /// Its user.
    pub user: Option<String>,
    /// Its namespace.
    pub namespace: Option<String>,
}

impl Config {
    /// What is in effect, without a secret.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use informer_kubeconfig::{Config, MemoryEnvironment, Overrides, SignIn};
    /// let mut overrides = Overrides::default();
    /// overrides.server = Some("https://10.0.0.1:6443".to_owned());
    /// overrides.token = Some("t0ken".to_owned());
    /// let config = Config::find_in(Arc::new(MemoryEnvironment::new()), &overrides)?.expect("a server is enough");
    /// let description = config.describe();
    /// assert_eq!(description.sign_in, SignIn::Token);
    /// assert!(description.to_string().starts_with("server: https://10.0.0.1:6443\nnamespace: default\n"));
    /// # Ok::<(), informer_kubeconfig::Error>(())
    /// ```
    #[must_use]
    pub fn describe(&self) -> Description {
        let (trust, client) = self.certificates.sources();
        Description {
            server: self.server.clone(),
            namespace: self.namespace.clone(),
            context: self.context.clone(),
            origin: self.origin.clone(),
            sign_in: self.credentials.describe(),
            impersonates: self.credentials.impersonates(),
            trust: match trust {
                Trust::Platform => Trusted::Platform,
                Trust::Anybody => Trusted::Anybody,
                Trust::Authority(pem) => Trusted::Authority(pem.place()),
            },
            server_name: self.certificates.server_name(),
            client_certificate: client.map(|(certificate, key)| KeyPair {
                certificate: certificate.place(),
                key: key.place(),
            }),
            proxy: self.proxy.as_deref().map(without_password),
            compression: self.accepts_compression,
        }
    }
}

impl Kubeconfig {
    /// All entries, without a secret.
    #[must_use]
    pub fn describe(&self) -> KubeconfigDescription {
        let clusters = self.clusters.iter().map(|(name, stated)| ClusterDescription {
            name: name.clone(),
            file: stated.file.to_path_buf(),
            server: filled(&stated.entry.server).map(|url| without_password(&url)),
            trust: match place(
                &stated.entry.certificate_authority,
                &stated.entry.certificate_authority_data,
            ) {
                Some(place) => Trusted::Authority(place),
                None if stated.entry.insecure_skip_tls_verify => Trusted::Anybody,
                None => Trusted::Platform,
            },
            server_name: filled(&stated.entry.tls_server_name),
            proxy: filled(&stated.entry.proxy_url).map(|url| without_password(&url)),
        });
        let users = self.users.iter().map(|(name, stated)| UserDescription {
            name: name.clone(),
            file: stated.file.to_path_buf(),
            sign_in: sign_in(&stated.entry),
            client_certificate: place(
                &stated.entry.client_certificate,
                &stated.entry.client_certificate_data,
            ),
            impersonates: filled(&stated.entry.impersonate),
        });
        let contexts = self.contexts.iter().map(|(name, stated)| ContextDescription {
            name: name.clone(),
            file: stated.file.to_path_buf(),
            cluster: filled(&stated.entry.cluster),
            user: filled(&stated.entry.user),
            namespace: filled(&stated.entry.namespace),
        });
        KubeconfigDescription {
            files: self.files.iter().map(|file| file.to_path_buf()).collect(),
            current_context: self.current_context.clone(),
            clusters: clusters.collect(),
            users: users.collect(),
            contexts: contexts.collect(),
        }
    }
}

/// All ways to sign in that an entry writes down.
fn sign_in(user: &crate::document::User) -> Vec<SignIn> {
    let token = filled(&user.token).map(|_| SignIn::Token);
    let file = filled(&user.token_file).map(|path| SignIn::TokenFile { path: path.into() });
    let basic = filled(&user.username).map(|_| SignIn::Basic);
    let exec = user.exec.as_ref().map(crate::exec::Entry::describe);
    let provider = user.auth_provider.as_ref().map(|provider| SignIn::AuthProvider {
        name: provider.name.clone().unwrap_or_default(),
    });
    let all = [token, file, basic, exec, provider];
    all.into_iter().flatten().collect()
}

fn filled(text: &Option<String>) -> Option<String> {
    crate::resolve::given(text)
}

fn place(file: &Option<String>, data: &Option<String>) -> Option<Place> {
    filled(file)
        .map(|path| Place::File { path: path.into() })
        .or_else(|| filled(data).map(|_| Place::Configuration))
}

/// A URL without what stands before an `@`, and without a query: either may be a secret. What is no URL is not shown at all.
pub(crate) fn without_password(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), url),
    };
    // A password may hold a slash where nobody escaped it: what is behind the last `@` is the host in any case.
    let host = rest.rsplit('@').next().unwrap_or_default();
    match format!("https://{host}").parse::<Uri>() {
        Ok(uri) if uri.authority().is_some_and(has_good_port) => format!("{scheme}{host}"),
        _ => "(no URL)".to_owned(),
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "server: {}", self.server)?;
        writeln!(f, "namespace: {}", self.namespace)?;
        line(f, "context", self.context.as_ref())?;
        writeln!(f, "origin: {}", self.origin)?;
        writeln!(f, "sign-in: {}", self.sign_in)?;
        line(f, "impersonates", self.impersonates.as_ref())?;
        writeln!(f, "trust: {}", self.trust)?;
        line(f, "server name", self.server_name.as_ref())?;
        if let Some(KeyPair { certificate, key }) = &self.client_certificate {
            writeln!(f, "client certificate: {certificate}, its key {key}")?;
        }
        line(f, "proxy", self.proxy.as_ref())?;
        write!(f, "compression: {}", if self.compression { "yes" } else { "no" })
    }
}

impl fmt::Display for KubeconfigDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for file in &self.files {
            writeln!(f, "file: {}", file.display())?;
        }
        line(f, "current context", self.current_context.as_ref())?;
        for it in &self.contexts {
            let none = "(none)".to_owned();
            write!(
                f,
                "context {:?}: cluster {}",
                it.name,
                it.cluster.as_ref().unwrap_or(&none)
            )?;
            write!(f, ", user {}", it.user.as_ref().unwrap_or(&none))?;
            writeln!(f, ", namespace {}", it.namespace.as_deref().unwrap_or("default"))?;
        }
        for it in &self.clusters {
            write!(
                f,
                "cluster {:?}: server {}",
                it.name,
                it.server.as_deref().unwrap_or("(none)")
            )?;
            write!(f, ", trust: {}", it.trust)?;
            if let Some(proxy) = &it.proxy {
                write!(f, ", proxy {proxy}")?;
            }
            writeln!(f)?;
        }
        for it in &self.users {
            write!(f, "user {:?}:", it.name)?;
            let mut separator = " ";
            for sign_in in &it.sign_in {
                write!(f, "{separator}{sign_in}")?;
                separator = ", ";
            }
            if let Some(place) = &it.client_certificate {
                write!(f, "{separator}a client certificate {place}")?;
                separator = ", ";
            }
            if let Some(other) = &it.impersonates {
                write!(f, "{separator}acting as {other}")?;
                separator = ", ";
            }
            writeln!(f, "{}", if separator == " " { " nothing" } else { "" })?;
        }
        Ok(())
    }
}

fn line(f: &mut fmt::Formatter<'_>, name: &str, value: Option<&String>) -> fmt::Result {
    match value {
        Some(value) => writeln!(f, "{name}: {value}"),
        None => Ok(()),
    }
}

impl fmt::Display for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing"),
            Self::Token => f.write_str("a token"),
            Self::TokenFile { path } => write!(f, "the token in {}", path.display()),
            Self::Basic => f.write_str("a name and a password"),
            Self::Exec {
                command, api_version, ..
            } => write!(f, "the plug-in {} ({api_version})", command.display()),
            Self::AuthProvider { name } => write!(f, "the provider {name:?}, which is not supported"),
        }
    }
}

impl fmt::Display for Trusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Platform => f.write_str("the authorities of the platform"),
            Self::Anybody => f.write_str("anybody"),
            Self::Authority(place) => write!(f, "an authority {place}"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configuration => f.write_str("in the configuration"),
            Self::File { path } => write!(f, "in {}", path.display()),
        }
    }
}
