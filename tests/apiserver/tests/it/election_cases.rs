//! Bug cases of leader election that ask for a real server.

use std::{net::SocketAddr, time::Duration};

use apiserver_tests::{ControlPlane, Login, Relay, wait};
use informer_hyper::HttpVersion;
use informer_leaderelection::{Elector, End, Leadership, Lease, LeaseLock, Loss, Options};
use serde_json::{Value, json};
use tokio::{
    sync::oneshot,
    task::{JoinSet, block_in_place},
};

use crate::support::{LIMIT, connect, namespace, shared};

const LEASE: &str = "election";

struct Candidate {
    leadership: Leadership,
    stop: oneshot::Sender<()>,
    run: JoinSet<End>,
}

impl Candidate {
    fn start(plane: &ControlPlane, namespace: &str, identity: &str, through: Option<SocketAddr>) -> Self {
        let mut options = Options::new(identity);
        options.lease_duration = Duration::from_secs(6);
        options.renew_deadline = Duration::from_secs(4);
        options.retry_period = Duration::from_millis(500);
        options.release_on_cancel = true;
        let client = connect(plane, Login::Token, HttpVersion::Http2, through);
        let elector = Elector::new(LeaseLock::new(&client, namespace, LEASE), options).unwrap();
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

    async fn end(mut self) -> End {
        let _ended = self.stop.send(());
        self.run.join_next().await.expect("it ran").unwrap()
    }
}

fn path(namespace: &str) -> String {
    format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases")
}

fn send(plane: &ControlPlane, method: &str, path: &str, body: Option<&Value>) -> Value {
    let answer = block_in_place(|| plane.http().send(method, path, body)).unwrap();
    answer.json().unwrap()
}

/// TR-03 below the election: the leader's requests go nowhere, those of the other do not notice.
#[tokio::test(flavor = "multi_thread")]
async fn le_02_on_a_real_server_a_leader_that_is_cut_off_stops_before_another_leads() {
    let plane = shared().await;
    let namespace = namespace(plane, "le-02");
    let relay = Relay::start(plane.address()).await.unwrap();
    let mut a = Candidate::start(plane, &namespace, "a", Some(relay.address()));
    a.leadership.elected().await.unwrap();
    let b = Candidate::start(plane, &namespace, "b", None);
    relay.hold_after(0);
    // Whoever asks both at any instant gets one yes at most.
    wait::until("another leads", LIMIT, async || {
        let (first, second) = (a.leadership.is_leader(), b.leadership.is_leader());
        assert!(!(first && second), "two leaders");
        second.then_some(())
    })
    .await;
    assert_eq!(
        a.run.join_next().await.expect("it ran").unwrap(),
        End::Lost(Loss::RenewDeadline)
    );
    relay.release();
    let term = b.leadership.term().expect("it leads");
    assert_eq!(term.transitions, 1);
    assert_eq!(b.end().await, End::Stopped { released: true });
}

#[tokio::test(flavor = "multi_thread")]
async fn le_04_on_a_real_server_odd_leases_are_dealt_with() {
    let plane = shared().await;
    // A lease that says nothing is free.
    let quiet = namespace(plane, "le-04");
    let lease = json!({"metadata": {"name": LEASE, "labels": {"team": "x"}}});
    send(plane, "POST", &path(&quiet), Some(&lease));
    let a = Candidate::start(plane, &quiet, "a", None);
    let term = a.leadership.elected().await.unwrap();
    assert_eq!(term.transitions, 1);
    let one = format!("{}/{LEASE}", path(&quiet));
    let held: Value = send(plane, "GET", &one, None);
    assert_eq!(held["metadata"]["labels"], json!({"team": "x"}));
    assert_eq!(held["spec"]["holderIdentity"], "a");
    assert_eq!(held["apiVersion"], Lease::resource().api_version());

    // Deleted under its leader: created again, in the same term.
    send(plane, "DELETE", &one, None);
    wait::until("it is created again", LIMIT, async || {
        let answer = block_in_place(|| plane.http().get(&one)).unwrap();
        (answer.status == 200).then_some(())
    })
    .await;
    assert_eq!(a.leadership.term(), Some(term));
    assert_eq!(a.end().await, End::Stopped { released: true });
    let left: Value = send(plane, "GET", &one, None);
    assert_eq!(left["spec"]["holderIdentity"], "");
    assert_eq!(left["spec"]["leaseDurationSeconds"], 1);

    // Two create at once: one wins.
    let empty = namespace(plane, "le-04");
    let (b, c) = (
        Candidate::start(plane, &empty, "b", None),
        Candidate::start(plane, &empty, "c", None),
    );
    let winner = wait::until("one leads and both know who", LIMIT, async || {
        let seen = (b.leadership.leader(), c.leadership.leader());
        seen.0.clone().filter(|_| seen.0 == seen.1)
    })
    .await;
    assert_ne!(b.leadership.is_leader(), c.leadership.is_leader());
    assert_eq!(b.leadership.is_leader(), &*winner == "b");
    b.end().await;
    c.end().await;
}
