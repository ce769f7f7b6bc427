//! What a program can see of its election: health, numbers, events; and the machine by itself.
//!
//! ```text
//! cargo run -p informer-leaderelection --example observed_election
//! ```
#![expect(clippy::print_stdout, reason = "an example tells what it does")]

use std::{error::Error, sync::Arc, time::Duration};

use informer_core::{Clock as _, ResourceVersion, TokioClock};
use informer_leaderelection::{
    Action, Elector, HealthAdaptor, Input, Machine, MemoryLock, Metrics, Observed, Options,
};

struct Print;

impl Metrics for Print {
    fn leading(&self, name: &str, leading: bool) {
        println!(
            "leader_election_master_status{{name={name:?}}} {}",
            u8::from(leading)
        );
    }

    fn slow_path(&self, name: &str) {
        println!("leader_election_slowpath_total{{name={name:?}}} +1");
    }
}

/// The rules without anything around them: what it does, and when it wants to be called again.
fn by_hand() -> Result<(), Box<dyn Error>> {
    let now = TokioClock.now();
    let mut machine = Machine::new(Options::new("by-hand"), 7, now)?;
    let mut version = 0;
    for minute in 0..2 {
        let now = now + Duration::from_secs(60 * minute);
        machine.handle_timeout(now);
        while let Some(action) = machine.poll_action() {
            println!("  {action:?}");
            let answer = match action {
                Action::Read => Input::Read(None),
                Action::Create(record) => {
                    version += 1;
                    let version = ResourceVersion::new(version.to_string());
                    Input::Written(Observed { record, version })
                }
                _ => continue,
            };
            machine.handle_input(now, answer);
        }
    }
    // The minute in which nobody called it was longer than its lease.
    assert!(machine.has_ended());
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut options = Options::new("me");
    options.name = "demo".into();
    options.release_on_cancel = true;
    let elector = Elector::new(MemoryLock::new(), options)?
        .metrics(Arc::new(Print))
        .on_event(|event| println!("{event}"));
    let health = HealthAdaptor::new(Duration::from_secs(20));
    health.set(elector.leadership());
    let end = elector
        .run_with(std::future::pending(), |leadership| async move {
            println!(
                "{}: {:?}",
                HealthAdaptor::NAME,
                leadership.check(Duration::from_secs(20))
            );
        })
        .await;
    println!("{end:?}, healthy: {}", health.check().is_ok());
    println!("by hand:");
    by_hand()
}
