//! Starts a control plane, tells where it is, and stops it when standard input ends.

use std::{
    error::Error,
    io::{self, Write},
};

use apiserver_tests::{ControlPlane, Login, Options};

fn main() -> Result<(), Box<dyn Error>> {
    let plane = ControlPlane::start(Options::default())?;
    let kubeconfig = plane.kubeconfig(Login::Token, None)?;
    let pids: Vec<String> = plane.pids().iter().map(u32::to_string).collect();
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "server: {}", plane.address())?;
    writeln!(stdout, "processes: {}", pids.join(" "))?;
    writeln!(stdout, "kubeconfig: {}", kubeconfig.display())?;
    writeln!(stdout, "It stops when standard input ends.")?;
    stdout.flush()?;
    let line = io::read_to_string(io::stdin())?;
    assert_ne!(line.trim(), "panic", "as asked for");
    Ok(())
}
