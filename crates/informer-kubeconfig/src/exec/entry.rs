//! The `exec` entry of a user, as it stands in a file.

use std::{fmt, path::PathBuf, sync::Arc};

use serde::Deserialize;

use super::{Interactive, Plugin, Version, info::ClusterInfo, plugin::Settings};
use crate::{Environment, Error, Overrides, SignIn, entries::At, field::Field};

/// `exec` of a user.
#[derive(Clone, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Entry {
    pub(crate) api_version: Option<String>,
    pub(crate) command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<Vec<Variable>>,
    install_hint: Option<String>,
    provide_cluster_info: Option<bool>,
    interactive_mode: Option<String>,
}

/// Arguments and variables may be secrets.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("api_version", &self.api_version)
            .field("command", &self.command)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Deserialize, Default)]
#[serde(default)]
struct Variable {
    name: Option<String>,
    value: Option<String>,
}

/// What others wrote into an entry, by name.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Extension {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) extension: serde_json::Value,
}

/// What an entry says, checked.
pub(crate) struct Checked {
    version: Option<Version>,
    variables: Vec<(String, String)>,
    interactive: Interactive,
}

impl Entry {
    /// How the plug-in is called, without what may be a secret.
    pub(crate) fn describe(&self) -> SignIn {
        let variables = self.env.iter().flatten();
        SignIn::Exec {
            command: self.command.clone().unwrap_or_default().into(),
            api_version: self.api_version.clone().unwrap_or_default(),
            variables: variables.filter_map(|variable| variable.name.clone()).collect(),
        }
    }

    /// What every entry must have, also one that is not used (client-go `tools/clientcmd/validation.go`, `validateAuthInfo`).
    pub(crate) fn check(&self, field: &Field) -> Result<Checked, Error> {
        let filled = |text: &Option<String>| text.clone().unwrap_or_default();
        let api_version = filled(&self.api_version);
        for (name, value) in [("command", &filled(&self.command)), ("apiVersion", &api_version)] {
            if value.is_empty() {
                return Err(field.error(format_args!("has no {name}")));
            }
        }
        let mut variables = Vec::new();
        for variable in self.env.iter().flatten() {
            let name = filled(&variable.name);
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(field.error(format_args!("{name:?} is no name of a variable")));
            }
            variables.push((name, filled(&variable.value)));
        }
        let version = Version::parse(&api_version);
        let interactive = match (&*filled(&self.interactive_mode), version) {
            ("", Some(Version::V1Beta1)) | ("IfAvailable", _) => Interactive::IfAvailable,
            ("", _) => return Err(field.error("has no interactiveMode")),
            ("Never", _) => Interactive::Never,
            ("Always", _) => Interactive::Always,
            (other, _) => {
                return Err(field.error(format_args!("the interactiveMode {other:?} does not exist")));
            }
        };
        Ok(Checked {
            version,
            variables,
            interactive,
        })
    }

    /// The plug-in that it describes, for credentials there.
    pub(crate) fn plugin(
        &self,
        field: &Field,
        at: &At<'_>,
        environment: &Arc<dyn Environment>,
        overrides: &Overrides,
    ) -> Result<Plugin, Error> {
        let checked = self.check(field)?;
        let version = checked.version.ok_or_else(|| {
            let stated = self.api_version.as_deref().unwrap_or_default();
            field.error(format_args!("the apiVersion {stated:?} is not supported"))
        })?;
        let command = self.command.clone().unwrap_or_default();
        overrides
            .exec_policy
            .check(&**environment, &command)
            .map_err(|why| field.error(why))?;
        let cluster = match self.provide_cluster_info {
            Some(true) => Some(ClusterInfo::new(at, &**environment)?),
            _ => None,
        };
        let settings = Settings {
            version,
            program: PathBuf::from(command),
            arguments: self.args.clone().unwrap_or_default(),
            variables: checked.variables,
            interactive: checked.interactive,
            install_hint: self.install_hint.clone().filter(|hint| !hint.is_empty()),
            cluster,
            timeout: overrides.exec_timeout,
            metrics: overrides.exec_metrics.clone(),
        };
        Ok(Plugin::new(Arc::clone(environment), field.clone(), settings))
    }
}
