//! The server: an address, paths, and the limits that bound slow clients.

use std::{
    collections::VecDeque,
    fmt, io,
    net::{SocketAddr, TcpListener},
    sync::Arc,
    time::Duration,
};

use informer_core::{BoxClock, BoxFuture, Clock, TokioClock};
use tokio::{
    select,
    sync::watch,
    task::{AbortHandle, JoinSet},
};

use super::{Endpoint, Reply, Request, connection};
use crate::{BoxError, Group, Life, Runnable, Stop};

/// What bounds clients of a [`Server`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Limits {
    /// How long a client may take to send the head of a request; 32 seconds.
    pub header: Duration,
    /// How long a connection may go without a new request, be it idle or slow to take an answer; 90 seconds.
    pub idle: Duration,
    /// How large the head of a request may be, give or take a read; 64 KiB.
    pub header_bytes: usize,
    /// How many connections there may be; 128. One more, and the oldest is cut: a probe always gets through.
    pub connections: usize,
    /// How long a stop waits for requests that are being answered; a minute.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            header: Duration::from_secs(32),
            idle: Duration::from_secs(90),
            header_bytes: 64 << 10,
            connections: 128,
            drain: Duration::from_secs(60),
        }
    }
}

/// A server of HTTP/1.1, as a [`Runnable`] of the group [`Servers`](Group::Servers). It listens once it is bound and serves when it runs.
pub struct Server {
    name: Arc<str>,
    group: Group,
    listener: TcpListener,
    address: SocketAddr,
    routes: Routes,
    limits: Limits,
    clock: BoxClock,
}

impl Server {
    /// Listens at this address; port 0 picks a free one.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn bind(name: impl Into<Arc<str>>, address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self {
            name: name.into(),
            group: Group::Servers,
            listener,
            address,
            routes: Routes::default(),
            limits: Limits::default(),
            clock: BoxClock::new(TokioClock),
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests for this path and those below it. The longest path that fits wins.
    #[must_use]
    pub fn route(mut self, path: &str, endpoint: impl Endpoint + 'static) -> Self {
        self.routes.add(path, Arc::new(endpoint));
        self
    }

    /// What bounds its clients.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// A clock of your own; tokio's by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = BoxClock::new(clock);
        self
    }

    /// The same in another group: one that the API server calls among the webhooks, one for the leader alone in leader election's.
    #[must_use]
    pub fn group(mut self, group: Group) -> Self {
        self.group = group;
        self
    }

    async fn serve(self, life: Life) -> Result<(), BoxError> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        tracing::info!(address = %self.address, "Serving");
        let served = Arc::new(connection::Served {
            routes: self.routes,
            limits: self.limits,
            clock: self.clock,
        });
        let (drain, draining) = watch::channel(false);
        let mut open = Open::default();
        let how = loop {
            select! {
                biased;
                how = life.stopping() => break how,
                Some(_) = open.tasks.join_next() => {}
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        let task = connection::serve(stream, served.clone(), draining.clone());
                        open.add(task, served.limits.connections);
                    }
                    Err(error) => {
                        // Out of files, as a rule: some will be closed.
                        tracing::warn!(%error, "Cannot accept a connection");
                        let until = served.clock.now() + Duration::from_millis(50);
                        served.clock.sleep_until(until).await;
                    }
                },
            }
        };
        drop(listener);
        if how == Stop::Finish {
            drain.send_replace(true);
            let until = served.clock.now() + served.limits.drain;
            select! {
                biased;
                () = async { while open.tasks.join_next().await.is_some() {} } => {}
                () = served.clock.sleep_until(until) => {}
            }
        }
        open.tasks.shutdown().await;
        Ok(())
    }
}

impl Runnable for Server {
    fn name(&self) -> Arc<str> {
        self.name.clone()
    }

    fn group(&self) -> Group {
        self.group
    }

    fn run(self: Box<Self>, life: Life) -> BoxFuture<'static, Result<(), BoxError>> {
        Box::pin(self.serve(life))
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("name", &self.name)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// The connections that are open, the oldest first.
#[derive(Default)]
struct Open {
    tasks: JoinSet<()>,
    ages: VecDeque<AbortHandle>,
}

impl Open {
    fn add(&mut self, task: impl Future<Output = ()> + Send + 'static, most: usize) {
        self.ages.retain(|task| !task.is_finished());
        while self.ages.len() >= most.max(1)
            && let Some(oldest) = self.ages.pop_front()
        {
            tracing::debug!("Too many connections: the oldest is cut");
            oldest.abort();
        }
        self.ages.push_back(self.tasks.spawn(task));
    }
}

/// Endpoints by path.
#[derive(Default)]
pub(super) struct Routes(Vec<(String, Arc<dyn Endpoint>)>);

impl Routes {
    fn add(&mut self, path: &str, endpoint: Arc<dyn Endpoint>) {
        self.0.push((path.trim_end_matches('/').to_owned(), endpoint));
        self.0.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    }

    pub(super) fn answer(&self, path: &str, query: &str) -> Reply {
        for (own, endpoint) in &self.0 {
            if let Some(rest) = path.strip_prefix(own.as_str())
                && (rest.is_empty() || rest.starts_with('/'))
            {
                return endpoint.answer(&Request { path, rest, query });
            }
        }
        Reply::not_found()
    }
}
