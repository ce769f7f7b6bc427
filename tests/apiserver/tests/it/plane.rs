//! The control plane itself: several side by side, and nothing left behind however a process ends.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use apiserver_tests::{ControlPlane, Options, process, wait};

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn several_start_at_once_without_collision() {
    let starts: Vec<_> = (0..2)
        .map(|_| thread::spawn(|| ControlPlane::start(Options::default())))
        .collect();
    let planes: Vec<ControlPlane> = starts
        .into_iter()
        .map(|start| start.join().unwrap().unwrap())
        .collect();

    for (i, plane) in planes.iter().enumerate() {
        let name = format!("only-in-{i}");
        let body = serde_json::json!({"metadata": {"name": name}});
        let path = "/api/v1/namespaces/default/configmaps";
        assert_eq!(plane.http().send("POST", path, Some(&body)).unwrap().status, 201);
        let items = plane.items(path).unwrap();
        let names: Vec<&str> = items
            .iter()
            .filter_map(|item| item["metadata"]["name"].as_str())
            .collect();
        assert_eq!(names, [&*name]);
    }
    let pids: Vec<u32> = planes.iter().flat_map(ControlPlane::pids).collect();
    assert_eq!(pids.len(), 4);
    drop(planes);
    // A handle that is dropped has waited for the end.
    for pid in pids {
        assert!(!process::exists(pid).unwrap(), "server {pid} is left");
    }
}

/// A control plane in a process of its own.
struct Elsewhere {
    child: Child,
    server: String,
    pids: Vec<u32>,
    folder: PathBuf,
}

impl Elsewhere {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_control-plane"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut value = |name: &str| {
            let line = lines.next().expect("it starts").unwrap();
            line.strip_prefix(name).unwrap().to_owned()
        };
        let server = value("server: ");
        let pids = value("processes: ")
            .split(' ')
            .map(|pid| pid.parse().unwrap())
            .collect();
        let kubeconfig = value("kubeconfig: ");
        let folder = Path::new(&kubeconfig).parent().unwrap().to_owned();
        let this = Self {
            child,
            server,
            pids,
            folder,
        };
        assert_eq!(this.pids.len(), 2);
        assert!(
            this.pids.iter().all(|&pid| process::exists(pid).unwrap()),
            "both servers run"
        );
        assert!(TcpStream::connect(&this.server).is_ok(), "the server listens");
        assert!(this.folder.join("etcd").is_dir(), "the files are there");
        this
    }

    fn assert_nothing_is_left(&self) {
        let gone = wait::block("the servers end", LIMIT, || {
            for &pid in &self.pids {
                if process::exists(pid)? {
                    return Ok(None);
                }
            }
            Ok(Some(()))
        });
        gone.unwrap();
        assert!(
            TcpStream::connect(&self.server).is_err(),
            "nobody listens any more"
        );
        let gone = wait::block(
            "the files go",
            LIMIT,
            || Ok((!self.folder.exists()).then_some(())),
        );
        gone.unwrap();
    }
}

#[test]
fn nothing_is_left_when_the_process_is_killed() {
    let mut elsewhere = Elsewhere::start();
    // By signal 9: nothing of it runs any more.
    elsewhere.child.kill().unwrap();
    elsewhere.child.wait().unwrap();
    elsewhere.assert_nothing_is_left();
}

#[test]
fn nothing_is_left_when_the_process_panics() {
    let mut elsewhere = Elsewhere::start();
    elsewhere.child.stdin.take().unwrap().write_all(b"panic").unwrap();
    assert!(!elsewhere.child.wait().unwrap().success());
    elsewhere.assert_nothing_is_left();
}
