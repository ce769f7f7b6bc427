//! `HostileProxy`: between a client and any server, doing to connections what networks do.

mod connection;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use informer_testkit::hostile::{Fate, Manner};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{mpsc, oneshot, watch},
    task::{JoinHandle, JoinSet},
};

use self::connection::Connection;

/// Passes TCP connections on to a server, and harms them: by a [`Manner`], which decides about each as it comes, and by command. It knows
/// nothing of what it passes on, which may be TLS. Dropping it cuts all connections.
#[derive(Debug)]
pub struct HostileProxy {
    address: SocketAddr,
    commands: mpsc::Sender<(Command, oneshot::Sender<io::Result<()>>)>,
    counts: Arc<Counts>,
    main: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Counts {
    accepted: AtomicU64,
    open: AtomicUsize,
}

#[derive(Debug)]
enum Command {
    Behave(Manner),
    End(Fate),
    Refuse,
    Accept,
}

impl HostileProxy {
    /// Starts one in front of `target`, on a free port of the loopback address. Calm, until [`behave`](Self::behave) says otherwise.
    ///
    /// # Errors
    /// When it cannot listen.
    pub async fn start(target: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (commands, received) = mpsc::channel(1);
        let counts = Arc::<Counts>::default();
        let main = spawn(Main::new(address, target, counts.clone()).run(listener, received));
        Ok(Self {
            address,
            commands,
            counts,
            main,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Which courses connections take from now on. Those that are open stay on theirs.
    pub async fn behave(&self, manner: Manner) {
        self.ask(Command::Behave(manner)).await.unwrap_or_default();
    }

    /// Ends all connections that are open like this, also those that hang half open. None is left open when this returns, unless this is
    /// what is asked for.
    pub async fn end_all(&self, fate: Fate) {
        self.ask(Command::End(fate)).await.unwrap_or_default();
    }

    /// Resets all connections and refuses new ones.
    pub async fn refuse(&self) {
        self.ask(Command::Refuse).await.unwrap_or_default();
    }

    /// Accepts connections again.
    ///
    /// # Errors
    /// When it cannot listen, since somebody else has its port.
    pub async fn accept(&self) -> io::Result<()> {
        self.ask(Command::Accept).await
    }

    /// How many connections there were.
    #[must_use]
    pub fn n_accepted(&self) -> u64 {
        self.counts.accepted.load(Ordering::SeqCst)
    }

    /// How many are open, those that are half open among them.
    #[must_use]
    pub fn n_open(&self) -> usize {
        self.counts.open.load(Ordering::SeqCst)
    }

    async fn ask(&self, command: Command) -> io::Result<()> {
        let (reply, answer) = oneshot::channel();
        let gone = || io::Error::other("the proxy is gone");
        self.commands.send((command, reply)).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

impl Drop for HostileProxy {
    fn drop(&mut self) {
        // The main task owns all others and drops them as it ends.
        self.main.abort();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the proxy owns this task: `drop` aborts it"
)]
fn spawn(task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    tokio::spawn(task)
}

/// The task that accepts connections and hears commands.
struct Main {
    address: SocketAddr,
    target: SocketAddr,
    manner: Manner,
    counts: Arc<Counts>,
    connections: JoinSet<()>,
    orders: watch::Sender<Fate>,
    connected: watch::Sender<u64>,
}

impl Main {
    fn new(address: SocketAddr, target: SocketAddr, counts: Arc<Counts>) -> Self {
        Self {
            address,
            target,
            manner: Manner::calm(),
            counts,
            connections: JoinSet::new(),
            orders: watch::Sender::new(Fate::Cut),
            connected: watch::Sender::new(0),
        }
    }

    async fn run(
        mut self,
        listener: TcpListener,
        mut commands: mpsc::Receiver<(Command, oneshot::Sender<io::Result<()>>)>,
    ) {
        let mut listener = Some(listener);
        loop {
            tokio::select! {
                Ok(client) = accept(listener.as_ref()) => self.take(client),
                Some(_) = self.connections.join_next() => {}
                command = commands.recv() => {
                    let Some((command, reply)) = command else { return };
                    // Who asked may have stopped waiting.
                    let _ = reply.send(self.obey(command, &mut listener).await);
                }
            }
        }
    }

    async fn obey(&mut self, command: Command, listener: &mut Option<TcpListener>) -> io::Result<()> {
        match command {
            Command::Behave(manner) => self.manner = manner,
            Command::End(fate) => self.end_all(fate).await,
            Command::Refuse => {
                *listener = None;
                self.end_all(Fate::Reset).await;
            }
            Command::Accept if listener.is_some() => {}
            Command::Accept => *listener = Some(TcpListener::bind(self.address).await?),
        }
        Ok(())
    }

    async fn end_all(&mut self, fate: Fate) {
        self.orders.send_replace(fate);
        if fate != Fate::HalfOpen {
            while self.connections.join_next().await.is_some() {}
        }
    }

    fn take(&mut self, client: TcpStream) {
        let number = self.counts.accepted.fetch_add(1, Ordering::SeqCst);
        let course = self.manner.next_course();
        tracing::debug!(number, ?course, "Connection accepted");
        let connection = Connection::new(number, course, self.target, self.connected.clone());
        let (orders, counts) = (self.orders.subscribe(), self.counts.clone());
        self.connections.spawn(async move {
            let _open = Open::new(counts);
            connection.run(client, orders).await;
        });
    }
}

/// Counts as open for as long as it lives.
struct Open(Arc<Counts>);

impl Open {
    fn new(counts: Arc<Counts>) -> Self {
        counts.open.fetch_add(1, Ordering::SeqCst);
        Self(counts)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn accept(listener: Option<&TcpListener>) -> io::Result<TcpStream> {
    match listener {
        Some(listener) => listener.accept().await.map(|(client, _)| client),
        None => std::future::pending().await,
    }
}
