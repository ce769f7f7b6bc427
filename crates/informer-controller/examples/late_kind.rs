//! A kind that is not there yet: the controller starts without it, says so, and picks it up. And leadership: it stands by, warm, until it
//! is elected.

use std::{
    convert::Infallible,
    error::Error,
    sync::{Arc, Mutex},
};

use informer_controller::{Action, Builder, ForObject, Kind, Phase, provider_fn};
use informer_core::{Delta, DeltaSink, Entry, ObjectKey, Resource, Stamp};
use informer_sharedinformer::{SharedInformer, Sink};
use tokio::sync::{mpsc, oneshot};

type Informer = SharedInformer<ObjectKey, ()>;

fn informer(kind: &str, name: &'static str) -> Result<Informer, Box<dyn Error>> {
    let source = move |mut sink: Sink<ObjectKey, ()>| async move {
        let items = vec![Entry::new(
            ObjectKey::namespaced("default", name),
            Stamp::new("1", "uid"),
            ().into(),
        )];
        sink.push(Delta::Replace {
            items,
            unreadable: Vec::new(),
            at: "1".into(),
            may_rewind: false,
        });
        std::future::pending::<()>().await;
    };
    Ok(SharedInformer::fed_by(source).name(kind).build()?)
}

// Time is virtual: the ten seconds between two questions pass at once.
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Box<dyn Error>> {
    let deployments = informer("deployments", "web")?;
    let backups = informer("backups", "nightly")?;
    let (one, other) = (deployments.spawn()?, backups.spawn()?);

    // What a cache by kind would be: it has backups once their definition is installed.
    let installed: Arc<Mutex<Option<Informer>>> = Arc::default();
    let cache = installed.clone();
    let kind = Resource::namespaced("example.com", "v1", "backups", "Backup");
    let provider = provider_fn(&kind, move || {
        let informer = cache.lock().ok().and_then(|it| it.clone());
        async move { informer.ok_or("the server does not serve it") }
    });

    let (seen, mut done) = mpsc::unbounded_channel();
    let controller = Builder::new()
        .for_(Kind::of(deployments.clone()).resource(&Resource::namespaced(
            "apps",
            "v1",
            "deployments",
            "Deployment",
        )))
        .watches(Kind::provided(provider).optional(), ForObject)
        .warm_up(true)
        .reconcile(move |key: ObjectKey, _| {
            let _ = seen.send(key);
            async { Ok::<_, Infallible>(Action::Done) }
        })
        .build()?;
    let (elect, elected) = oneshot::channel::<()>();
    let running = controller.spawn_when(async {
        let _ = elected.await;
    })?;
    while controller.status().phase != Phase::Standby {
        tokio::task::yield_now().await;
    }
    say(&format!(
        "{} stands by; {} requests wait",
        controller.name(),
        controller.status().queued
    ));
    let _ = elect.send(());
    say(&format!("it leads, and reconciled {:?}", done.recv().await));
    for source in controller.status().sources {
        say(&format!(
            "  {}: {}",
            source.name,
            source.trouble.as_deref().unwrap_or("well")
        ));
    }
    if let Ok(mut it) = installed.lock() {
        *it = Some(backups.clone());
    }
    say(&format!("the kind is there: {:?}", done.recv().await));

    running.stop().await?;
    one.stop().await;
    other.stop().await;
    Ok(())
}

#[expect(clippy::print_stdout, reason = "this is a program")]
fn say(what: &str) {
    println!("{what}");
}
