//! Whether a client certificate and its key fit each other, as Go's `tls.X509KeyPair` looks. Pure.

use informer_transport::ClientCertificate;
use rustls::{CertificateError, Error as TlsError, InconsistentKeys, sign::CertifiedKey};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

/// What is wrong with a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The certificate cannot be read, and why.
    Certificate(String),
    /// The key is malformed or of a kind that is not supported.
    Key,
    /// Each is good, and the key is another certificate's.
    Foreign,
}

/// Refuses a pair that no server could be signed in at. What is not a certificate or a key at all was refused before.
pub(crate) fn check(client: &ClientCertificate) -> Result<(), Problem> {
    // Others beside the good ones are passed over, as Go does.
    let chain = CertificateDer::pem_slice_iter(&client.certificate).filter_map(Result::ok);
    let key = PrivateKeyDer::from_pem_slice(&client.key).map_err(|_| Problem::Key)?;
    let provider = rustls::crypto::ring::default_provider();
    let key = provider
        .key_provider
        .load_private_key(key)
        .map_err(|_| Problem::Key)?;
    match CertifiedKey::new(chain.collect(), key).keys_match() {
        Ok(()) | Err(TlsError::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(()),
        Err(TlsError::InconsistentKeys(_)) => Err(Problem::Foreign),
        Err(error) => Err(Problem::Certificate(reason(&error))),
    }
}

fn reason(error: &TlsError) -> String {
    match error {
        TlsError::InvalidCertificate(CertificateError::BadEncoding) => "its encoding is malformed".to_owned(),
        // webpki's own error, which rustls has no variant for. Go takes those, rustls does not.
        TlsError::InvalidCertificate(other) if format!("{other:?}").contains("UnsupportedCertVersion") => {
            "it is of an old version of X.509".to_owned()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use informer_transport::ClientCertificate;

    use super::{Problem, check};

    fn pair() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    fn checked(certificate: &str, key: &str) -> Result<(), Problem> {
        check(&ClientCertificate {
            certificate: certificate.as_bytes().into(),
            key: key.as_bytes().into(),
        })
    }

    #[test]
    fn a_key_fits_its_own_certificate_which_comes_first() {
        let ((one, one_key), (two, two_key)) = (pair(), pair());
        let broken = "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n";
        let empty = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n";
        let no_key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        assert_eq!(checked(&one, &one_key), Ok(()));
        assert_eq!(checked(&format!("{one}{two}"), &one_key), Ok(()));
        assert_eq!(checked(&format!("{broken}{one}{broken}"), &one_key), Ok(()));
        // Both in one file, as the kubelet keeps them.
        let whole = format!("{one}{one_key}");
        assert_eq!(checked(&whole, &whole), Ok(()));
        assert_eq!(checked(&one, &two_key), Err(Problem::Foreign));
        assert_eq!(checked(&format!("{two}{one}"), &one_key), Err(Problem::Foreign));
        assert_eq!(checked(&one, no_key), Err(Problem::Key));
        assert!(matches!(checked(empty, &one_key), Err(Problem::Certificate(_))));
    }
}
