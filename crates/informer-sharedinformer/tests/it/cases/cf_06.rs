//! CF-06: a relist meets a server that lags behind.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use informer_core::{
    Decoded, FailureClass, Identity, ListRequest, SourceError, Stamp, WatchRequest, Watched,
};
use informer_reflector::{FirstVersion, ListWatch, Start, feed};
use informer_sharedinformer::{HandlerOptions, ReflectorOptions, SharedInformer};
use tokio::sync::Notify;

use crate::support::{Informer, Log, Pod, assert_gapless, key, pass};

/// Two servers of one cluster: the first is up to date and goes away, the second lags and catches up later.
#[derive(Default)]
struct Servers {
    first_is_gone: bool,
    second_is_up_to_date: bool,
    asked: Vec<String>,
}

fn pod(name: &str, version: u64) -> Decoded<Pod> {
    Decoded {
        identity: Identity {
            namespace: Some("ns".into()),
            name: name.into(),
            stamp: Stamp::new(&*version.to_string(), ""),
        },
        object: Pod {
            node: "n".into(),
            version,
        },
    }
}

/// At 60 `gone` was there and `a` was old; at 100 `gone` is deleted; at 120 `b` is new.
fn state(at: u64) -> Vec<Decoded<Pod>> {
    match at {
        60 => vec![pod("a", 50), pod("gone", 40)],
        100 => vec![pod("a", 95)],
        _ => vec![pod("a", 95), pod("b", 118)],
    }
}

fn list(servers: &Mutex<Servers>, request: &ListRequest) -> Result<u64, SourceError> {
    let mut servers = servers.lock().unwrap();
    let version = request.version.as_ref().map(ToString::to_string);
    servers.asked.push(version.clone().unwrap_or_default());
    let at = match (servers.first_is_gone, servers.second_is_up_to_date) {
        (false, _) => 100,
        (true, true) => 120,
        (true, false) => 60,
    };
    match version.as_deref() {
        // Whatever is at hand.
        Some("0") => Ok(at),
        // A quorum read: the lagging server is cut off, too.
        None if at == 60 => Err(SourceError::new(FailureClass::Transient, "etcd is not reachable")),
        Some(version) if version.parse::<u64>().unwrap() > at => Err(SourceError::new(
            FailureClass::VersionTooLarge,
            "too large resource version",
        )),
        _ => Ok(at),
    }
}

fn informer(servers: &Arc<Mutex<Servers>>, lost: &Arc<Notify>) -> Informer {
    let (lists, watches, lost) = (servers.clone(), servers.clone(), lost.clone());
    let source = ListWatch::new(
        move |request: ListRequest| {
            let answer = list(&lists, &request);
            async move { answer.map(|at| feed::list(state(at), &*at.to_string())) }
        },
        move |_: WatchRequest| {
            let (servers, lost) = (watches.clone(), lost.clone());
            async move {
                if !servers.lock().unwrap().first_is_gone {
                    lost.notified().await;
                    return Err(SourceError::new(
                        FailureClass::Expired,
                        "too old resource version",
                    ));
                }
                Ok(feed::from_poll_fn(
                    |_| -> std::task::Poll<Option<Result<Watched<Pod>, SourceError>>> {
                        std::task::Poll::Pending
                    },
                ))
            }
        },
    );
    let mut options = ReflectorOptions::default();
    options.start = Start::List;
    options.first_version = FirstVersion::Any;
    SharedInformer::builder(source)
        .reflector_options(options)
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn cf_06_a_relist_never_goes_back_to_what_a_lagging_server_has() {
    let (servers, lost) = (Arc::new(Mutex::new(Servers::default())), Arc::new(Notify::new()));
    let informer = informer(&servers, &lost);
    let log = Log::default();
    informer
        .add_handler(log.handler(), HandlerOptions::default())
        .unwrap();
    let running = informer.spawn().unwrap();
    informer.synced().await.unwrap();
    assert_eq!(
        servers.lock().unwrap().asked,
        ["0"],
        "the first list may be of any version"
    );
    servers.lock().unwrap().first_is_gone = true;
    lost.notify_one();
    pass(Duration::from_secs(120)).await;
    // It asks for what it has seen, or for the latest, and never for anything else.
    let asked = servers.lock().unwrap().asked.split_off(1);
    assert!(asked.len() > 3, "{asked:?}");
    assert!(
        asked.iter().all(|version| version == "100" || version.is_empty()),
        "{asked:?}"
    );
    assert!(asked.contains(&"100".to_owned()));
    assert_eq!(
        log.lines(),
        [r#"Added "ns/a"@95 initial"#],
        "nothing old was told"
    );
    let error = informer.status().source.error.unwrap();
    assert!(error.contains("etcd is not reachable"), "{error}");
    servers.lock().unwrap().second_is_up_to_date = true;
    pass(Duration::from_secs(120)).await;
    assert_eq!(log.lines()[1..], [r#"Added "ns/b"@118"#]);
    assert_eq!(assert_gapless(&log.changes()).len(), 2);
    assert!(informer.store().get(&key("ns/gone")).is_none());
    assert!(informer.status().source.error.is_none());
    running.stop().await;
}
