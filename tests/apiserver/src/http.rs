//! The plainest HTTP client that can be: one request, one connection, HTTP/1.0. What the tests believe when they judge the real clients.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::Arc,
    time::Duration,
};

use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use rustls_pki_types::{CertificateDer, ServerName, pem::PemObject};
use serde_json::Value;

const TIMEOUT: Duration = Duration::from_secs(60);

/// One server, and how to talk to it.
#[derive(Debug, Clone)]
pub struct Http {
    address: SocketAddr,
    tls: Option<Arc<ClientConfig>>,
    token: Option<String>,
    accept: &'static str,
}

const JSON: &str = "application/json";

/// A response.
#[derive(Debug)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// The body as JSON.
    ///
    /// # Errors
    /// When the status is no success or the body no JSON.
    pub fn json(&self) -> io::Result<Value> {
        if self.status >= 300 {
            let body = String::from_utf8_lossy(&self.body);
            return Err(io::Error::other(format!("status {}: {body}", self.status)));
        }
        serde_json::from_slice(&self.body).map_err(io::Error::other)
    }
}

impl Http {
    /// Without TLS.
    #[must_use]
    pub fn plain(address: SocketAddr) -> Self {
        Self {
            address,
            tls: None,
            token: None,
            accept: JSON,
        }
    }

    /// With TLS that trusts nobody but this authority, and with a token.
    ///
    /// # Errors
    /// When the authority's certificate cannot be read.
    pub fn secure(address: SocketAddr, authority: &str, token: &str) -> io::Result<Self> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(authority.as_bytes()) {
            roots
                .add(certificate.map_err(io::Error::other)?)
                .map_err(io::Error::other)?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            address,
            tls: Some(Arc::new(config)),
            token: Some(token.to_owned()),
            accept: JSON,
        })
    }

    /// The same, which accepts another form of answer.
    #[must_use]
    pub fn accepting(mut self, media_type: &'static str) -> Self {
        self.accept = media_type;
        self
    }

    /// Gets what is at `path`.
    ///
    /// # Errors
    /// When no answer came.
    pub fn get(&self, path: &str) -> io::Result<Answer> {
        self.send("GET", path, None)
    }

    /// Sends a request, with a body of JSON where there is one.
    ///
    /// # Errors
    /// When no answer came.
    pub fn send(&self, method: &str, path: &str, body: Option<&Value>) -> io::Result<Answer> {
        let socket = TcpStream::connect_timeout(&self.address, TIMEOUT)?;
        socket.set_read_timeout(Some(TIMEOUT))?;
        socket.set_write_timeout(Some(TIMEOUT))?;
        let request = self.request(method, path, body);
        let Some(tls) = &self.tls else {
            return exchange(socket, &request);
        };
        let name = ServerName::from(self.address.ip());
        let connection = ClientConnection::new(tls.clone(), name).map_err(io::Error::other)?;
        exchange(StreamOwned::new(connection, socket), &request)
    }

    fn request(&self, method: &str, path: &str, body: Option<&Value>) -> String {
        let mut request = format!(
            "{method} {path} HTTP/1.0\r\nHost: {}\r\nUser-Agent: informer-tests\r\nAccept: {}\r\n",
            self.address, self.accept
        );
        if let Some(token) = &self.token {
            request.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        let body = body.map(Value::to_string).unwrap_or_default();
        if !body.is_empty() {
            request.push_str(&format!(
                "Content-Type: application/json\r\nContent-Length: {}\r\n",
                body.len()
            ));
        }
        request + "\r\n" + &body
    }
}

fn exchange(mut stream: impl Read + Write, request: &str) -> io::Result<Answer> {
    stream.write_all(request.as_bytes())?;
    stream.flush()?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response)?;
    let odd = || io::Error::new(io::ErrorKind::InvalidData, "no HTTP response");
    let head_ends = response
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .ok_or_else(odd)?;
    let body = response.split_off(head_ends + 4);
    let head = String::from_utf8_lossy(&response);
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .ok_or_else(odd)?;
    Ok(Answer { status, body })
}
