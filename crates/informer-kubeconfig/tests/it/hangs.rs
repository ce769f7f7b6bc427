//! Files on a mount that hangs.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use http::{HeaderMap, header::AUTHORIZATION};
use informer_kubeconfig::{Config, Environment, MemoryEnvironment, Overrides};
use informer_transport::{Issue, Roots};

use crate::support::{FILE, certificate, file, home};

/// An environment whose reads hang while it is told so.
#[derive(Clone)]
struct Mount {
    memory: MemoryEnvironment,
    hangs: Arc<(Mutex<bool>, Condvar)>,
    n_hanging: Arc<AtomicUsize>,
}

impl Mount {
    fn new(memory: MemoryEnvironment) -> Self {
        Self {
            memory,
            hangs: Arc::default(),
            n_hanging: Arc::default(),
        }
    }

    fn hang(&self, hangs: bool) {
        *self.hangs.0.lock().unwrap() = hangs;
        self.hangs.1.notify_all();
    }
}

impl Environment for Mount {
    fn var(&self, name: &str) -> Option<OsString> {
        Environment::var(&self.memory, name)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut hangs = self.hangs.0.lock().unwrap();
        if *hangs {
            self.n_hanging.fetch_add(1, Ordering::SeqCst);
            while *hangs {
                hangs = self.hangs.1.wait(hangs).unwrap();
            }
        }
        drop(hangs);
        self.memory.read(path)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        self.memory.current_dir()
    }

    fn now(&self) -> Instant {
        self.memory.now()
    }
}

/// Lets the reads go on however the test ends: the runtime waits for them.
struct Released(Mount);

impl Drop for Released {
    fn drop(&mut self) {
        self.0.hang(false);
    }
}

async fn signed_in(config: &Config) -> (String, Issue) {
    let mut headers = HeaderMap::new();
    let issue = config.authorizer().authorize(&mut headers).await.unwrap();
    (headers[AUTHORIZATION].to_str().unwrap().to_owned(), issue)
}

/// The authority that connections are checked with, as a transport asks for it.
async fn roots(config: &Config) -> Vec<u8> {
    let tls = config.tls();
    if let Some(refresh) = tls.refresh() {
        refresh.await;
    }
    match tls.current().unwrap().roots {
        Roots::Pem(pem) => pem.to_vec(),
        _ => panic!("an authority is configured"),
    }
}

#[tokio::test]
async fn a_read_that_hangs_leaves_the_last_good_value_in_use_and_holds_nobody_up() {
    let ((old, _), (new, _)) = (certificate(), certificate());
    let memory = home()
        .file(
            FILE,
            file("server: 'https://s', certificate-authority: /ca", "tokenFile: /t"),
        )
        .file("/t", "one")
        .file("/ca", old.clone());
    let mount = Mount::new(memory.clone());
    let config = Config::find_in(Arc::new(mount.clone()), &Overrides::default())
        .unwrap()
        .unwrap();
    let _released = Released(mount.clone());
    memory.write("/t", "two");
    memory.write("/ca", new.clone());
    memory.advance(Duration::from_secs(60));
    mount.hang(true);

    // Whatever else runs here goes on meanwhile: the runtime has this one thread.
    let first = async { (signed_in(&config).await, roots(&config).await) };
    tokio::pin!(first);
    let mut n_turns = 0_u64;
    let ((token, issue), trusted) = loop {
        tokio::select! {
            biased;
            first = &mut first => break first,
            () = tokio::task::yield_now() => n_turns += 1,
        }
    };
    assert!(n_turns > 100, "{n_turns}");
    assert_eq!((&*token, &trusted), ("Bearer one", &old.clone().into_bytes()));
    assert_eq!(
        mount.n_hanging.load(Ordering::SeqCst),
        2,
        "the token and the authority"
    );

    // Others do not wait for it, and begin no read of their own.
    for _ in 0..100 {
        assert_eq!(signed_in(&config).await.0, "Bearer one");
        assert_eq!(roots(&config).await, old.clone().into_bytes());
    }
    assert_eq!(mount.n_hanging.load(Ordering::SeqCst), 2);

    // One that was refused is worth a wait, and then what there is.
    config.authorizer().rejected(issue);
    assert_eq!(signed_in(&config).await.0, "Bearer one");
    assert_eq!(mount.n_hanging.load(Ordering::SeqCst), 2);

    mount.hang(false);
    while signed_in(&config).await.0 != "Bearer two" || roots(&config).await != new.clone().into_bytes() {
        tokio::task::yield_now().await;
    }
}
