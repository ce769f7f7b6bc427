//! Leader election among processes, on a real server: whoever leads writes to a ledger, fenced by its term and the version of what it read.
//! The leader is killed, stopped for longer than its lease and continued, and asked to stop.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use apiserver_tests::{
    ControlPlane, Login,
    process::Leashed,
    wait::{self, Timer, scaled},
};
use serde_json::Value;
use tokio::task::block_in_place;

use crate::support::{LIMIT, namespace, shared};

/// The program that is a replica, and how it is called. Another that keeps the same ledger can be put here.
struct Program {
    path: PathBuf,
    lease: Duration,
    renew: Duration,
    retry: Duration,
}

impl Program {
    fn candidate() -> Self {
        Self {
            path: env!("CARGO_BIN_EXE_candidate").into(),
            lease: Duration::from_secs(9),
            renew: Duration::from_secs(7),
            retry: Duration::from_millis(500),
        }
    }

    fn arguments(&self, kubeconfig: &str, namespace: &str, identity: &str) -> Vec<String> {
        let millis = |time: Duration| time.as_millis().to_string();
        let times = [self.lease, self.renew, self.retry].map(millis);
        let names = [kubeconfig, namespace, identity].map(str::to_owned);
        names.into_iter().chain(times).collect()
    }
}

/// A line of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Write {
    count: u64,
    transitions: u32,
    version: u64,
    who: String,
}

struct Replicas {
    plane: &'static ControlPlane,
    program: Program,
    namespace: String,
    /// Written once: a file that is written anew is empty for a moment.
    kubeconfig: PathBuf,
    folder: tempfile::TempDir,
    running: BTreeMap<String, Leashed>,
}

impl Replicas {
    async fn new(program: Program) -> Self {
        let plane = shared().await;
        Self {
            plane,
            program,
            namespace: namespace(plane, "election"),
            kubeconfig: plane.kubeconfig(Login::Token, None).unwrap(),
            folder: tempfile::tempdir().unwrap(),
            running: BTreeMap::new(),
        }
    }

    fn start(&mut self, identity: &str) {
        let arguments = self
            .program
            .arguments(self.kubeconfig.to_str().unwrap(), &self.namespace, identity);
        let log = self.folder.path().join(identity);
        let replica = Leashed::start(&self.program.path, &arguments, &log, None).unwrap();
        self.running.insert(identity.to_owned(), replica);
    }

    fn object(&self, path: &str) -> Option<Value> {
        let answer = block_in_place(|| self.plane.http().get(path)).unwrap();
        (answer.status == 200).then(|| answer.json().unwrap())
    }

