//! Reads and writes by type, at a model of the API server and by script.

use std::time::Duration;

use informer_client::{
    Client, DeleteOptions, DynamicObject, Error, Kinds, ListOptions, LiveClient, PartialMetadata, Patch,
    Propagation, Query, ReadClient, ReadClientExt, Selectors, WriteClientExt, WriteOptions, Written,
    merge_patch_locked,
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
    assert_eq!(
        partial.object.kind, None,
        "it came as a partial object, not as a full one"
    );
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

/// What a request to an empty server is.
fn asked(answer: &str, ask: impl FnOnce(&LiveClient)) -> String {
    let (log, _) = Scripted::new([ok(answer)]);
    ask(&LiveClient::new(log.clone(), Kinds::kubernetes()));
    let mut requests = log.requests();
    assert_eq!(requests.len(), 1);
    requests.remove(0)
}

const OBJECT: &str =
    r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"}}"#;

#[test]
fn t29_every_option_of_a_write_is_in_the_query() {
    let config: Value = serde_json::from_str(OBJECT).unwrap();
    // Each option alone, on each verb that takes it.
    let mut strict = WriteOptions::default();
    strict.field_validation = Some("Strict".to_owned());
    let each = [
        (WriteOptions::default(), ""),
        (WriteOptions::of("me"), "fieldManager=me"),
        (WriteOptions::default().dry_run(), "dryRun=All"),
        (strict, "fieldValidation=Strict"),
    ];
    let path = "/api/v1/namespaces/default/configmaps";
    for (options, query) in each {
        let query = Some(query)
            .filter(|it| !it.is_empty())
            .map(|it| format!("?{it}"))
            .unwrap_or_default();
        let create = asked(OBJECT, |client| {
            drop(run(client.create(&config, &options)).unwrap())
        });
        assert_eq!(create, format!("POST {path}{query} {OBJECT}"));
        let update = asked(OBJECT, |client| {
            drop(run(client.update(&config, &options)).unwrap())
        });
        assert_eq!(update, format!("PUT {path}/a{query} {OBJECT}"));
        let status = asked(OBJECT, |client| {
            drop(run(client.update_status(&config, &options)).unwrap())
        });
        assert_eq!(status, format!("PUT {path}/a/status{query} {OBJECT}"));
        let patch = Patch::Merge(json!({}));
        let patched = asked(OBJECT, |client| {
            drop(run(client.patch::<ConfigMap>(&key("a"), patch, &options)).unwrap());
        });
        assert_eq!(patched, format!("PATCH {path}/a{query} {{}}"));
    }
    let force = WriteOptions::of("me").force();
    let apply = asked(OBJECT, |client| drop(run(client.apply(&config, &force)).unwrap()));
    assert_eq!(
        apply,
        format!("PATCH {path}/a?fieldManager=me&force=true {OBJECT}")
    );
    let all = WriteOptions::of("me").dry_run().force();
    let apply = asked(OBJECT, |client| {
        drop(run(client.apply_status(&config, &all)).unwrap())
    });
    assert_eq!(
        apply,
        format!("PATCH {path}/a/status?fieldManager=me&dryRun=All&force=true {OBJECT}")
    );
}

#[test]
fn t29_every_option_of_a_delete_is_in_its_body() {
    let status = r#"{"kind":"Status","status":"Success"}"#;
    let none = DeleteOptions::default;
    let each = [
        (none(), "{}"),
        (none().grace_period(0), r#"{"gracePeriodSeconds":0}"#),
        (
            none().propagation(Propagation::Orphan),
            r#"{"propagationPolicy":"Orphan"}"#,
        ),
        (
            none().propagation(Propagation::Background),
            r#"{"propagationPolicy":"Background"}"#,
        ),
        (
            none().propagation(Propagation::Foreground),
            r#"{"propagationPolicy":"Foreground"}"#,
        ),
        (none().only_uid("u"), r#"{"preconditions":{"uid":"u"}}"#),
        (
            none().only_version("7"),
            r#"{"preconditions":{"resourceVersion":"7"}}"#,
        ),
        (
            none().only_uid("u").only_version("7"),
            r#"{"preconditions":{"uid":"u","resourceVersion":"7"}}"#,
        ),
        (none().dry_run(), r#"{"dryRun":["All"]}"#),
    ];
    for (options, body) in each {
        let one = asked(status, |client| {
            drop(run(client.delete::<ConfigMap>(&key("a"), &options)).unwrap())
        });
        assert_eq!(
            one,
            format!("DELETE /api/v1/namespaces/default/configmaps/a {body}")
        );
        let selectors = Selectors::all()
            .labels("a=b")
            .fields("metadata.name=a")
            .extra("x", "y");
        let all = asked(status, |client| {
            drop(run(client.delete_all::<Node>(None, &selectors, &options)).unwrap());
        });
        assert_eq!(
            all,
            format!("DELETE /api/v1/nodes?labelSelector=a%3Db&fieldSelector=metadata.name%3Da&x=y {body}")
        );
    }
}

#[test]
fn t29_every_option_of_a_read_is_in_the_query() {
    let list = r#"{"kind":"ConfigMapList","metadata":{},"items":[]}"#;
    let all = ListOptions::all;
    let each = [
        (all(), "configmaps?limit=500"),
        (all().in_namespace("n"), "namespaces/n/configmaps?limit=500"),
        (
            all().labels("a in (b,c)"),
            "configmaps?labelSelector=a%20in%20%28b%2Cc%29&limit=500",
        ),
        (
            all().fields("metadata.name!=z"),
            "configmaps?fieldSelector=metadata.name%21%3Dz&limit=500",
        ),
        (all().limit(5), "configmaps?limit=5"),
        (all().limit(5).from_token("t"), "configmaps?limit=5&continue=t"),
        (
            all().not_older_than("7"),
            "configmaps?limit=500&resourceVersion=7&resourceVersionMatch=NotOlderThan",
        ),
        (
            all().at_version("7").limit(2),
            "configmaps?limit=2&resourceVersion=7&resourceVersionMatch=Exact",
        ),
        (
            all().timeout(Duration::from_millis(1500)),
            "configmaps?limit=500&timeoutSeconds=2",
        ),
    ];
    for (options, query) in each {
        let asked = asked(list, |client| {
            drop(run(client.list::<ConfigMap>(&options)).unwrap())
        });
        assert_eq!(asked, format!("GET /api/v1/{query}"));
    }
    let mut any = Query::new();
    any.set("resourceVersion", "0");
    let get = asked(OBJECT, |client| {
        let resource = client.kinds_of();
        drop(run(client.api::<Value>(resource, Some("default")).get_with("a", &any)).unwrap());
    });
    assert_eq!(
        get,
        "GET /api/v1/namespaces/default/configmaps/a?resourceVersion=0"
    );
}

#[test]
fn no_options_are_the_default_ones() {
    assert_eq!(*WriteOptions::NONE, WriteOptions::default());
    assert_eq!(*DeleteOptions::NONE, DeleteOptions::default());
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
