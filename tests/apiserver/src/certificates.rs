//! The certificates of one control plane: three authorities, as controller-runtime's `envtest` has them.

use std::{fs, io, path::Path};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};

/// A user's certificate and key, as PEM.
#[derive(Debug, Clone)]
pub struct ClientCredentials {
    /// The certificate.
    pub certificate: String,
    /// The private key.
    pub key: String,
}

/// What clients need, after [`write`](Certificates::write) laid what the server needs into its folder.
#[derive(Debug)]
pub struct Certificates {
    /// Signs the server's certificate: what clients trust.
    pub serving_ca: String,
    client_ca: Issuer<'static, KeyPair>,
}

impl Certificates {
    /// Makes the authorities, and writes what kube-apiserver reads into `folder`.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn write(folder: &Path) -> io::Result<Self> {
        let (serving_ca, serving) = authority("serving")?;
        let (client_ca, client) = authority("clients")?;
        let (signer_ca, signer) = authority("service accounts")?;

        let mut server = CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned()])
            .map_err(io::Error::other)?;
        server.distinguished_name = name("localhost", "informer tests");
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = server.signed_by(&key, &serving).map_err(io::Error::other)?;

        fs::write(folder.join("apiserver.crt"), certificate.pem())?;
        fs::write(folder.join("apiserver.key"), key.serialize_pem())?;
        fs::write(folder.join("client-cert-auth-ca.crt"), client_ca)?;
        fs::write(folder.join("sa-signer.crt"), signer_ca)?;
        fs::write(folder.join("sa-signer.key"), signer.key().serialize_pem())?;
        Ok(Self {
            serving_ca,
            client_ca: client,
        })
    }

    /// A certificate of a user in a group.
    ///
    /// # Errors
    /// When none can be made.
    pub fn client(&self, user: &str, group: &str) -> io::Result<ClientCredentials> {
        let mut params = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
        params.distinguished_name = name(user, group);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = params
            .signed_by(&key, &self.client_ca)
            .map_err(io::Error::other)?;
        Ok(ClientCredentials {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }
}

fn authority(of: &str) -> io::Result<(String, Issuer<'static, KeyPair>)> {
    let mut params = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
    params.distinguished_name = name(of, "informer tests");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    let key = KeyPair::generate().map_err(io::Error::other)?;
    let certificate = params.self_signed(&key).map_err(io::Error::other)?;
    Ok((certificate.pem(), Issuer::new(params, key)))
}

fn name(common: &str, organization: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    name.push(DnType::OrganizationName, organization);
    name
}
