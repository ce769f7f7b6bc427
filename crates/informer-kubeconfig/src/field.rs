//! `Field`: a place in the configuration, for errors; and the PEM texts that fields give or name.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

use crate::{Environment, Error, Place, text};

/// Where a value comes from: `/home/ada/.kube/config: user "ada": client-key`.
#[derive(Debug, Clone)]
pub(crate) struct Field(Arc<str>);

impl Field {
    pub(crate) fn new(file: &Path, kind: &str, name: &str, field: &str) -> Self {
        Self(format!("{}: {kind} {name:?}: {field}", file.display()).into())
    }

    /// A value that comes from elsewhere, described in words.
    pub(crate) fn other(description: &str) -> Self {
        Self(description.into())
    }

    /// As it stands in errors.
    pub(crate) fn described(&self) -> &str {
        &self.0
    }

    pub(crate) fn error(&self, problem: impl fmt::Display) -> Error {
        Error::new(format!("{}: {problem}", self.0))
    }
}

/// What a PEM text must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PemKind {
    Certificates,
    PrivateKey,
}

/// A PEM text, given or named.
#[derive(Clone)]
pub(crate) enum Pem {
    Data {
        field: Field,
        pem: Arc<[u8]>,
        kind: PemKind,
    },
    File {
        field: Field,
        path: PathBuf,
        kind: PemKind,
    },
}

impl Pem {
    /// Of the two fields `name` and `name-data`, the one that is set.
    pub(crate) fn of_fields(
        field: impl Fn(&str) -> Field,
        name: &str,
        file: Option<&str>,
        data: Option<&str>,
        kind: PemKind,
    ) -> Result<Option<Self>, Error> {
        let data_name = format!("{name}-data");
        let file = file.filter(|path| !path.is_empty());
        let data = data.filter(|data| !data.trim().is_empty());
        match (file, data) {
            // client-go `tools/clientcmd/validation.go` refuses both, too.
            (Some(_), Some(_)) => {
                Err(field(&data_name).error(format_args!("set together with {name}; keep one")))
            }
            (Some(path), None) => Ok(Some(Self::File {
                field: field(name),
                path: path.into(),
                kind,
            })),
            (None, Some(data)) => {
                let field = field(&data_name);
                let pem =
                    text::decode_base64(data).map_err(|cause| field.error("not base64").caused_by(cause))?;
                Ok(Some(Self::Data {
                    field,
                    pem: pem.into(),
                    kind,
                }))
            }
            (None, None) => Ok(None),
        }
    }

    /// A text that is at hand, checked.
    pub(crate) fn given(field: &Field, pem: Vec<u8>, kind: PemKind) -> Result<Arc<[u8]>, Error> {
        check(field, None, &pem, kind)?;
        Ok(pem.into())
    }

    /// Where it is.
    pub(crate) fn place(&self) -> Place {
        match self {
            Self::Data { .. } => Place::Configuration,
            Self::File { path, .. } => Place::File { path: path.clone() },
        }
    }

    /// An error about the text, whose sentence goes on behind the field and the file.
    pub(crate) fn error(&self, problem: impl fmt::Display) -> Error {
        match self {
            Self::Data { field, .. } => field.error(problem),
            Self::File { field, path, .. } => field.error(format_args!("{} {problem}", path.display())),
        }
    }

    pub(crate) fn is_file(&self) -> bool {
        matches!(self, Self::File { .. })
    }

    /// The text now.
    pub(crate) fn load(&self, environment: &dyn Environment) -> Result<Arc<[u8]>, Error> {
        match self {
            Self::Data { field, pem, kind } => {
                // Here, as for files: over plain HTTP nobody asks for them, and what is wrong with them is no matter.
                check(field, None, pem, *kind)?;
                Ok(Arc::clone(pem))
            }
            Self::File { field, path, kind } => {
                let pem = environment.read(path).map_err(|cause| {
                    field
                        .error(format_args!("cannot read {}", path.display()))
                        .caused_by(cause)
                })?;
                check(field, Some(path), &pem, *kind)?;
                Ok(pem.into())
            }
        }
    }
}

/// Refuses a text that does not hold what it should: half a file of a rotation, or the wrong file.
fn check(field: &Field, file: Option<&Path>, pem: &[u8], kind: PemKind) -> Result<(), Error> {
    let (what, found) = match kind {
        // Go's `AppendCertsFromPEM` is content with one good certificate among others.
        PemKind::Certificates if CertificateDer::pem_slice_iter(pem).any(|section| section.is_ok()) => {
            return Ok(());
        }
        PemKind::Certificates => (
            "a certificate in PEM",
            CertificateDer::from_pem_slice(pem).map(drop),
        ),
        PemKind::PrivateKey => (
            "a private key in PEM",
            PrivateKeyDer::from_pem_slice(pem).map(drop),
        ),
    };
    found.map_err(|cause| {
        let error = match file {
            Some(path) => field.error(format_args!("{} does not hold {what}", path.display())),
            None => field.error(format_args!("does not hold {what}")),
        };
        error.caused_by(pem_problem(&cause))
    })
}

/// The cause in words that cannot quote the text.
fn pem_problem(error: &rustls_pki_types::pem::Error) -> &'static str {
    use rustls_pki_types::pem::Error;
    match error {
        Error::MissingSectionEnd { .. } => "a section has no end",
        Error::IllegalSectionStart { .. } => "the beginning of a section is malformed",
        Error::Base64Decode(_) => "the base64 of a section is malformed",
        Error::NoItemsFound => "no such section found",
        _ => "the sections cannot be read",
    }
}
