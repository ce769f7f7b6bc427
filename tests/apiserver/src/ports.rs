//! Ports for servers that cannot let the system pick one.

use std::{
    hash::{BuildHasher, RandomState},
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
};

use crate::process::Leashed;

/// How often another port is tried when somebody else took one in the meantime.
const ATTEMPTS: u32 = 10;
/// Below the ports that Linux gives to outgoing connections, so that a server that is down for a moment finds its port free again.
const FIRST: u16 = 16_000;
const N: u16 = 16_000;

/// Starts a server at a free address; at another one when it says that this is taken after all.
///
/// # Errors
/// What `start` fails with. Of kind `AddrInUse` it is tried again.
pub(crate) fn start<T>(mut start: impl FnMut(SocketAddr) -> io::Result<T>) -> io::Result<T> {
    let mut attempt = 0;
    loop {
        let port = FIRST
            + u16::try_from(RandomState::new().hash_one(attempt) % u64::from(N)).map_err(io::Error::other)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let started = TcpListener::bind(address).map(drop).and_then(|()| start(address));
        match started {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && attempt < ATTEMPTS => attempt += 1,
            started => return started,
        }
    }
}

/// Why a server ended by itself: `AddrInUse` if that is what it said.
pub(crate) fn end_of(what: &str, process: &Leashed) -> io::Error {
    let taken = process
        .output()
        .is_ok_and(|output| output.contains("address already in use"));
    let kind = if taken {
        io::ErrorKind::AddrInUse
    } else {
        io::ErrorKind::Other
    };
    io::Error::new(kind, format!("{what} ended:\n{}", process.last_words()))
}
