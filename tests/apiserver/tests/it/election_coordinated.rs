//! Coordinated election on a real server, which elects by versions among the candidates that stand.

use std::time::Duration;

use apiserver_tests::wait::{self, scaled};
use informer_leaderelection::{
    Candidacy, CandidacyOptions, Elector, End, Leadership, LeaseLock, Loss, Options,
};
use tokio::task::JoinSet;

use crate::support::{LIMIT, TestClient, admin, namespace, own};

const LEASE: &str = "coordinated";

struct Stands {
    leadership: Leadership,
    tasks: JoinSet<Option<End>>,
}

fn stand(client: &TestClient, namespace: &str, name: &str, version: &str) -> Stands {
    let mut options = Options::new(name);
    options.coordinated = true;
    options.lease_duration = Duration::from_secs(6);
    options.renew_deadline = Duration::from_secs(4);
    options.retry_period = Duration::from_millis(500);
    let elector = Elector::new(LeaseLock::new(client, namespace, LEASE), options).unwrap();
    let leadership = elector.leadership();
    let candidacy = CandidacyOptions {
        name: name.into(),
        lease: LEASE.into(),
        binary_version: "1.37.2".into(),
        emulation_version: version.into(),
        strategy: "OldestEmulationVersion".into(),
    };
    let candidacy = Candidacy::new(client, namespace, candidacy);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        candidacy.run().await;
        None
    });
    tasks.spawn(async move { Some(elector.run(std::future::pending()).await) });
    Stands { leadership, tasks }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_elects_the_oldest_version_and_ends_the_term_of_a_later_one() {
    let plane = own(&[
        "--feature-gates=CoordinatedLeaderElection=true",
        "--runtime-config=coordination.k8s.io/v1beta1=true",
    ])
    .await;
    let client = admin(&plane);
    let namespace = namespace(&plane, "coordinated");
    let mut later = stand(&client, &namespace, "later", "1.37.0");
    let leads = |stands: &Stands| {
        let leadership = stands.leadership.clone();
        async move { wait::until("it leads", LIMIT, async || leadership.is_leader().then_some(())).await }
    };
    leads(&later).await;

    let older = stand(&client, &namespace, "older", "1.36.0");
    let end = tokio::time::timeout(scaled(Duration::from_secs(60)), later.tasks.join_next()).await;
    let end = end.expect("its term is ended").expect("it ran").unwrap();
    assert_eq!(end, Some(End::Lost(Loss::EndOfTerm)));
    leads(&older).await;
    assert!(!later.leadership.is_leader());
    assert_eq!(older.leadership.leader().as_deref(), Some("older"));
}
