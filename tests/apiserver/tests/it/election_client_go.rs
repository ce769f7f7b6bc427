//! Elections between client-go and us, for one lease of the embedded API server: each waits for the other, takes over from it, and reads what it
//! wrote.

use std::{
    io::{BufRead, BufReader},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use apiserver_tests::{assets, wait};
use informer_apiserver::Server;
use informer_client::Client;
use informer_hyper::HyperTransport;
use informer_leaderelection::{Elector, End, Leadership, Lease, LeaseLock, Options};
use serde_json::{Value, json};
use tokio::{sync::oneshot, task::JoinSet};

use crate::support::LIMIT;

/// A program around client-go's elector. Ends with this, since its standard input does.
struct ClientGo {
    child: Child,
    stdin: Option<ChildStdin>,
    told: Arc<Mutex<Vec<Value>>>,
}

impl ClientGo {
    fn start(server: &Server, identity: &str) -> Self {
        let mut child = Command::new(assets::folder().unwrap().join("informer-harness"))
            .args([
                "--server",
                &server.url(),
                "--namespace",
                "default",
                "--elect",
                identity,
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().unwrap());
        let told = Arc::new(Mutex::new(Vec::new()));
        let hears = told.clone();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                hears.lock().unwrap().push(serde_json::from_str(&line).unwrap());
            }
        });
        Self { child, stdin, told }
    }

    async fn tells(&self, event: &Value) {
        wait::until(&format!("client-go tells {event}"), LIMIT, async || {
            self.told.lock().unwrap().contains(event).then_some(())
        })
        .await;
    }

    /// Kills it, or lets it end politely.
    fn end(mut self, politely: bool) {
        if politely {
            drop(self.stdin.take());
        } else {
            self.child.kill().unwrap();
        }
        tokio::task::block_in_place(|| self.child.wait()).unwrap();
    }
}

/// One of ours.
struct Ours {
    leadership: Leadership,
    stop: oneshot::Sender<()>,
    run: JoinSet<End>,
}

impl Ours {
    fn start(server: &Server, identity: &str) -> Self {
        let mut options = Options::new(identity);
        options.lease_duration = Duration::from_secs(3);
        options.renew_deadline = Duration::from_secs(2);
        options.retry_period = Duration::from_millis(200);
        options.release_on_cancel = true;
        let client = Client::new(HyperTransport::builder(server.url()).build().unwrap());
        let elector = Elector::new(LeaseLock::new(&client, "default", "election"), options).unwrap();
        let leadership = elector.leadership();
        let (stop, stopped) = oneshot::channel::<()>();
        let mut run = JoinSet::new();
        run.spawn(elector.run(async move {
            let _dropped = stopped.await;
        }));
        Self {
            leadership,
            stop,
            run,
        }
    }

    async fn sees(&self, leader: &str) {
        wait::until(&format!("{leader} is seen to lead"), LIMIT, async || {
            (self.leadership.leader().as_deref() == Some(leader)).then_some(())
        })
        .await;
    }

    async fn end(mut self) {
        self.stop.send(()).unwrap();
        let end = self.run.join_next().await.expect("it ran").unwrap();
        assert_eq!(end, End::Stopped { released: true });
    }
}

fn transitions(server: &Server) -> Value {
    let lease = server.with(|api| api.get(&Lease::resource(), Some("default"), "election"));
    lease.unwrap()["spec"]["leaseTransitions"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn client_go_and_we_take_turns() {
    let server = Server::start(Default::default()).await.unwrap();
    let ours = Ours::start(&server, "ours-1");
    ours.leadership.elected().await.unwrap();

    // It waits for us, and leads once we gave the lease back.
    let theirs = ClientGo::start(&server, "theirs-1");
    theirs
        .tells(&json!({"event": "leader", "identity": "ours-1"}))
        .await;
    ours.end().await;
    theirs.tells(&json!({"event": "leading"})).await;
    assert_eq!(transitions(&server), 1);

    // We wait for it, and lead once it was killed and its lease was silent.
    let ours = Ours::start(&server, "ours-2");
    ours.sees("theirs-1").await;
    assert!(!ours.leadership.is_leader());
    theirs.end(false);
    assert_eq!(ours.leadership.elected().await.unwrap().transitions, 2);

    // It ends politely, and we lead at once by what it left.
    let theirs = ClientGo::start(&server, "theirs-2");
    theirs
        .tells(&json!({"event": "leader", "identity": "ours-2"}))
        .await;
    ours.end().await;
    theirs.tells(&json!({"event": "leading"})).await;
    theirs.end(true);
    let ours = Ours::start(&server, "ours-3");
    assert_eq!(ours.leadership.elected().await.unwrap().transitions, 4);
    ours.end().await;
    server.shutdown().await;
}
