//! The cached client, with wrappers around it.

use informer_client::{
    DryRun, FieldOwner, ListOptions, Namespaced, Outcome, ReadClientExt, WriteClientExt, WriteOptions,
    add_finalizer, create_or_update, remove_finalizer,
};
use informer_core::ObjectKey;
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;

use crate::{
    own_writes::config,
    support::{World, configs, key, secs, sleep},
};

#[tokio::test(start_paused = true)]
async fn wrappers_go_around_the_cached_client_in_any_order() {
    let world = World::new();
    let cached = world.client(world.builder()).read_your_writes();
    let client = Namespaced::new(FieldOwner::new(cached.clone(), "me"), "default");
    let mut made = config("a");
    made.metadata.namespace = None;
    client.create(&made, &WriteOptions::default()).await.unwrap();
    assert!(
        client
            .find::<ConfigMap>(&ObjectKey::cluster("a"))
            .await
            .unwrap()
            .is_some()
    );
    let dry = FieldOwner::new(DryRun::new(Namespaced::new(cached, "default")), "me");
    made.metadata.name = Some("b".to_owned());
    dry.create(&made, &WriteOptions::default()).await.unwrap();
    assert_eq!(
        dry.list::<ConfigMap>(&ListOptions::all()).await.unwrap().names(),
        ["default/a"]
    );
    let error = dry
        .find::<ConfigMap>(&ObjectKey::namespaced("other", "a"))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "namespace \"other\" is not that of the client, \"default\""
    );
}

/// What a reconciler does: each step reads what the one before wrote, though the watch is slow.
#[tokio::test(start_paused = true)]
async fn a_reconciler_sees_its_own_steps() {
    let world = World::new();
    let client = world.client(world.builder()).read_your_writes();
    client.list::<ConfigMap>(&ListOptions::all()).await.unwrap();
    let gate = world.gate.clone();
    // Lets go of the watch now and then.
    let slow = async move {
        loop {
            gate.hold("/");
            sleep(secs(3)).await;
            gate.release();
            sleep(secs(1)).await;
        }
    };
    let options = WriteOptions::default();
    let steps = async {
        for round in 0..5 {
            let value = format!("{round}");
            let set = |config: &mut ConfigMap| {
                config.data = Some([("round".to_owned(), value.clone())].into());
                Ok(())
            };
            let (outcome, _) = create_or_update(&client, config("a"), set, &options)
                .await
                .unwrap();
            assert_eq!(
                outcome,
                if round == 0 {
                    Outcome::Created
                } else {
                    Outcome::Updated
                }
            );
            let (outcome, _) = create_or_update(&client, config("a"), set, &options)
                .await
                .unwrap();
            assert_eq!(outcome, Outcome::Unchanged);
            assert!(
                add_finalizer(&client, &configs(), &key("a"), "example.org/f")
                    .await
                    .unwrap()
            );
            assert!(
                !add_finalizer(&client, &configs(), &key("a"), "example.org/f")
                    .await
                    .unwrap()
            );
            assert!(
                remove_finalizer(&client, &configs(), &key("a"), "example.org/f")
                    .await
                    .unwrap()
            );
        }
    };
    tokio::select! {
        () = slow => {}
        () = steps => {}
    }
    let found = world
        .api
        .with(|api| api.get(&configs(), Some("default"), "a"))
        .unwrap();
    assert_eq!(found["data"], json!({"round": "4"}));
}
