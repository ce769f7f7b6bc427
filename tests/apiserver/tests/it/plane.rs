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

/// The arguments of a running server, sorted.
fn arguments_of(pid: u32) -> Vec<String> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    let words = line
        .split(|byte| *byte == 0)
        .map(|word| String::from_utf8_lossy(word).into_owned());
    let mut arguments: Vec<String> = words.skip(1).filter(|word| word.starts_with("--")).collect();
    arguments.sort();
    arguments
}

/// controller-runtime's envtest boots with these (`pkg/internal/testing/controlplane`), and so does a server of the version that is tested. What
/// is more is for a sandbox without a network, and for users with tokens.
#[test]
fn t63_the_arguments_boot() {
    let plane = ControlPlane::start(Options::default()).unwrap();
    let ready = plane.http().get("/readyz").unwrap();
    assert_eq!(ready.status, 200);
    let all: Vec<Vec<String>> = plane.pids().into_iter().map(arguments_of).collect();
    let of = |name: &str| {
        let prefix = format!("--{name}=");
        let has = |arguments: &&Vec<String>| arguments.iter().any(|it| it.starts_with(&prefix));
        let arguments = all.iter().find(has);
        let arguments = arguments.unwrap_or_else(|| panic!("no {name} in {all:?}"));
        let value = arguments.iter().find_map(|it| it.strip_prefix(&prefix));
        (arguments, value.unwrap().to_owned())
    };
    let (etcd, data) = of("data-dir");
    let (server, etcd_servers) = of("etcd-servers");
    let value = |name: &str| {
        let (whose, value) = of(name);
        assert_eq!(whose, server, "{name}");
        value
    };
    let address = etcd_servers.strip_prefix("http://127.0.0.1:").unwrap();
    assert!(address.parse::<u16>().is_ok() && !data.is_empty());
    for name in ["advertise-client-urls", "listen-client-urls"] {
        assert!(
            etcd.contains(&format!("--{name}={etcd_servers}")),
            "{name} in {etcd:?}"
        );
    }
    assert!(etcd.contains(&"--unsafe-no-fsync=true".to_owned()), "{etcd:?}");
    let port = value("secure-port");
    for (name, wanted) in [
        ("allow-privileged", "true"),
        ("authorization-mode", "RBAC"),
        ("bind-address", "127.0.0.1"),
        ("disable-admission-plugins", "ServiceAccount"),
        ("service-account-issuer", &format!("https://127.0.0.1:{port}/")),
        ("service-cluster-ip-range", "10.0.0.0/24"),
    ] {
        assert_eq!(value(name), wanted, "{name}");
    }
    let folder = value("cert-dir");
    for (name, file) in [
        ("client-ca-file", "client-cert-auth-ca.crt"),
        ("service-account-key-file", "sa-signer.crt"),
        ("service-account-signing-key-file", "sa-signer.key"),
    ] {
        assert_eq!(value(name), format!("{folder}/{file}"), "{name}");
    }
}

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
