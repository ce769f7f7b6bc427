//! Wrappers, alone and one around another.

use std::sync::atomic::{AtomicUsize, Ordering};

use informer_client::{
    DeleteOptions, DryRun, Error, FieldOwner, FieldValidation, Intercepted, Interceptor, ListOptions,
    Namespaced, ReadClientExt, ReadOf, Validation, Write, WriteClient, WriteClientExt, WriteOptions, Written,
};
use informer_core::{BoxFuture, ObjectKey, Resource};
use k8s_openapi::api::core::v1::{ConfigMap, Node};
use serde_json::json;

use crate::access::{config, key, live};

#[tokio::test(start_paused = true)]
async fn t33_a_dry_run_changes_nothing() {
    let (api, client) = live();
    client
        .create(&config("kept", "1"), &WriteOptions::default())
        .await
        .unwrap();
    let dry = DryRun::new(client);
    let before = api.with(|api| api.revision());
    let made = dry
        .create(&config("a", "1"), &WriteOptions::default())
        .await
        .unwrap();
    assert_eq!(made.metadata.name.as_deref(), Some("a"));
    dry.apply(&config("kept", "2"), &WriteOptions::of("me").force())
        .await
        .unwrap();
    dry.delete::<ConfigMap>(&key("kept"), &DeleteOptions::default())
        .await
        .unwrap();
    assert_eq!(api.with(|api| api.revision()), before);
    assert_eq!(
        dry.list::<ConfigMap>(&ListOptions::all()).await.unwrap().names(),
        ["default/kept"]
    );
}

#[tokio::test(start_paused = true)]
async fn t34_another_namespace_than_that_of_the_client_is_refused() {
    let (_, client) = live();
    let ours = Namespaced::new(client.clone(), "default");
    let mut object = config("a", "1");
    object.metadata.namespace = None;
    let made = ours.create(&object, &WriteOptions::default()).await.unwrap();
    assert_eq!(made.metadata.namespace.as_deref(), Some("default"));
    assert!(
        ours.find::<ConfigMap>(&ObjectKey::cluster("a"))
            .await
            .unwrap()
            .is_some()
    );
    assert_eq!(
        ours.list::<ConfigMap>(&ListOptions::all()).await.unwrap().names(),
        ["default/a"]
    );
    object.metadata.namespace = Some("other".to_owned());
    let error = ours.create(&object, &WriteOptions::default()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "namespace \"other\" is not that of the client, \"default\""
    );
    let other = ObjectKey::namespaced("other", "a");
    assert!(ours.find::<ConfigMap>(&other).await.is_err());
    assert!(
        ours.list::<ConfigMap>(&ListOptions::all().in_namespace("other"))
            .await
            .is_err()
    );
    // Cluster-wide kinds pass, as long as they name none.
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}});
    ours.create(&node, &WriteOptions::default()).await.unwrap();
    assert!(
        ours.find::<Node>(&ObjectKey::cluster("n1"))
            .await
            .unwrap()
            .is_some()
    );
    let error = ours
        .find::<Node>(&ObjectKey::namespaced("default", "n1"))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "nodes live in no namespace, but \"default\" is said"
    );
}

#[tokio::test(start_paused = true)]
async fn owners_and_validation_are_set_where_a_write_does_not_say() {
    let (api, client) = live();
    let client = FieldValidation::new(FieldOwner::new(client, "me"), Validation::Strict);
    api.with(|api| api.clear_request_log());
    client
        .create(&config("a", "1"), &WriteOptions::default())
        .await
        .unwrap();
    client
        .apply(&config("a", "1"), &WriteOptions::of("another"))
        .await
        .unwrap();
    let queries: Vec<_> = api.with(|api| {
        let all = api.request_log().iter();
        all.map(|request| {
            let param = |name| request.param(name).map(str::to_owned);
            (param("fieldManager"), param("fieldValidation"))
        })
        .collect()
    });
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(queries, [(text("me"), text("Strict")), (text("another"), None)]);
}

#[derive(Default)]
struct Guard {
    writes: AtomicUsize,
}

impl Interceptor for Guard {
    fn read<'a>(&'a self, resource: &'a Resource, of: ReadOf<'a>) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            match of {
                ReadOf::All(_) => Err(Error::refused(format!("no list of {resource} here"))),
                _ => Ok(()),
            }
        })
    }

    fn write<'a>(
        &'a self,
        mut write: Write,
        next: &'a dyn WriteClient,
    ) -> BoxFuture<'a, Result<Written, Error>> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            if write.word() == "delete" {
                return Err(Error::not_found(&write.resource, &write.name));
            }
            write.options.field_manager = Some("guard".to_owned());
            next.write(write).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn an_interceptor_sees_changes_answers_and_refuses() {
    let (api, client) = live();
    let client = Intercepted::new(client, Guard::default());
    client
        .create(&config("a", "1"), &WriteOptions::default())
        .await
        .unwrap();
    let error = client
        .delete::<ConfigMap>(&key("a"), &DeleteOptions::default())
        .await
        .unwrap_err();
    assert!(error.is_not_found());
    assert!(client.find::<ConfigMap>(&key("a")).await.unwrap().is_some());
    let error = client.list::<ConfigMap>(&ListOptions::all()).await.unwrap_err();
    assert_eq!(error.to_string(), "no list of configmaps here");
    assert_eq!(client.interceptor().writes.load(Ordering::Relaxed), 2);
    let manager = api.with(|api| {
        api.request_log()
            .iter()
            .next()
            .unwrap()
            .param("fieldManager")
            .map(str::to_owned)
    });
    assert_eq!(manager.as_deref(), Some("guard"));
}
