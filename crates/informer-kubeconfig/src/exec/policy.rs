//! `ExecPolicy`: which plug-ins may run.

use std::path::{Path, PathBuf};

use crate::Environment;

/// Which exec plug-ins may run. A kubeconfig from somebody else can name any program (client-go `PluginPolicy`, which kubectl takes from
/// `kuberc`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ExecPolicy {
    /// All of them.
    #[default]
    AllowAll,
    /// None.
    DenyAll,
    /// Those whose command is among these: as the file writes it, or, for a name that is looked up, the program that is found.
    Allowlist(Vec<String>),
}

impl ExecPolicy {
    pub(crate) fn check(&self, environment: &dyn Environment, command: &str) -> Result<(), String> {
        match self {
            Self::AllowAll => Ok(()),
            Self::DenyAll => Err(format!("the plug-in {command:?} may not run: no plug-in may")),
            Self::Allowlist(allowed) => {
                let program = lookup(environment, command);
                let is_it = |entry: &String| {
                    entry == command || (program.is_some() && lookup(environment, entry) == program)
                };
                if allowed.iter().any(is_it) {
                    Ok(())
                } else {
                    Err(format!(
                        "the plug-in {command:?} may not run: it is not on the list of those that may"
                    ))
                }
            }
        }
    }
}

/// The program of a command: a path, or found through `PATH`.
fn lookup(environment: &dyn Environment, command: &str) -> Option<PathBuf> {
    if command.contains(std::path::MAIN_SEPARATOR) {
        return Some(Path::new(command).components().collect());
    }
    let path = environment.var("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(command))
        .find(|program| environment.has_program(program))
}
