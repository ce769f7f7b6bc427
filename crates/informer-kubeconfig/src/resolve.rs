//! From entries and overrides to what one client uses: context, then cluster and user.

use std::path::Path;

use crate::{
    Error, Kubeconfig, Overrides,
    document::{Cluster, User},
    field::Field,
};

/// The entries in effect, and where they stand.
#[derive(Debug)]
pub(crate) struct Selected {
    pub(crate) context: Option<String>,
    pub(crate) namespace: Option<String>,
    pub(crate) cluster: Placed<Cluster>,
    /// Absent when the context names none, or one that nobody defines: then nobody signs in.
    pub(crate) user: Option<Placed<User>>,
}

/// An entry with its place.
#[derive(Debug)]
pub(crate) struct Placed<T> {
    file: std::sync::Arc<Path>,
    kind: &'static str,
    name: String,
    pub(crate) entry: T,
}

impl<T> Placed<T> {
    pub(crate) fn field(&self, field: &str) -> Field {
        Field::new(&self.file, self.kind, &self.name, field)
    }
}

/// Whether the files and overrides together name nothing to connect to, as an empty file does.
pub(crate) fn is_empty(config: &Kubeconfig, overrides: &Overrides) -> bool {
    given(&config.current_context).is_none()
        && given(&overrides.context).is_none()
        && given(&overrides.cluster).is_none()
        && given(&overrides.server).is_none()
}

/// Selects the entries (client-go `tools/clientcmd/client_config.go`, `DirectClientConfig`).
pub(crate) fn select(config: &Kubeconfig, overrides: &Overrides) -> Result<Selected, Error> {
    let name = given(&overrides.context).or_else(|| given(&config.current_context));
    let context = match &name {
        None => None,
        Some(name) => {
            let found = config
                .contexts
                .get(name)
                .ok_or_else(|| not_found(config, "context", name))?;
            Some(Placed {
                file: found.file.clone(),
                kind: "context",
                name: name.clone(),
                entry: found.entry.clone(),
            })
        }
    };
    let of_context = context.as_ref();
    Ok(Selected {
        cluster: select_cluster(config, overrides, of_context)?,
        user: select_user(config, overrides, of_context)?,
        namespace: of_context.and_then(|context| given(&context.entry.namespace)),
        context: name,
    })
}

type Context = Placed<crate::document::Context>;

fn select_cluster(
    config: &Kubeconfig,
    overrides: &Overrides,
    context: Option<&Context>,
) -> Result<Placed<Cluster>, Error> {
    let of_context = context.and_then(|context| given(&context.entry.cluster));
    let Some(name) = given(&overrides.cluster).or(of_context) else {
        if given(&overrides.server).is_some() {
            return Ok(of_overrides());
        }
        let problem = "names no cluster";
        return Err(match context {
            Some(context) => context.field("cluster").error(problem),
            None => Error::new(format!("{}: no current-context", config.described())),
        });
    };
    match (config.clusters.get(&name), context) {
        (Some(found), _) => Ok(Placed {
            file: found.file.clone(),
            kind: "cluster",
            name,
            entry: found.entry.clone(),
        }),
        // A server is enough, also where the context's own is not there.
        (None, _) if given(&overrides.cluster).is_none() && given(&overrides.server).is_some() => {
            Ok(of_overrides())
        }
        (None, Some(context)) if given(&overrides.cluster).is_none() => Err(context
            .field("cluster")
            .error(format_args!("cluster {name:?} does not exist"))),
        (None, _) => Err(not_found(config, "cluster", &name)),
    }
}

/// A cluster of which the overrides say everything.
fn of_overrides() -> Placed<Cluster> {
    Placed {
        file: Path::new("overrides").into(),
        kind: "cluster",
        name: String::new(),
        entry: Cluster::default(),
    }
}

fn select_user(
    config: &Kubeconfig,
    overrides: &Overrides,
    context: Option<&Context>,
) -> Result<Option<Placed<User>>, Error> {
    let required = given(&overrides.user);
    let of_context = context.and_then(|context| given(&context.entry.user));
    let Some(name) = required.clone().or(of_context) else {
        return Ok(None);
    };
    match config.users.get(&name) {
        Some(found) => Ok(Some(Placed {
            file: found.file.clone(),
            kind: "user",
            name,
            entry: found.entry.clone(),
        })),
        None if required.is_some() => Err(not_found(config, "user", &name)),
        None => {
            // As upstream: only a user named by an override must exist.
            tracing::warn!(
                user = name,
                "The context names a user that no file defines, requests carry no credentials"
            );
            Ok(None)
        }
    }
}

fn not_found(config: &Kubeconfig, kind: &str, name: &str) -> Error {
    if config.files.is_empty() {
        return Error::new(format!(
            "{kind} {name:?} does not exist: no kubeconfig file was found"
        ));
    }
    Error::new(format!("{}: {kind} {name:?} does not exist", config.described()))
}

/// A string that is there and not empty: an empty one means the same as none in these files.
pub(crate) fn given(value: &Option<String>) -> Option<String> {
    value.clone().filter(|value| !value.is_empty())
}