    /// All writes that were accepted, in the order in which they were.
    fn ledger(&self) -> Vec<Write> {
        let path = format!("/api/v1/namespaces/{}/configmaps/ledger", self.namespace);
        let object = self.object(&path).unwrap_or_default();
        let log = object["data"]["log"].as_str().unwrap_or_default();
        let write = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            let (transitions, version) = words[1].split_once('@').unwrap();
            Write {
                count: words[0].parse().unwrap(),
                transitions: transitions.parse().unwrap(),
                version: version.parse().unwrap(),
                who: words[2].to_owned(),
            }
        };
        log.lines().map(write).collect()
    }

    fn lease(&self) -> Value {
        let path = format!(
            "/apis/coordination.k8s.io/v1/namespaces/{}/leases/election",
            self.namespace
        );
        self.object(&path).unwrap_or_default()["spec"].clone()
    }

    /// Waits for a write of somebody else, and says how long that took.
    async fn taken_over(&self, from: Option<&Write>) -> (Write, Duration) {
        let timer = Timer::new(LIMIT);
        let is_new = |last: &Write| {
            from.is_none_or(|from| last.who != from.who && last.transitions > from.transitions)
        };
        let write = wait::until("somebody takes over", LIMIT * 2, async || {
            assert!(
                !timer.is_over(),
                "nobody takes over from {from:?}: {}",
                self.last_words()
            );
            self.ledger().last().filter(|last| is_new(last)).cloned()
        })
        .await;
        (write, timer.elapsed())
    }

    fn last_words(&self) -> String {
        let words =
            |(identity, replica): (&String, &Leashed)| format!("\n{identity}: {}", replica.last_words());
        let words: String = self.running.iter().map(words).collect();
        format!("{}{words}", self.lease())
    }

    /// The longest that a takeover may take: a lease that is seen to be silent, one wait between attempts, and one more write to be made.
    fn after_silence(&self) -> Duration {
        scaled(self.program.lease + self.program.retry.mul_f64(2.2) + Duration::from_secs(1))
    }

    async fn ended(&mut self, identity: &str) -> String {
        let replica = &self.running[identity];
        let timer = Timer::new(LIMIT);
        wait::until("the replica ends", LIMIT * 2, async || {
            assert!(
                !timer.is_over(),
                "{identity} does not end: {}",
                replica.last_words()
            );
            replica.has_ended().then_some(())
        })
        .await;
        let output = replica.output().unwrap();
        self.running.remove(identity);
        output
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn three_replicas_are_led_by_one_through_a_kill_a_pause_and_a_stop() {
    let mut replicas = Replicas::new(Program::candidate()).await;
    for identity in ["a", "b", "c"] {
        replicas.start(identity);
    }
    let (first, _) = replicas.taken_over(None).await;

    // Killed: others wait for its lease to be silent.
    drop(replicas.running.remove(&first.who));
    let (second, took) = replicas.taken_over(Some(&first)).await;
    assert!(took <= replicas.after_silence(), "after a kill: {took:?}");

    // Paused for longer than its lease, and continued: what it goes on to write in its old term is not accepted.
    replicas.start("d");
    replicas.running[&second.who].signal("STOP").unwrap();
    let (third, took) = replicas.taken_over(Some(&second)).await;
    assert!(took <= replicas.after_silence(), "after a pause: {took:?}");
    replicas.running[&second.who].signal("CONT").unwrap();
    let output = replicas.ended(&second.who).await;
    assert!(output.contains("lost: "), "{output}");
    assert!(
        output.contains("fenced off: "),
        "it was stubborn and the fence held it: {output}"
    );

    // Asked to stop: it gives the lease back, and nobody waits for it to lapse.
    replicas.start("e");
    let leader = replicas.ledger().pop().expect("somebody has written").who;
    assert_eq!(leader, third.who, "nothing happened to it");
    replicas.running[&leader].signal("TERM").unwrap();
    let (fourth, took) = replicas.taken_over(Some(&third)).await;
    let bound = scaled(replicas.program.retry.mul_f64(2.2) + Duration::from_secs(1));
    assert!(took <= bound, "after a stop: {took:?}");
    let output = replicas.ended(&leader).await;
    assert!(output.contains("stopped, released: true"), "{output}");

    assert_history(&replicas.ledger(), &[first, second, third, fourth.clone()]);
    let lease = replicas.lease();
    assert_eq!(lease["holderIdentity"], fourth.who.as_str());
    assert_eq!(lease["leaseTransitions"], fourth.transitions);
}

/// After the first write of a term there is none of an earlier one; each term is of one replica; no write was lost.
fn assert_history(writes: &[Write], leaders: &[Write]) {
    let counts: Vec<u64> = writes.iter().map(|write| write.count).collect();
    assert_eq!(
        counts,
        (1..=counts.len() as u64).collect::<Vec<_>>(),
        "no write was lost or made twice"
    );
    for pair in writes.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        let terms = (
            (before.transitions, before.version),
            (after.transitions, after.version),
        );
        assert!(
            terms.0 <= terms.1,
            "a write of an old term was accepted: {pair:?}"
        );
        assert_eq!(
            terms.0 == terms.1,
            before.who == after.who,
            "a term is of one replica: {pair:?}"
        );
    }
    let mut seen: Vec<(u32, &str)> = writes
        .iter()
        .map(|write| (write.transitions, &*write.who))
        .collect();
    seen.dedup();
    let expected: Vec<(u32, &str)> = leaders
        .iter()
        .map(|write| (write.transitions, &*write.who))
        .collect();
    assert_eq!(seen, expected, "one leader after the other");
}
