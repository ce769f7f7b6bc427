//! What other leader election crates of Rust get wrong, each as a case of its own. `kube-leader-election` acquires without a resource version and
//! compares the holder's clock with its own, as `kubert` does; `kube-coordinate` is a port of client-go, with its renew deadline.
//!
//! | | case | also told by |
//! |---|---|---|
//! | a | two see one expired lease | `acquire_beaten.txt` |
//! | b | the holder's clock is behind | `acquire_wall_clocks_do_not_count.txt` |
//! | c | renewals time out | LE-02 |
//! | d | a stop gives back | `stop_releases.txt` |
//! | e | the server is away for twice the lease | `safety.rs` |

use std::time::Duration;

use informer_core::{Clock as _, ResourceVersion, TokioClock};
use informer_leaderelection::{Action, End, Failure, Input, Loss, Machine, MicroTime, Observed, Record};

use crate::{
    rig::{Line, World, options, rest, secs, spawn},
    script::epoch,
};

#[test]
fn kube_6_2_a_of_two_that_see_one_expired_lease_exactly_one_wins() {
    let now = epoch();
    let seen = Observed {
        record: Record {
            holder: "gone".into(),
            duration_seconds: 15,
            transitions: 4,
            ..Record::default()
        },
        version: ResourceVersion::new("7"),
    };
    // Both read it, wait until it has lapsed, read it again and write.
    let tries = |identity: &str| {
        let mut machine = Machine::new(options(identity), 7, now).unwrap();
        let mut time = now;
        loop {
            machine.handle_timeout(time);
            while let Some(action) = machine.poll_action() {
                match action {
                    Action::Read => machine.handle_input(time, Input::Read(Some(seen.clone()))),
                    Action::Update { record, at } => return (machine, time, record, at),
                    Action::Create(_) => panic!("there is one"),
                    _ => {}
                }
            }
            time += Duration::from_millis(100);
            assert!(time < now + secs(60), "{identity} never tries");
        }
    };
    let (mut a, at, record, of_a) = tries("a");
    let (mut b, _, _, of_b) = tries("b");
    assert!(at >= now + secs(15), "not before it has lapsed: {:?}", at - now);
    // The version of what was read goes along, so the server can tell.
    assert_eq!((&of_a, &of_b), (&seen.version, &seen.version));
    let version = ResourceVersion::new("8");
    a.handle_input(at, Input::Written(Observed { record, version }));
    b.handle_input(at, Input::Failed(Failure::Conflict));
    let leads = |machine: &mut Machine| {
        let actions: Vec<Action> = std::iter::from_fn(|| machine.poll_action()).collect();
        let started = actions
            .iter()
            .any(|action| matches!(action, Action::StartedLeading(_)));
        assert_eq!(machine.term(at).is_some(), started);
        started
    };
    assert!(leads(&mut a));
    assert!(!leads(&mut b));
}

#[tokio::test(start_paused = true)]
async fn kube_6_2_b_a_holder_whose_clock_is_an_hour_behind_keeps_its_lease() {
    let world = World::new();
    let start = TokioClock.now();
    let (elector, _line) = world.elector(options("a"));
    let elector = elector.wall_clock(move || {
        let since = i64::try_from((TokioClock.now() - start).as_micros()).unwrap();
        MicroTime::from_micros(1_764_000_000_000_000 - 3_600_000_000 + since)
    });
    let leadership = elector.leadership();
    let _runs = spawn(elector.run(std::future::pending()));
    let term = leadership.elected().await;
    let b = world.run(options("b"));
    rest(secs(7_200)).await;
    assert_eq!(leadership.term(), term, "it leads without a break");
    assert!(world.reigns("b").is_empty() && !b.leadership.is_leader());
}

#[tokio::test(start_paused = true)]
async fn kube_6_2_c_a_holder_whose_renewals_time_out_says_so_before_its_lease_ends() {
    let world = World::new();
    let a = world.run(options("a"));
    a.leadership.elected().await.unwrap();
    let b = world.run(options("b"));
    rest(secs(5)).await;
    a.line(Line::Hole);
    a.leadership.lost().await;
    // Its last renewal was at four seconds: at the renew deadline, five seconds before the lease ends.
    assert_eq!(world.now(), secs(14));
    b.leadership.elected().await.unwrap();
    assert!(world.now() >= secs(19), "{:?}", world.now());
    assert_eq!(a.end().await, End::Lost(Loss::RenewDeadline));
}

/// Given back by a stop. A run that is dropped cannot: nobody would be there to wait for the answer, and its lease lapses.
#[tokio::test(start_paused = true)]
async fn kube_6_2_d_a_stop_gives_the_lease_back_and_another_takes_it_within_one_wait() {
    let world = World::new();
    let mut a = world.run(options("a"));
    a.leadership.elected().await.unwrap();
    let b = world.run(options("b"));
    rest(secs(21)).await;
    a.stop();
    assert_eq!(a.end().await, End::Stopped { released: true });
    assert_eq!(world.spec().holder_identity.as_deref(), Some(""));
    b.leadership.elected().await.unwrap();
    // Two seconds, and up to 1.2 times as much at random.
    let waited = world.now() - secs(21);
    assert!(waited <= Duration::from_millis(4_400), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn kube_6_2_e_at_most_one_leads_while_the_server_is_away_for_twice_the_lease() {
    let world = World::new();
    let a = world.run(options("a"));
    a.leadership.elected().await.unwrap();
    let (b, c) = (world.run(options("b")), world.run(options("c")));
    let n_leaders = || {
        let all = [&a, &b, &c];
        all.iter().filter(|one| one.leadership.is_leader()).count()
    };
    let watch = async |time: Duration| {
        let end = world.now() + time;
        while world.now() < end {
            assert!(n_leaders() <= 1, "at {:?}", world.now());
            rest(Duration::from_millis(50)).await;
        }
    };
    watch(secs(20)).await;
    let lines = |line| [&a, &b, &c].into_iter().for_each(|one| one.line(line));
    lines(Line::Hole);
    watch(secs(30)).await;
    assert_eq!(n_leaders(), 0, "nobody can renew");
    lines(Line::Open);
    watch(secs(30)).await;
    assert_eq!(n_leaders(), 1);
    assert!(!a.leadership.is_leader(), "who has lost does not lead again");
    world.assert_no_overlap(&["a", "b", "c"]);
}
