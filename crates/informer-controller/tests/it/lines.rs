//! What the log says of a reconcile, whatever the filter.

use std::{
    convert::Infallible,
    io,
    sync::{Arc, Mutex},
};

use informer_controller::{Action, Attempt, Builder, Controller, Kind, channel};
use informer_core::{ObjectKey, Resource};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::{EnvFilter, fmt::MakeWriter};

use crate::support::{Feed, Log, Oops, settle};

/// A log in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl io::Write for Memory {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Memory {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Memory {
    /// The lines that this holds of.
    fn lines(&self, what: &str) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let lines = text.lines().filter(|line| line.contains(what));
        lines.map(str::to_owned).collect()
    }

    /// What this thread, which runs all tasks, says from now on and the filter lets pass.
    fn listen(&self, filter: &str) -> DefaultGuard {
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new(filter))
            .with_ansi(false)
            .with_writer(self.clone())
            .finish();
        tracing::subscriber::set_default(subscriber)
    }
}

/// The value of a field in a line.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let value = line.split_once(&format!("{name}="))?.1;
    value.split([' ', '}']).next()
}

#[tokio::test(start_paused = true)]
async fn a_failed_reconcile_is_named_in_its_line_whatever_the_filter() {
    for filter in [
        "error",
        "info",
        "debug",
        "informer_controller=error",
        "off,informer_controller=info",
    ] {
        let memory = Memory::default();
        let ids = Log::new();
        let (feed, informer) = Feed::informer();
        let kind = Resource::namespaced("apps", "v1", "deployments", "Deployment");
        let _listening = memory.listen(filter);
        let controller = Builder::new()
            .for_(Kind::of(informer.clone()).resource(&kind))
            .reconcile({
                let ids = ids.clone();
                move |_: ObjectKey, attempt: Attempt| {
                    ids.push(attempt.reconcile_id.to_string());
                    async { Err::<Action, _>(Oops(7)) }
                }
            })
            .build()
            .unwrap();
        let _informing = informer.spawn().unwrap();
        feed.list(&["ns/web"]);
        let running = controller.spawn().unwrap();
        ids.wait_for(2).await;
        running.stop().await.unwrap();
        let lines = memory.lines("Reconcile failed");
        assert!(lines.len() >= 2, "{filter}: {lines:?}");
        for (n, (line, id)) in lines.iter().zip(ids.all()).enumerate() {
            assert_eq!(field(line, "controller"), Some("\"deployment\""), "{line}");
            assert_eq!(field(line, "controllerGroup"), Some("\"apps\""), "{line}");
            assert_eq!(field(line, "controllerKind"), Some("\"Deployment\""), "{line}");
            assert_eq!(field(line, "namespace"), Some("\"ns\""), "{line}");
            assert!(line.contains(" name=\"web\""), "{line}");
            assert_eq!(field(line, "reconcileID"), Some(&*id), "{line}");
            assert_eq!(field(line, "attempt"), Some(&*(n + 1).to_string()), "{line}");
            assert!(line.contains("oops 7") && line.contains("ERROR"), "{line}");
        }
    }
}

/// A request that is no key of an object is shown as it is; the reconciler's own lines have the fields, too.
#[tokio::test(start_paused = true)]
async fn the_lines_of_the_reconciler_are_named_too() {
    let memory = Memory::default();
    let (requests, source) = channel("test");
    let controller = Controller::builder("porter")
        .source(source)
        .seed(7)
        .reconcile(|door: &'static str, _| async move {
            tracing::info!("somebody is at the {door} door");
            Ok::<_, Infallible>(Action::Done)
        })
        .build()
        .unwrap();
    requests.send("front").await.unwrap();
    let _listening = memory.listen("info");
    let running = controller.spawn().unwrap();
    settle().await;
    running.stop().await.unwrap();
    let lines = memory.lines("somebody is at the front door");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(field(&lines[0], "request"), Some("\"front\""));
    assert_eq!(field(&lines[0], "controllerKind"), None);
    assert!(field(&lines[0], "reconcileID").is_some_and(|id| id.len() == 36));
}
