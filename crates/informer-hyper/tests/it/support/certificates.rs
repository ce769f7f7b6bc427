//! Certificates made for a test.

use std::sync::Arc;

use informer_transport::{ClientCertificate, Roots, TlsMaterial};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use rustls::{RootCertStore, ServerConfig, server::WebPkiClientVerifier};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

/// An authority that tests trust, or not.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its key, in PEM.
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        Self {
            issuer: CertifiedIssuer::self_signed(params, key).expect("an authority"),
        }
    }

    pub(crate) fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// A certificate for servers of these names and for clients.
    pub(crate) fn issue(&self, names: &[&str]) -> Identity {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).expect("parameters");
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        }
    }

    /// What a client that trusts this authority needs.
    pub(crate) fn trusted(&self) -> TlsMaterial {
        let mut material = TlsMaterial::default();
        material.roots = Roots::Pem(self.pem().into_bytes().into());
        material
    }

    /// The authority's own certificate, for a server that uses it as its own.
    pub(crate) fn identity(&self) -> Identity {
        Identity {
            certificate: self.pem(),
            key: self.issuer.key().serialize_pem(),
        }
    }

    fn store(&self) -> RootCertStore {
        let mut store = RootCertStore::empty();
        store.add(self.issuer.der().clone()).expect("a root");
        store
    }
}

impl Identity {
    pub(crate) fn for_client(&self) -> ClientCertificate {
        ClientCertificate {
            certificate: self.certificate.clone().into_bytes().into(),
            key: self.key.clone().into_bytes().into(),
        }
    }

    /// A server with this certificate, which wants its clients to be certified by `clients`.
    pub(crate) fn for_server(&self, clients: Option<&Authority>, alpn: &[&str]) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("versions");
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(authority.store()), provider);
                builder.with_client_cert_verifier(verifier.build().expect("a verifier"))
            }
        };
        let chain = vec![CertificateDer::from_pem_slice(self.certificate.as_bytes()).expect("a certificate")];
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).expect("a key");
        let mut config = builder.with_single_cert(chain, key).expect("a server");
        config.alpn_protocols = alpn.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        Arc::new(config)
    }
}
