//! A relay that can stop forwarding while it keeps its sockets open.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, tcp},
    sync::watch,
    task::JoinSet,
};

pub(crate) struct Relay {
    address: SocketAddr,
    /// Connections with a smaller number are not forwarded any more.
    dead_below: watch::Sender<usize>,
    accepted: watch::Receiver<usize>,
    _tasks: JoinSet<()>,
}

impl Relay {
    pub(crate) async fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (dead_below, watched) = watch::channel(0);
        let (count, accepted) = watch::channel(0);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let number = *count.borrow();
                count.send_modify(|n| *n += 1);
                let server = TcpStream::connect(to).await.expect("the server is there");
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                open.spawn(forward(from_client, to_server, number, watched.clone()));
                open.spawn(forward(from_server, to_client, number, watched.clone()));
            }
        });
        Self {
            address,
            dead_below,
            accepted,
            _tasks: tasks,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops forwarding on all connections that are open now.
    pub(crate) fn blackhole(&self) {
        let n = *self.accepted.borrow();
        self.dead_below.send_replace(n);
    }
}

async fn forward(
    mut from: tcp::OwnedReadHalf,
    mut to: tcp::OwnedWriteHalf,
    number: usize,
    mut dead_below: watch::Receiver<usize>,
) {
    let dead = async { dead_below.wait_for(|below| number < *below).await.is_ok() };
    let mut dead = std::pin::pin!(dead);
    let mut buffer = vec![0; 16 * 1024];
    loop {
        tokio::select! {
            biased;
            _ = &mut dead => std::future::pending().await,
            read = from.read(&mut buffer) => match read {
                Ok(n @ 1..) if to.write_all(&buffer[..n]).await.is_ok() => {}
                _ => return,
            },
        }
    }
}
