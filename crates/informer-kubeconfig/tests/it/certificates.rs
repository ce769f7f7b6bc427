//! Authorities, client certificates, and when files are read again.

use std::time::Duration;

use informer_transport::Roots;

use crate::support::{FILE, base64, certificate, config, config_in, file, home, material, roots};

const SERVER: &str = "server: 'https://s'";

#[test]
fn the_authority_comes_from_data_or_file() {
    let (pem, _) = certificate();
    let of_data = config(
        &format!("{SERVER}, certificate-authority-data: {}", base64(&pem)),
        "",
    )
    .expect("config");
    assert_eq!(roots(&of_data), pem.as_bytes());
    let environment = home()
        .file(
            FILE,
            file(&format!("{SERVER}, certificate-authority: pki/../ca.crt"), ""),
        )
        .file("/home/ada/.kube/ca.crt", pem.clone());
    assert_eq!(roots(&config_in(&environment).expect("config")), pem.as_bytes());
}

#[test]
fn without_an_authority_those_of_the_platform_count() {
    let config = config(&format!("{SERVER}, tls-server-name: api.internal"), "").expect("config");
    assert!(matches!(material(&config).roots, Roots::Platform));
    assert_eq!(material(&config).server_name.as_deref(), Some("api.internal"));
}

#[test]
fn trust_in_anybody_is_passed_on() {
    let config = config(&format!("{SERVER}, insecure-skip-tls-verify: true"), "").expect("config");
    assert!(matches!(material(&config).roots, Roots::Insecure));
}

#[test]
fn plain_http_reads_no_certificate_files() {
    let config = config(
        "server: 'http://localhost:8080', certificate-authority: /missing",
        "client-certificate: /missing, client-key: /missing",
    )
    .expect("config");
    assert!(material(&config).client.is_none());
}

#[test]
fn files_are_read_again_when_they_change_and_the_generation_says_so() {
    let ((authority, _), (pem, key)) = (certificate(), certificate());
    let environment = home()
        .file(
            FILE,
            file(
                &format!("{SERVER}, certificate-authority: /ca"),
                "client-certificate: /crt, client-key: /key",
            ),
        )
        .file("/ca", authority)
        .file("/crt", pem.clone())
        .file("/key", key);
    let config = config_in(&environment).expect("config");
    assert_eq!(
        material(&config).client.expect("client").certificate.to_vec(),
        pem.as_bytes()
    );
    let first = material(&config).generation;

    environment.advance(Duration::from_secs(60));
    assert_eq!(material(&config).generation, first, "nothing changed");

    // A rotation that is half done shows neither the new certificate nor a new generation.
    let (new_pem, new_key) = certificate();
    environment.write("/crt", new_pem.clone());
    environment.write("/key", "-----BEGIN PRIVATE KEY-----\nMIG");
    environment.advance(Duration::from_secs(60));
    assert_eq!(
        material(&config).client.expect("client").certificate.to_vec(),
        pem.as_bytes()
    );
    assert_eq!(material(&config).generation, first);

    environment.write("/key", new_key);
    environment.advance(Duration::from_secs(60));
    assert_eq!(
        material(&config).client.expect("client").certificate.to_vec(),
        new_pem.as_bytes()
    );
    assert_eq!(material(&config).generation, first + 1);

    // Half way through a rotation, a certificate whose key is still to come: the old pair stays.
    let (next_pem, next_key) = certificate();
    environment.write("/crt", next_pem.clone());
    environment.advance(Duration::from_secs(60));
    assert_eq!(
        material(&config).client.expect("client").certificate.to_vec(),
        new_pem.as_bytes()
    );
    assert_eq!(material(&config).generation, first + 1);
    environment.write("/key", next_key);
    environment.advance(Duration::from_secs(60));
    let new_pem = next_pem;
    assert_eq!(
        material(&config).client.expect("client").certificate.to_vec(),
        new_pem.as_bytes()
    );
    assert_eq!(material(&config).generation, first + 2);

    // The authority rotates on its own; a file that is gone keeps what was read.
    let (new_authority, _) = certificate();
    environment.write("/ca", new_authority.clone());
    environment.remove("/key");
    environment.advance(Duration::from_secs(60));
    assert_eq!(roots(&config), new_authority.as_bytes());
    assert_eq!(
        material(&config).client.expect("client").certificate.to_vec(),
        new_pem.as_bytes()
    );
    assert_eq!(material(&config).generation, first + 3);
}

#[test]
fn a_key_of_another_certificate_is_refused_with_file_entry_and_field() {
    let ((pem, _), (_, other)) = (certificate(), certificate());
    let in_files = home()
        .file(FILE, file(SERVER, "client-certificate: /crt, client-key: /key"))
        .file("/crt", pem.clone())
        .file("/key", other.clone());
    let no_der = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    let no_certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let in_place = |certificate: &str, key: &str| {
        let (certificate, key) = (base64(certificate), base64(key));
        let user = format!("client-certificate-data: {certificate}, client-key-data: {key}");
        home().file(FILE, file(SERVER, &user))
    };
    for (environment, expected) in [
        (
            in_files,
            "client-key: /key holds a key that is not that of the certificate in /crt",
        ),
        (
            in_place(&pem, &other),
            "client-key-data: holds a key that is not that of the certificate in client-certificate-data",
        ),
        (
            in_place(&pem, no_der),
            "client-key-data: holds a key that is malformed or of a kind that is not supported",
        ),
        (
            in_place(no_certificate, &other),
            "client-certificate-data: holds a certificate that cannot be used: its encoding is malformed",
        ),
    ] {
        let error = config_in(&environment).expect_err(expected);
        assert_eq!(
            error.to_string(),
            format!("/home/ada/.kube/config: user \"u\": {expected}")
        );
    }
}
