//! One connection through the proxy, on its course.

use std::{
    io,
    net::SocketAddr,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use informer_core::{Clock as _, TokioClock};
use informer_testkit::hostile::{Course, Fate};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpStream,
        tcp::{ReadHalf, WriteHalf},
    },
    sync::watch,
};

/// A connection that is to be overtaken waits no longer than this for one that overtakes it.
const OVERTAKEN_WITHIN: Duration = Duration::from_secs(1);

/// One connection on its course.
pub(super) struct Connection {
    number: u64,
    course: Course,
    target: SocketAddr,
    /// The number of the latest connection that reached the server, plus one.
    connected: watch::Sender<u64>,
    /// Bytes that may pass before the end that the course has in store.
    n_left: AtomicU64,
}

impl Connection {
    /// The connection of this number, which tells `connected` when it has reached the server.
    pub(super) fn new(
        number: u64,
        course: Course,
        target: SocketAddr,
        connected: watch::Sender<u64>,
    ) -> Self {
        Self {
            number,
            course,
            target,
            connected,
            n_left: AtomicU64::new(u64::MAX),
        }
    }

    /// Passes on what either side says, until its course or the latest of the orders says otherwise.
    pub(super) async fn run(self, mut client: TcpStream, mut orders: watch::Receiver<Fate>) {
        if self.course.is_overtaken {
            let mut connected = self.connected.subscribe();
            let overtaken = connected.wait_for(|latest| *latest > self.number);
            // Nobody came.
            let _ = tokio::time::timeout(OVERTAKEN_WITHIN, overtaken).await;
        }
        let Ok(mut server) = TcpStream::connect(self.target).await else {
            return reset(&client);
        };
        self.connected.send_if_modified(|latest| {
            let is_later = *latest <= self.number;
            *latest = (*latest).max(self.number + 1);
            is_later
        });
        let mut fate = tokio::select! {
            fate = self.pass(&mut client, &mut server) => fate,
            Ok(()) = orders.changed() => *orders.borrow_and_update(),
        };
        loop {
            match fate {
                Fate::Cut => return,
                Fate::Reset => {
                    reset(&client);
                    reset(&server);
                    return;
                }
                Fate::HalfOpen => match orders.changed().await {
                    Ok(()) => fate = *orders.borrow_and_update(),
                    Err(_) => return,
                },
            }
        }
    }

    /// Passes on what comes from either side, until both have ended or the course has.
    async fn pass(&self, client: &mut TcpStream, server: &mut TcpStream) -> Fate {
        // Each piece is a packet of its own.
        if client.set_nodelay(true).is_err() || server.set_nodelay(true).is_err() {
            return Fate::Cut;
        }
        let fate = match self.course.end {
            Some((after, fate)) => {
                self.n_left.store(after, Ordering::SeqCst);
                fate
            }
            None => Fate::Cut,
        };
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        let up = self.pump(from_client, to_server);
        let down = self.pump(from_server, to_client);
        match tokio::try_join!(up, down) {
            Ok(_) => Fate::Cut,
            Err(Broken::AsPlanned) => fate,
            Err(Broken::BySides) => Fate::Reset,
        }
    }

    async fn pump(&self, mut from: ReadHalf<'_>, mut to: WriteHalf<'_>) -> Result<(), Broken> {
        let mut buffer = vec![0; 16 << 10];
        loop {
            let n = from.read(&mut buffer).await?;
            if n == 0 {
                return Ok(to.shutdown().await?);
            }
            for piece in buffer[..n].chunks(self.course.piece) {
                if !self.course.pause.is_zero() {
                    TokioClock.sleep_until(TokioClock.now() + self.course.pause).await;
                }
                let size = piece.len() as u64;
                let left = self.n_left.load(Ordering::SeqCst);
                let passes = usize::try_from(left.min(size)).unwrap_or(piece.len());
                to.write_all(&piece[..passes]).await?;
                self.n_left.fetch_sub(left.min(size), Ordering::SeqCst);
                if left <= size {
                    return Err(Broken::AsPlanned);
                }
                if self.course.piece == 1 {
                    // Else the two ends share what could go in one read.
                    tokio::task::yield_now().await;
                }
            }
        }
    }
}

/// Why nothing is passed on any more.
enum Broken {
    AsPlanned,
    BySides,
}

impl From<io::Error> for Broken {
    fn from(_: io::Error) -> Self {
        Self::BySides
    }
}

/// Makes the end of this socket an RST.
fn reset(stream: &TcpStream) {
    // It can only fail where the socket is no more.
    let _ = socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO));
}
