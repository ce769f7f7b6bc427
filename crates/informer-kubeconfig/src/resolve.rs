//! From entries and overrides to what one client uses: context, then cluster and user.

use std::path::Path;

use crate::{
    Environment, Error, Kubeconfig, Overrides,
    document::{Cluster, User},
    field::Field,
    load::absolute,
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

    /// The same of a field that the overrides may have set.
    pub(crate) fn field_or_override(&self, is_overridden: bool, field: &str) -> Field {
        match is_overridden {
            true => Field::other(&format!("{field} of the overrides")),
            false => self.field(field),
        }
    }

    /// An entry of which the overrides say everything.
    fn of_overrides(kind: &'static str, entry: T) -> Self {
        Self {
            file: Path::new("overrides").into(),
            kind,
            name: String::new(),
            entry,
        }
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
pub(crate) fn select(
    config: &Kubeconfig,
    environment: &dyn Environment,
    overrides: &Overrides,
) -> Result<Selected, Error> {
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
    let mut cluster = select_cluster(config, overrides, of_context)?;
    over(&mut cluster.entry.proxy_url, &overrides.proxy_url);
    cluster.entry.disable_compression |= overrides.disable_compression;
    let user = select_user(config, overrides, of_context)?;
    Ok(Selected {
        cluster,
        user: overridden_user(user, environment, overrides),
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
            return Ok(Placed::of_overrides("cluster", Cluster::default()));
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
            Ok(Placed::of_overrides("cluster", Cluster::default()))
        }
        (None, Some(context)) if given(&overrides.cluster).is_none() => Err(context
            .field("cluster")
            .error(format_args!("cluster {name:?} does not exist"))),
        (None, _) => Err(not_found(config, "cluster", &name)),
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

/// The user with what the overrides say of it, field by field (client-go `DirectClientConfig.getAuthInfo`). The token is not among them: it
/// replaces all of them.
pub(crate) fn overridden_user(
    user: Option<Placed<User>>,
    environment: &dyn Environment,
    overrides: &Overrides,
) -> Option<Placed<User>> {
    let mut said = User::default();
    over(&mut said.username, &overrides.username);
    over(&mut said.password, &overrides.password);
    over(&mut said.impersonate, &overrides.impersonate);
    over(&mut said.as_uid, &overrides.impersonate_uid);
    let path = |path: &Path| absolute(environment, path).to_string_lossy().into_owned();
    let (certificate, key) = (&overrides.client_certificate, &overrides.client_key);
    said.client_certificate = certificate.as_deref().map(path);
    said.client_key = key.as_deref().map(path);
    let (groups, extra) = (&overrides.impersonate_groups, &overrides.impersonate_extra);
    said.as_groups = Some(groups.clone()).filter(|groups| !groups.is_empty());
    let fields = [
        &said.username,
        &said.password,
        &said.impersonate,
        &said.as_uid,
        &said.client_certificate,
        &said.client_key,
    ];
    if fields.iter().all(|field| field.is_none()) && said.as_groups.is_none() && extra.is_empty() {
        return user;
    }
    let mut user = user.unwrap_or_else(|| Placed::of_overrides("user", User::default()));
    let entry = &mut user.entry;
    if said.client_certificate.is_some() {
        entry.client_certificate_data = None;
    }
    if said.client_key.is_some() {
        entry.client_key_data = None;
    }
    for (field, said) in [
        (&mut entry.username, &said.username),
        (&mut entry.password, &said.password),
        (&mut entry.impersonate, &said.impersonate),
        (&mut entry.as_uid, &said.as_uid),
        (&mut entry.client_certificate, &said.client_certificate),
        (&mut entry.client_key, &said.client_key),
    ] {
        over(field, said);
    }
    if said.as_groups.is_some() {
        entry.as_groups = said.as_groups;
    }
    if !extra.is_empty() {
        let of_entry = entry.as_user_extra.get_or_insert_default();
        of_entry.extend(extra.iter().map(|(key, values)| (key.clone(), values.clone())));
    }
    Some(user)
}

/// A cluster of which nothing but the overrides is known.
pub(crate) fn overridden_cluster(overrides: &Overrides) -> Placed<Cluster> {
    let entry = Cluster {
        proxy_url: given(&overrides.proxy_url),
        ..Cluster::default()
    };
    Placed::of_overrides("cluster", entry)
}

/// What is given counts more.
fn over(field: &mut Option<String>, given: &Option<String>) {
    if let Some(given) = self::given(given) {
        *field = Some(given);
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
