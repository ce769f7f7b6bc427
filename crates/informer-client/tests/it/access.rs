//! Reads and writes by type, at a model of the API server and by script.

use informer_client::{
    Client, DeleteOptions, DynamicObject, Error, Kinds, ListOptions, LiveClient, PartialMetadata, Patch,
    ReadClient, ReadClientExt, Selectors, WriteClientExt, WriteOptions, Written, merge_patch_locked,
};
use informer_core::{ObjectKey, TokioClock};
use informer_testkit::{FakeApi, FakeTransport, SharedApi};
use k8s_openapi::{
    api::core::v1::{ConfigMap, Node, Pod},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use serde_json::{Value, json};

use crate::scripted::{Scripted, ok, run};

pub(crate) fn live() -> (SharedApi<TokioClock>, LiveClient) {
    let api = SharedApi::new(FakeApi::with_builtins(), TokioClock);
    let client = Client::new(FakeTransport::new(api.clone()));
    (api, LiveClient::of(&client, Kinds::kubernetes()))
}

pub(crate) fn config(name: &str, value: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some("default".to_owned()),
            ..ObjectMeta::default()
        },
        data: Some([("key".to_owned(), value.to_owned())].into()),
        ..ConfigMap::default()
    }
}

pub(crate) fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced("default", name)
}

#[tokio::test(start_paused = true)]
async fn objects_are_written_and_read_by_type() {
    let (_, client) = live();
    let options = WriteOptions::default();
    let mut made = client.create(&config("a", "1"), &options).await.unwrap();
    made.data = Some([("key".to_owned(), "2".to_owned())].into());
    client.update(&made, &options).await.unwrap();
    let read = client.get::<ConfigMap>(&key("a")).await.unwrap();
    assert_eq!(read.data, made.data);
    let error = client.update(&made, &options).await.unwrap_err();
    assert!(error.is_conflict(), "{error}");
    let patched: ConfigMap = client
        .patch(&key("a"), Patch::Merge(json!({"data": {"key": "3"}})), &options)
        .await
        .unwrap();
    assert_eq!(patched.data.unwrap()["key"], "3");
    let gone = client
        .delete::<ConfigMap>(&key("a"), &DeleteOptions::default())
        .await;
    assert!(matches!(gone.unwrap(), Written::Done { uid: Some(_) }));
    assert!(client.find::<ConfigMap>(&key("a")).await.unwrap().is_none());
    let error = client.get::<ConfigMap>(&key("a")).await.unwrap_err();
    assert!(LiveClient::is_not_found(&error));
    assert_eq!(error.to_string(), "configmaps \"a\" not found");
}

