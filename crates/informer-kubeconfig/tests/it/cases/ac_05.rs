//! AC-05: addresses and TLS knobs, as far as a configuration alone can show them.

use informer_transport::Roots;

use crate::support::{config, headers, material};

#[test]
fn ac_05_a_server_without_a_scheme_is_http_unless_tls_is_spoken_of() {
    let config_of = |cluster: &str| config(cluster, "").expect(cluster);
    assert_eq!(
        config_of("server: 'localhost:8080'").server(),
        "http://localhost:8080"
    );
    let config = config_of("server: 'host:6443', insecure-skip-tls-verify: true");
    assert_eq!(config.server(), "https://host:6443");
    assert!(matches!(material(&config).roots, Roots::Insecure));
}

#[test]
fn ac_05_a_token_wins_over_an_exec_block() {
    let config = config(
        "server: 'https://s'",
        "token: t, exec: {command: aws, apiVersion: v1, interactiveMode: Never}",
    )
    .expect("config");
    assert_eq!(headers(&config), ["authorization: Bearer t"]);
}

#[test]
fn ac_05_compression_can_be_turned_off() {
    assert!(
        config("server: 'https://s'", "")
            .expect("config")
            .accepts_compression()
    );
    let config = config("server: 'https://s', disable-compression: true", "").expect("config");
    assert!(!config.accepts_compression());
}

#[test]
fn ac_05_a_proxy_is_handed_on_and_one_that_cannot_be_used_is_refused() {
    let through = |url: &str| {
        let config = config(&format!("server: 'https://s', proxy-url: '{url}'"), "")?;
        Ok::<_, informer_kubeconfig::Error>(config.proxy().map(str::to_owned))
    };
    assert_eq!(through("").expect("none"), None);
    for url in [
        "http://ada:s3cret@p:3128",
        "https://p",
        "socks5://ada:s3cret@[fd00::2]:1080",
    ] {
        assert_eq!(through(url).expect(url).as_deref(), Some(url));
    }
    for url in ["ftp://s3cret@p", "s3cret:p", "http://s3cret@p:x"] {
        let error = through(url).expect_err(url).to_string();
        assert!(
            error.contains("proxy-url") && !error.contains("s3cret"),
            "{error}"
        );
    }
}
