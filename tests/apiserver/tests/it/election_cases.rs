//! Bug cases of leader election that ask for a real server.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use apiserver_tests::{ControlPlane, Login, Relay, wait};
use informer_client::{
    Error, Intercepted, Interceptor, Kinds, LiveClient, Patch, ReadClientExt as _, Write, WriteClient,
    WriteClientExt as _, WriteVerb, Written, resource_of,
};
use informer_core::{BoxFuture, ObjectKey};
use informer_hyper::HttpVersion;
use informer_leaderelection::{Elector, End, Fence, Leadership, Lease, LeaseLock, Loss, Options};
use informer_testkit::ManualClock;
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};
use tokio::{
    sync::{Semaphore, oneshot},
    task::{JoinSet, block_in_place},
};

use crate::support::{LIMIT, admin, connect, namespace, shared};

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

/// The annotation by which what the candidates write is fenced.
const TERM: &str = "example.com/term";

/// Holds writes that have passed the fence.
#[derive(Debug, Clone)]
struct Held(Arc<Semaphore>);

impl Interceptor for Held {
    fn write<'a>(&'a self, write: Write, next: &'a dyn WriteClient) -> BoxFuture<'a, Result<Written, Error>> {
        Box::pin(async move {
            let _open = self.0.acquire().await.unwrap();
            next.write(write).await
        })
    }
}

fn page(namespace: &str) -> ConfigMap {
    let mut page = ConfigMap::default();
    page.metadata.namespace = Some(namespace.to_owned());
    page.metadata.name = Some("page".to_owned());
    page
}

/// Writes of an old term that had passed the fence, and reach the server after a takeover: whatever they are, they are conflicts. That the new
/// leader finds everything as it should be makes no difference, since it claims what it finds.
#[tokio::test(flavor = "multi_thread")]
async fn on_a_real_server_writes_that_were_under_way_at_a_takeover_are_refused() {
    let plane = shared().await;
    let namespace = namespace(plane, "fence");
    let a = Candidate::start(plane, &namespace, "a", None);
    a.leadership.elected().await.unwrap();
    let live = LiveClient::of(&admin(plane), Kinds::kubernetes());
    let fence = Fence::new(a.leadership.clone(), TERM);
    let old = fence
        .around(live.clone())
        .create(&page(&namespace), &Default::default())
        .await
        .unwrap();
    let key = ObjectKey::namespaced(&namespace, "page");
    let gate = Arc::new(Semaphore::new(0));
    let held = Arc::new(fence.around(Intercepted::new(live.clone(), Held(gate.clone()))));
    let body = serde_json::to_value(&old).unwrap();
    let kind = resource_of::<ConfigMap>();
    let verbs = [
        WriteVerb::Update(body.clone()),
        WriteVerb::Patch(Patch::Merge(body.clone())),
        WriteVerb::Patch(Patch::Strategic(body)),
        WriteVerb::Delete(fence.only_this(&old).unwrap()),
    ];
    let mut under_way = JoinSet::new();
    for verb in verbs {
        let (held, write) = (
            held.clone(),
            Write::to(kind.clone(), &key, verb, Default::default()),
        );
        under_way.spawn(async move { held.write(write).await });
    }

    let b = Candidate::start(plane, &namespace, "b", None);
    assert_eq!(a.end().await, End::Stopped { released: true });
    let term = b.leadership.elected().await.unwrap().to_string();
    let next = Fence::new(b.leadership.clone(), TERM);
    let mut found = ConfigMap::clone(&*live.get::<ConfigMap>(&key).await.unwrap());
    assert!(next.stamp(&mut found).unwrap());
    let claimed = next
        .around(live.clone())
        .update(&found, &Default::default())
        .await
        .unwrap();

    gate.add_permits(8);
    while let Some(write) = under_way.join_next().await {
        let error = write.unwrap().unwrap_err();
        assert!(error.is_conflict(), "{error}");
    }
    assert_eq!(*live.get::<ConfigMap>(&key).await.unwrap(), claimed);
    assert_eq!(claimed.metadata.annotations.unwrap()[TERM], term);
    b.end().await;
}

/// A leader whose clock stood still, as in a machine that was suspended: it holds itself for the leader and reads again. It sees a later term.
#[tokio::test(flavor = "multi_thread")]
async fn on_a_real_server_a_leader_that_slept_through_a_takeover_is_fenced_off() {
    let plane = shared().await;
    let namespace = namespace(plane, "fence");
    let live = LiveClient::of(&admin(plane), Kinds::kubernetes());
    let mut options = Options::new("asleep").with_lease_duration(Duration::from_secs(3));
    options.release_on_cancel = true;
    let lock = LeaseLock::new(&admin(plane), &namespace, LEASE);
    let elector = Elector::new(lock, options).unwrap().clock(ManualClock::new());
    let asleep = elector.leadership();
    let mut run = JoinSet::new();
    run.spawn(elector.run(std::future::pending()));
    asleep.elected().await.unwrap();
    let fence = Fence::new(asleep.clone(), TERM);
    let fenced = fence.around(live.clone());
    fenced
        .create(&page(&namespace), &Default::default())
        .await
        .unwrap();

    let b = Candidate::start(plane, &namespace, "b", None);
    let term = b.leadership.elected().await.unwrap();
    let key = ObjectKey::namespaced(&namespace, "page");
    let next = Fence::new(b.leadership.clone(), TERM).around(live.clone());
    let mut found = ConfigMap::clone(&*live.get::<ConfigMap>(&key).await.unwrap());
    found.data = Some([("text".to_owned(), "of b".to_owned())].into());
    let written = next.update(&found, &Default::default()).await.unwrap();

    assert!(asleep.is_leader(), "by its clock");
    let fresh = live.get::<ConfigMap>(&key).await.unwrap();
    let errors = [
        fenced.update(&*fresh, &Default::default()).await.unwrap_err(),
        fence.only_this(&*fresh).unwrap_err(),
    ];
    for error in errors {
        let said = format!("fenced off: page says the later term {term}, ");
        assert!(error.to_string().starts_with(&said), "{error}");
    }
    assert_eq!(*live.get::<ConfigMap>(&key).await.unwrap(), written);
    b.end().await;
}