#[tokio::test(start_paused = true)]
async fn dynamic_objects_say_their_kind_and_metadata_is_not_written_whole() {
    let (api, client) = live();
    let mut object = DynamicObject::new("v1", "ConfigMap", "a");
    object.set("/metadata/namespace", "default");
    let made = client.create(&object, &WriteOptions::default()).await.unwrap();
    assert!(!made.uid().is_empty());
    object.set("/kind", "Gadget");
    let error = client
        .create(&object, &WriteOptions::default())
        .await
        .unwrap_err();
    assert!(
        error.to_string() == "the server has no resource \"Gadget of v1\"" && !error.is_not_found(),
        "{error}"
    );
    let resource = client.kinds_of();
    let partial = client
        .read::<PartialMetadata>(&resource, &key("a"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(partial.object.kind.as_deref(), Some("PartialObjectMetadata"));
    let error = client
        .create(&*partial.object, &WriteOptions::default())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "\"a\" is metadata only: it can be patched and deleted, not written whole"
    );
    assert_eq!(api.with(|api| api.count(&resource)), 1);
}

trait KindsOf {
    fn kinds_of(&self) -> informer_core::Resource;
}

impl KindsOf for LiveClient {
    fn kinds_of(&self) -> informer_core::Resource {
        ReadClient::kinds(self).of::<ConfigMap>().unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn lists_take_selectors_and_pages() {
    let (_, client) = live();
    for (name, tier) in [("a", "x"), ("b", "y"), ("c", "x"), ("d", "x")] {
        let mut config = config(name, "1");
        config.metadata.labels = Some([("tier".to_owned(), tier.to_owned())].into());
        client.create(&config, &WriteOptions::default()).await.unwrap();
    }
    let of = ListOptions::all().in_namespace("default").labels("tier=x");
    let list = client.list::<ConfigMap>(&of).await.unwrap();
    assert_eq!(list.names(), ["default/a", "default/c", "default/d"]);
    assert!(list.next.is_none() && !list.version.is_none());
    let first = client.list::<ConfigMap>(&of.clone().limit(2)).await.unwrap();
    assert_eq!(first.names(), ["default/a", "default/c"]);
    let rest = of.clone().limit(2).from_token(first.next.unwrap());
    let rest = client.list::<ConfigMap>(&rest).await.unwrap();
    assert!(rest.names() == ["default/d"] && rest.next.is_none());
    let by_name = ListOptions::all().fields("metadata.name=b");
    assert_eq!(
        client.list::<ConfigMap>(&by_name).await.unwrap().names(),
        ["default/b"]
    );
    let all = client
        .delete_all::<ConfigMap>(
            Some("default"),
            &Selectors::all().labels("tier=x"),
            &DeleteOptions::default(),
        )
        .await
        .unwrap();
    assert!(matches!(all, Written::All(objects) if objects.len() == 3));
    assert_eq!(
        client
            .list::<ConfigMap>(&ListOptions::all())
            .await
            .unwrap()
            .names(),
        ["default/b"]
    );
}

#[test]
fn t29_every_option_is_in_the_query() {
    let status = r#"{"kind":"Status","status":"Success"}"#;
    let object = r#"{"kind":"ConfigMap","metadata":{"name":"a","namespace":"default"}}"#;
    let list = r#"{"kind":"ConfigMapList","metadata":{},"items":[]}"#;
    let (log, _) = Scripted::new([ok(object), ok(object), ok(status), ok(status), ok(list)]);
    let client = LiveClient::new(log.clone(), Kinds::kubernetes());
    let mut options = WriteOptions::of("me").dry_run();
    options.field_validation = Some("Strict".to_owned());
    let config =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}});
    let _: Value = run(client.create(&config, &options)).unwrap();
    options.field_validation = None;
    let _: Value = run(client.apply(&config, &options.force())).unwrap();
    let delete = DeleteOptions::default()
        .grace_period(0)
        .dry_run()
        .only_version("7");
    run(client.delete::<ConfigMap>(&key("a"), &delete)).unwrap();
    let selectors = Selectors::all().labels("a=b").fields("metadata.name=a");
    run(client.delete_all::<Node>(None, &selectors, &DeleteOptions::default())).unwrap();
    let of = ListOptions::all()
        .labels("a in (b,c)")
        .fields("metadata.name!=z")
        .limit(5)
        .from_token("t");
    run(client.list::<ConfigMap>(&of)).unwrap();
    let body = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"}}"#;
    assert_eq!(
        log.requests(),
        [
            format!(
                "POST /api/v1/namespaces/default/configmaps?fieldManager=me&dryRun=All&fieldValidation=Strict {body}"
            ),
            format!(
                "PATCH /api/v1/namespaces/default/configmaps/a?fieldManager=me&dryRun=All&force=true {body}"
            ),
            r#"DELETE /api/v1/namespaces/default/configmaps/a {"gracePeriodSeconds":0,"preconditions":{"resourceVersion":"7"},"dryRun":["All"]}"#
                .to_owned(),
            "DELETE /api/v1/nodes?labelSelector=a%3Db&fieldSelector=metadata.name%3Da {}".to_owned(),
            "GET /api/v1/configmaps?labelSelector=a%20in%20%28b%2Cc%29&fieldSelector=metadata.name%21%3Dz&limit=5&continue=t"
                .to_owned(),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn t30_a_locked_patch_conflicts_with_a_later_write() {
    let (_, client) = live();
    let options = WriteOptions::default();
    let before = client.create(&config("a", "1"), &options).await.unwrap();
    let mut after = before.clone();
    after.data = Some([("key".to_owned(), "2".to_owned())].into());
    let locked = merge_patch_locked(&before, &after).unwrap().unwrap();
    client
        .patch::<ConfigMap>(&key("a"), locked.clone(), &options)
        .await
        .unwrap();
    let error = client
        .patch::<ConfigMap>(&key("a"), locked, &options)
        .await
        .unwrap_err();
    assert!(error.is_conflict(), "{error}");
    let error = merge_patch_locked(&config("b", "1"), &config("b", "2")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the state before has no resource version to lock"
    );
}

#[tokio::test(start_paused = true)]
async fn t31_an_apply_conflicts_with_another_manager_unless_forced() {
    let (_, client) = live();
    client
        .apply(&config("a", "1"), &WriteOptions::of("one"))
        .await
        .unwrap();
    let error = client
        .apply(&config("a", "2"), &WriteOptions::of("two"))
        .await
        .unwrap_err();
    assert!(error.is_conflict(), "{error}");
    let forced = client
        .apply(&config("a", "2"), &WriteOptions::of("two").force())
        .await
        .unwrap();
    assert_eq!(forced.data.unwrap()["key"], "2");
    // Its own fields it may change, and without a manager there is no apply.
    client
        .apply(&config("a", "3"), &WriteOptions::of("two"))
        .await
        .unwrap();
    let error = client
        .apply(&config("a", "3"), &WriteOptions::default())
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "an apply needs a field manager");
}

#[tokio::test(start_paused = true)]
async fn the_status_is_written_beside_the_object() {
    let (_, client) = live();
    let options = WriteOptions::of("me");
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let mut pod: Pod = serde_json::from_value(pod).unwrap();
    pod = client.create(&pod, &options).await.unwrap();
    pod.status.get_or_insert_default().message = Some("one".to_owned());
    client.update_status(&pod, &options).await.unwrap();
    let patch = Patch::Merge(json!({"status": {"reason": "two"}}));
    client
        .patch_status::<Pod>(&key("a"), patch, &options)
        .await
        .unwrap();
    let of_status = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "default"},
        "status": {"hostIP": "10.0.0.1"}});
    client.apply_status(&of_status, &options).await.unwrap();
    let status = client
        .get::<Pod>(&key("a"))
        .await
        .unwrap()
        .status
        .clone()
        .unwrap();
    assert_eq!(
        (
            status.message.as_deref(),
            status.reason.as_deref(),
            status.host_ip.as_deref()
        ),
        (Some("one"), Some("two"), Some("10.0.0.1"))
    );
}

#[test]
fn errors_can_be_made_by_those_who_answer_themselves() {
    let kinds = Kinds::kubernetes();
    let error = Error::not_found(&kinds.of::<Node>().unwrap(), "n1");
    assert!(error.is_not_found() && error.code() == Some(404));
    assert_eq!(Error::refused("no").to_string(), "no");
}
