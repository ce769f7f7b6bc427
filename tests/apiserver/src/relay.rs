//! A relay between client and server that can be cut, refused and held: breaks connections without killing a server.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy},
    net::{TcpListener, TcpStream, tcp},
    select,
    sync::{mpsc, oneshot, watch},
    task::{JoinHandle, JoinSet},
};

/// Passes connections on to a server. Dropping it closes them all.
#[derive(Debug)]
pub struct Relay {
    address: SocketAddr,
    commands: mpsc::Sender<(Command, oneshot::Sender<io::Result<()>>)>,
    valve: watch::Sender<Option<u64>>,
    target: watch::Sender<SocketAddr>,
    counts: Arc<Counts>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Counts {
    open: AtomicUsize,
    held: AtomicUsize,
}

/// Counts one for as long as it lives.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Debug, Clone, Copy)]
enum Command {
    Cut,
    Refuse,
    Accept,
}

impl Relay {
    /// Starts one to `target`, on a port that the system picks.
    ///
    /// # Errors
    /// When it cannot listen.
    #[expect(clippy::disallowed_methods, reason = "the handle owns the task")]
    pub async fn start(target: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (commands, received) = mpsc::channel(1);
        let (valve, flow) = watch::channel(None);
        let (target, towards) = watch::channel(target);
        let counts = Arc::<Counts>::default();
        let task = tokio::spawn(serve(listener, towards, received, flow, counts.clone()));
        Ok(Self {
            address,
            commands,
            valve,
            target,
            counts,
            task,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes all connections. New ones are passed on.
    pub async fn cut(&self) {
        self.ask(Command::Cut).await.unwrap_or_default();
    }

    /// Moves all clients to another server: closes all connections, and passes new ones on to `target`.
    pub async fn move_to(&self, target: SocketAddr) {
        self.target.send_replace(target);
        self.cut().await;
    }

    /// Closes all connections and refuses new ones.
    pub async fn refuse(&self) {
        self.ask(Command::Refuse).await.unwrap_or_default();
    }

    /// Passes new connections on again.
    ///
    /// # Errors
    /// When it cannot listen, since somebody else has its port.
    pub async fn accept(&self) -> io::Result<()> {
        self.ask(Command::Accept).await
    }

    /// From now on each connection passes at most `n` bytes on that come from the server, then holds back the rest, without closing.
    pub fn hold_after(&self, n: u64) {
        self.valve.send_replace(Some(n));
    }

    /// Passes everything on again.
    pub fn release(&self) {
        self.valve.send_replace(None);
    }

    /// Connections that are open.
    #[must_use]
    pub fn n_open(&self) -> usize {
        self.counts.open.load(Ordering::SeqCst)
    }

    /// Those of them that have passed on all that they may.
    #[must_use]
    pub fn n_held(&self) -> usize {
        self.counts.held.load(Ordering::SeqCst)
    }

    async fn ask(&self, command: Command) -> io::Result<()> {
        let (reply, answer) = oneshot::channel();
        let gone = || io::Error::other("the relay is gone");
        self.commands.send((command, reply)).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    listener: TcpListener,
    target: watch::Receiver<SocketAddr>,
    mut commands: mpsc::Receiver<(Command, oneshot::Sender<io::Result<()>>)>,
    valve: watch::Receiver<Option<u64>>,
    counts: Arc<Counts>,
) {
    let Ok(address) = listener.local_addr() else {
        return;
    };
    let mut listener = Some(listener);
    let mut connections = JoinSet::new();
    loop {
        select! {
            Ok(client) = accept(listener.as_ref()) => {
                let (valve, counts, target) = (valve.clone(), counts.clone(), *target.borrow());
                connections.spawn(async move {
                    let _open = Counted::new(&counts.open);
                    pass(client, target, valve, &counts).await
                });
            }
            Some(_) = connections.join_next() => {}
            command = commands.recv() => {
                let Some((command, reply)) = command else { return };
                let done = match command {
                    Command::Accept if listener.is_some() => Ok(()),
                    Command::Accept => TcpListener::bind(address).await.map(|bound| listener = Some(bound)),
                    Command::Cut => Ok(()),
                    Command::Refuse => {
                        listener = None;
                        Ok(())
                    }
                };
                if !matches!(command, Command::Accept) {
                    connections.shutdown().await;
                }
                // Who asked may have stopped waiting.
                let _ = reply.send(done);
            }
        }
    }
}

async fn accept(listener: Option<&TcpListener>) -> io::Result<TcpStream> {
    match listener {
        Some(listener) => listener.accept().await.map(|(client, _)| client),
        None => std::future::pending().await,
    }
}

async fn pass(
    client: TcpStream,
    target: SocketAddr,
    valve: watch::Receiver<Option<u64>>,
    counts: &Counts,
) -> io::Result<()> {
    let server = TcpStream::connect(target).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut from_client, to_client) = client.into_split();
    let (from_server, mut to_server) = server.into_split();
    select! {
        up = async {
            copy(&mut from_client, &mut to_server).await?;
            // A client that wants an answer keeps its side open.
            to_server.shutdown().await
        } => up,
        down = pass_down(from_server, to_client, valve, &counts.held) => down,
    }
}

async fn pass_down(
    mut from: tcp::OwnedReadHalf,
    mut to: tcp::OwnedWriteHalf,
    mut valve: watch::Receiver<Option<u64>>,
    held: &AtomicUsize,
) -> io::Result<()> {
    let mut buffer = vec![0; 16 * 1024];
    let mut passed = 0_u64;
    // What had passed when the valve was last turned.
    let mut base = 0_u64;
    loop {
        let limit = *valve.borrow_and_update();
        let room = limit.map_or(buffer.len() as u64, |limit| limit.saturating_sub(passed - base));
        let room = buffer.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        let _held = (room == 0).then(|| Counted::new(held));
        let n = select! {
            turned = valve.changed() => {
                turned.map_err(io::Error::other)?;
                base = passed;
                continue;
            }
            n = from.read(&mut buffer[..room]), if room > 0 => n?,
        };
        if n == 0 {
            return to.shutdown().await;
        }
        to.write_all(&buffer[..n]).await?;
        passed += n as u64;
    }
}
