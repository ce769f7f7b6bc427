//! Signals of the operating system, in a process of their own: this test program, started again for one test.
#![cfg(unix)]

use std::{
    future::pending,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use informer_manager::{Group, Manager, Second, Signals, runnable};

const ROLE: &str = "INFORMER_MANAGER_SIGNALS";

/// The other process: does nothing unless it is started by a test below.
#[tokio::test]
async fn child() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let manager = Manager::builder()
        .signals(Signals::os(Second::Exit))
        .runnable(
            runnable("worker", move |life| async move {
                println!("\nready");
                if role == "blocked early" {
                    block();
                }
                life.stopping().await;
                println!("\nstopping");
                if role == "blocked" {
                    block();
                }
                if role == "deaf" {
                    pending::<()>().await;
                }
                Ok(())
            })
            .group(Group::Others),
        )
        .build()
        .unwrap();
    manager.run().await.unwrap();
    println!("\nended");
}

/// Blocks the only thread of the runtime for good.
fn block() -> ! {
    loop {
        std::thread::park();
    }
}

struct Process {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Process {
    fn start(role: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "signals::child", "--nocapture"])
            .env(ROLE, role)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn wait_for(&mut self, wanted: &str) {
        let found = self.lines.any(|line| line.unwrap() == wanted);
        assert!(found, "it ended without {wanted:?}");
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let told = Command::new("kill").args([name, &pid]).status().unwrap();
        assert!(told.success());
    }

    fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    fn code(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Already over, unless a test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn t11_the_first_signal_stops_within_the_grace_time() {
    for signal in ["-TERM", "-INT"] {
        let mut process = Process::start("polite");
        process.wait_for("ready");
        process.signal(signal);
        process.wait_for("stopping");
        process.wait_for("ended");
    }
}

#[test]
fn t11_a_second_signal_exits_with_1() {
    let mut process = Process::start("deaf");
    process.wait_for("ready");
    process.signal("-TERM");
    process.wait_for("stopping");
    process.signal("-TERM");
    assert_eq!(process.code(), Some(1));
}

/// The runtime never hears of the second signal, or of any.
#[test]
fn t11_a_second_signal_exits_with_1_whatever_blocks_the_runtime() {
    for role in ["blocked", "blocked early"] {
        let mut process = Process::start(role);
        process.wait_for("ready");
        process.signal("-TERM");
        if role == "blocked" {
            process.wait_for("stopping");
        }
        assert!(!process.has_ended(), "the first one ends nothing");
        // Two that come at once are one.
        while !process.has_ended() {
            process.signal("-TERM");
        }
        assert_eq!(process.code(), Some(1));
    }
}
