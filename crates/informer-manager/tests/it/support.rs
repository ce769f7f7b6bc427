//! Runnables, candidates and requests of tests.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use informer_core::{BoxFuture, Clock, TokioClock};
use informer_manager::{BoxError, Candidate, Group, Life, Runnable, Seat, Stop};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::{mpsc, watch},
};

pub(crate) const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) async fn sleep(time: Duration) {
    TokioClock.sleep_until(TokioClock.now() + time).await;
}

/// Time since this was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch(Instant);

impl Watch {
    pub(crate) fn start() -> Self {
        Self(TokioClock.now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        TokioClock.now() - self.0
    }
}

/// What happened, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn say(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Says when it starts, is to stop, ends and is dropped; is ready when it is told so, and takes its time to end.
pub(crate) struct Probe {
    pub(crate) name: &'static str,
    pub(crate) group: Group,
    pub(crate) log: Log,
    pub(crate) ready: Option<watch::Receiver<bool>>,
    pub(crate) takes: Duration,
    pub(crate) fails: Option<watch::Receiver<bool>>,
}

impl Probe {
    pub(crate) fn new(name: &'static str, group: Group, log: &Log) -> Self {
        Self {
            name,
            group,
            log: log.clone(),
            ready: None,
            takes: Duration::ZERO,
            fails: None,
        }
    }

    pub(crate) fn takes(mut self, time: Duration) -> Self {
        self.takes = time;
        self
    }

    /// Ready when the sender says so.
    pub(crate) fn held(mut self) -> (watch::Sender<bool>, Self) {
        let (tell, ready) = watch::channel(false);
        self.ready = Some(ready);
        (tell, self)
    }

    /// Fails when the sender says so.
    pub(crate) fn failing(mut self) -> (watch::Sender<bool>, Self) {
        let (tell, fails) = watch::channel(false);
        self.fails = Some(fails);
        (tell, self)
    }
}

async fn told(flag: Option<watch::Receiver<bool>>, otherwise: bool) {
    match flag {
        Some(mut flag) => {
            if flag.wait_for(|flag| *flag).await.is_err() {
                std::future::pending().await
            }
        }
        None if otherwise => {}
        None => std::future::pending().await,
    }
}

impl Runnable for Probe {
    fn name(&self) -> Arc<str> {
        self.name.into()
    }

    fn group(&self) -> Group {
        self.group
    }

    fn ready(&self) -> BoxFuture<'static, ()> {
        Box::pin(told(self.ready.clone(), true))
    }

    fn run(self: Box<Self>, life: Life) -> BoxFuture<'static, Result<(), BoxError>> {
        Box::pin(async move {
            self.log.say(format!("+{}", self.name));
            let name = self.name;
            life.name_busy(move || vec![format!("the work of {name}")]);
            let mut dropped = Dropped(Some((self.log.clone(), self.name)));
            tokio::select! {
                biased;
                () = told(self.fails, false) => {
                    dropped.0 = None;
                    self.log.say(format!("!{}", self.name));
                    return Err(format!("{} broke", self.name).into());
                }
                how = life.stopping() => {
                    self.log.say(format!("~{}", self.name));
                    if how == Stop::Finish {
                        sleep(self.takes).await;
                    }
                }
            }
            dropped.0 = None;
            self.log.say(format!("-{}", self.name));
            Ok(())
        })
    }
}

struct Dropped(Option<(Log, &'static str)>);

impl Drop for Dropped {
    fn drop(&mut self) {
        if let Some((log, name)) = self.0.take() {
            log.say(format!("x{name}"));
        }
    }
}

/// What a candidate by hand is told to do.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fate {
    Win,
    Lose,
    Fail,
}

/// A candidate by hand.
pub(crate) struct Puppet {
    log: Log,
    fates: mpsc::UnboundedReceiver<Fate>,
}

impl Puppet {
    pub(crate) fn new(log: &Log) -> (mpsc::UnboundedSender<Fate>, Self) {
        let (tell, fates) = mpsc::unbounded_channel();
        let log = log.clone();
        (tell, Self { log, fates })
    }
}

impl Candidate for Puppet {
    fn name(&self) -> Arc<str> {
        "the lease".into()
    }

    fn campaign(mut self: Box<Self>, seat: Seat) -> BoxFuture<'static, Result<(), BoxError>> {
        Box::pin(async move {
            self.log.say("campaign");
            loop {
                tokio::select! {
                    biased;
                    () = seat.resigned() => {
                        self.log.say("resign");
                        return Ok(());
                    }
                    Some(fate) = self.fates.recv() => match fate {
                        Fate::Win => seat.elected(),
                        Fate::Lose => seat.lost(),
                        Fate::Fail => return Err("no server".into()),
                    },
                }
            }
        })
    }
}

/// Lets everything run that can, without time passing.
pub(crate) async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

/// An answer: status, head and body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// Sends a request and reads the answer to its end.
pub(crate) async fn request(address: SocketAddr, method: &str, target: &str) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("{method} {target} HTTP/1.1\r\nHost: probe\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer {
        status,
        head: head.to_ascii_lowercase(),
        body: body.to_owned(),
    }
}

pub(crate) async fn get(address: SocketAddr, target: &str) -> (u16, String) {
    let answer = request(address, "GET", target).await;
    (answer.status, answer.body)
}
