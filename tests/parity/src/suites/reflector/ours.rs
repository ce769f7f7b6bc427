//! Our side: the reflector over the client over the server, with a sink that keeps what it is given.

use std::{
    collections::BTreeMap,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use informer_client::{Client, Selectors};
use informer_core::{Closed, Delta, DeltaSink, NamespaceName, ObjectKey, Resource, TokioClock};
use informer_reflector::{FirstVersion, Options, Reflector, Start, StatusReader};
use tokio::task::JoinHandle;

use super::server::{Manner, Server, pass};
use crate::{
    sequence::{Op, Step},
    suites::limiter::milliseconds,
    view::View,
};

/// Plays a sequence.
pub(super) fn play(ops: &[String]) -> Vec<Step> {
    paused(async {
        let mut ours = Ours::default();
        let mut view = View::default();
        let mut steps = Vec::with_capacity(ops.len());
        for op in ops {
            let said = ours.play(Op::read(op)).await;
            ours.look(&mut view);
            steps.push(Step {
                said,
                seen: view.changes(),
            });
        }
        ours.end().await;
        steps
    })
}

fn paused<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O needs nothing from the system");
    runtime.block_on(future)
}

#[derive(Default)]
struct Ours {
    server: Server,
    sink: Sink,
    running: Option<(StatusReader, JoinHandle<()>)>,
}

/// Nothing of an object but its identity is looked at; what stands here can fail.
#[derive(Debug, serde::Deserialize)]
struct ConfigMap {
    #[serde(default, rename = "data")]
    _data: BTreeMap<String, String>,
}

impl Ours {
    async fn play(&mut self, op: Op<'_>) -> Vec<String> {
        self.server.prepare(op);
        match op.verb {
            "start" => self.start(op),
            "end" | "cut" => self.server.end(op.verb),
            "error" => self.server.fail(op.arg()),
            "wait" => pass(milliseconds(op.arg())).await,
            _ => self.server.change(op),
        }
        self.server.settle().await;
        self.server.lines()
    }

    #[expect(clippy::disallowed_methods, reason = "`end` ends the task")]
    fn start(&mut self, op: Op<'_>) {
        if self.running.is_some() {
            return;
        }
        let has = |flag: &str| op.args().any(|it| it == flag);
        let value = |name: &str| {
            op.args()
                .find_map(|arg| arg.strip_prefix(name)?.strip_prefix('='))
        };
        self.server.set(Manner {
            refuses_streams: has("nostream"),
            has_cache: has("cache"),
            precise: has("precise"),
            spread: has("spread"),
        });
        let mut options = Options::named("reflector");
        options.start = if has("stream") {
            Start::StreamingList
        } else {
            Start::List
        };
        if !has("fresh") {
            options.first_version = FirstVersion::Any;
        }
        options.page_size = value("page").map(|size| size.parse().expect("a number"));
        if let Some(window) = value("internal") {
            options.max_internal_error_retry = milliseconds(window);
        }
        if has("precise") {
            options.backoff.jitter = 0.0;
        }
        options.seed = Some(1);
        let configmaps = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
        let source = Client::new(self.server.clone())
            .objects::<ConfigMap>(configmaps)
            .source(Selectors::all());
        let reflector = Reflector::new(source, NamespaceName, self.sink.clone(), TokioClock, options);
        self.running = Some((reflector.status(), tokio::spawn(reflector.run())));
    }

    async fn end(&mut self) {
        if let Some((_, running)) = self.running.take() {
            running.abort();
            // It was told to end.
            let _ = running.await;
        }
    }

    fn look(&self, view: &mut View) {
        let Some((status, _)) = &self.running else {
            return;
        };
        view.put("version", status.get().version);
        let held = self.sink.lock();
        if held.synced {
            view.put("synced", "yes");
        }
        for (key, version) in &held.objects {
            view.put(format!("object {key}"), format!("{key}@{version}"));
        }
    }
}

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Held>>);

#[derive(Default)]
struct Held {
    objects: BTreeMap<String, String>,
    synced: bool,
}

impl Sink {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Send> DeltaSink<ObjectKey, K> for Sink {
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        Poll::Ready(Ok(()))
    }

    fn push(&mut self, delta: Delta<ObjectKey, K>) {
        let mut held = self.lock();
        match delta {
            Delta::Upsert(entry, _) => {
                held.objects
                    .insert(entry.key.to_string(), entry.stamp.version.to_string());
            }
            Delta::Delete { key, .. } => drop(held.objects.remove(&key.to_string())),
            Delta::Replace { items, .. } => {
                held.synced = true;
                held.objects = items
                    .into_iter()
                    .map(|entry| (entry.key.to_string(), entry.stamp.version.to_string()))
                    .collect();
            }
            Delta::Unreadable { .. } | Delta::Resync | Delta::Bookmark { .. } => {}
        }
    }
}
