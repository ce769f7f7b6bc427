//! kube's types in every layer: kinds, metadata, bytes, caches, controllers.

use std::{convert::Infallible, time::Duration};

use informer_cache::Cache;
use informer_client::{
    DeleteOptions, Kinds, LiveClient, Outcome, OwnerObject, Patch, Selectors, WriteOptions, create_or_update,
    insert_finalizer,
};
use informer_controller::{Action, Builder, GenerationChanged, Kind, LabelsMatch, PredicateExt as _};
use informer_core::{Meta, ObjectKey, Scope};
use informer_kube::{
    KubeClientExt as _, KubeKindsExt as _, KubeMeta, api_resource, resource_of, resource_with,
};
use informer_sharedinformer::{LabelSelector, SharedInformer};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Node, Pod},
};
use kube::{
    Resource as _, ResourceExt as _,
    core::{ApiResource, DynamicObject, PartialObjectMeta},
};
use serde_json::json;
use tokio::sync::mpsc;

use crate::support::{Gadget, GadgetSpec, GadgetStatus, client, define_gadgets, gadgets, serve, soon, until};

#[test]
fn a_kind_is_the_same_in_both_forms() {
    assert_eq!(resource_of::<Gadget>(&()), gadgets());
    assert_eq!(resource_of::<PartialObjectMeta<Gadget>>(&()), gadgets());
    assert_eq!(resource_of::<Node>(&()).scope, Scope::Cluster);
    for (ours, theirs) in [
        (resource_of::<Gadget>(&()), ApiResource::erase::<Gadget>(&())),
        (resource_of::<Pod>(&()), ApiResource::erase::<Pod>(&())),
        (
            resource_of::<Deployment>(&()),
            ApiResource::erase::<Deployment>(&()),
        ),
    ] {
        assert_eq!(api_resource(&ours), theirs);
        assert_eq!(resource_with::<DynamicObject>(&theirs, ours.scope), ours);
        assert_eq!(ours.path(Some("a")), DynamicObject::url_path(&theirs, Some("a")),);
    }
}

#[test]
fn metadata_is_read_of_every_form() {
    let mut gadget = Gadget::new("g", GadgetSpec { size: 1 });
    gadget.metadata.labels = Some([("app".to_owned(), "web".to_owned())].into());
    gadget.metadata.generation = Some(3);
    gadget.metadata.uid = Some("u".to_owned());
    let owner = gadget.controller_owner_ref(&()).unwrap();
    gadget.metadata.owner_references = Some(vec![owner]);
    let dynamic: DynamicObject = serde_json::from_value(serde_json::to_value(&gadget).unwrap()).unwrap();

    fn check<K>(object: &K)
    where
        KubeMeta: Meta<K>,
    {
        assert_eq!(KubeMeta.label(object, "app"), Some("web"));
        assert_eq!(KubeMeta.label(object, "none"), None);
        assert_eq!(KubeMeta.generation(object), Some(3));
        assert!(!KubeMeta.deleting(object));
        let mut owners = Vec::new();
        KubeMeta.owners(object, &mut |owner| {
            owners.push(format!(
                "{} {} {} {}",
                owner.api_version, owner.kind, owner.name, owner.controller
            ));
        });
        assert_eq!(owners, ["example.org/v1 Gadget g true"]);
    }
    check(&gadget);
    check(&dynamic);
}

#[test]
fn kinds_are_registered_with_their_metadata() {
    let kinds = Kinds::kubernetes();
    kinds
        .register_kube::<Gadget>()
        .unwrap()
        .register_kube::<PartialObjectMeta<Gadget>>()
        .unwrap()
        // The same as is there.
        .register_kube::<Pod>()
        .unwrap();
    assert_eq!(
        kinds.by_api_version("example.org/v1", "Gadget").unwrap(),
        gadgets()
    );
    assert_eq!(kinds.of::<PartialObjectMeta<Gadget>>().unwrap(), gadgets());
    assert!(kinds.meta::<Gadget>().is_some_and(|meta| meta.fields().owners));
    assert!(kinds.is_whole::<Gadget>() && !kinds.is_whole::<PartialObjectMeta<Gadget>>());
}

#[tokio::test]
async fn objects_come_in_every_form() {
    let server = serve().await;
    define_gadgets(&server, &[1, 2]).await;
    let client = client(&server);

    let typed = client.kube::<Gadget>().list(&Selectors::all()).await.unwrap();
    let sizes: Vec<u32> = typed.items.iter().map(|it| it.object.spec.size).collect();
    assert_eq!(sizes, [1, 2]);

    let kind = ApiResource::erase::<Gadget>(&());
    let dynamic = client.kube_with::<DynamicObject>(&kind, Scope::Namespaced);
    let listed = dynamic.list(&Selectors::all()).await.unwrap();
    assert_eq!(listed.items[1].object.data["spec"]["size"], 2);
    let one = dynamic.in_namespace("default").get("g1").await.unwrap().object;
    for object in [&listed.items[0].object, &one] {
        let types = object.types.as_ref().unwrap();
        assert_eq!((&*types.api_version, &*types.kind), ("example.org/v1", "Gadget"));
        assert_eq!(object.clone().try_parse::<Gadget>().unwrap().spec.size, 1);
    }

    // Items of a list of a built-in kind have no types on the wire.
    let pods = resource_of::<Pod>(&());
    let pod = json!({"metadata": {"name": "web"}, "spec": {"nodeName": "n1"}});
    server.with(|api| api.create(&pods, pod)).unwrap();
    let dynamic = client.kube_with::<DynamicObject>(&api_resource(&pods), Scope::Namespaced);
    let listed = dynamic.list(&Selectors::all()).await.unwrap();
    assert_eq!(listed.items[0].object.types.as_ref().unwrap().kind, "Pod");

    let metadata = client.kube::<PartialObjectMeta<Gadget>>();
    let listed = metadata.list(&Selectors::all()).await.unwrap();
    assert_eq!(listed.items[0].object.name_any(), "g1");
    let accept = server.with(|api| {
        let last = api.request_log().iter().next_back().unwrap();
        last.headers["accept"].to_str().unwrap().to_owned()
    });
    assert!(
        accept.starts_with("application/json;as=PartialObjectMetadataList"),
        "{accept}"
    );
    let one = metadata.in_namespace("default").get("g2").await.unwrap();
    assert_eq!(one.object.types.as_ref().unwrap().kind, "PartialObjectMetadata");
    server.shutdown().await;
}

/// A derived kind through informer, index, label selector, predicate and controller.
#[tokio::test]
async fn a_derived_kind_drives_a_controller() {
    let server = serve().await;
    define_gadgets(&server, &[1, 2, 3]).await;
    server.with(|api| {
        let mut gadget = api.get(&gadgets(), Some("default"), "g2").unwrap();
        gadget["metadata"]["labels"] = json!({"wanted": "yes"});
        api.put(&gadgets(), gadget).unwrap();
    });
    let source = client(&server).kube::<Gadget>().source(Selectors::all());
    let informer = SharedInformer::builder(source)
        .index("size", |gadget: &Gadget, emit: &mut dyn FnMut(&str)| {
            emit(&gadget.spec.size.to_string());
        })
        .build()
        .unwrap();
    let (seen, mut reconciled) = mpsc::unbounded_channel();
    let lister = informer.lister();
    let wanted: LabelSelector = "wanted=yes".parse().unwrap();
    let labels = LabelsMatch::new::<Gadget>(wanted, KubeMeta).unwrap();
    let generations = GenerationChanged::new::<Gadget>(KubeMeta).unwrap();
    let controller = Builder::new()
        .for_(
            Kind::of(informer.clone())
                .resource(&gadgets())
                .predicate(labels.and(generations)),
        )
        .reconcile(move |key: ObjectKey, _| {
            let gadget = lister.get(&key);
            let seen = seen.clone();
            async move {
                let _ = seen.send(gadget.map(|it| it.spec.size));
                Ok::<_, Infallible>(Action::Done)
            }
        })
        .build()
        .unwrap();
    let (watching, reconciling) = (informer.spawn().unwrap(), controller.spawn().unwrap());
    assert_eq!(soon("the reconcile", reconciled.recv()).await, Some(Some(2)));
    let mut gadget = server
        .with(|api| api.get(&gadgets(), Some("default"), "g2"))
        .unwrap();
    gadget["spec"]["size"] = json!(20);
    server.with(|api| api.put(&gadgets(), gadget)).unwrap();
    assert_eq!(soon("the reconcile", reconciled.recv()).await, Some(Some(20)));
    assert_eq!(informer.lister().by_index("size", "20").unwrap().len(), 1);
    reconciling.stop().await.unwrap();
    watching.stop().await;
    server.shutdown().await;
}

/// The cache of a manager knows a derived kind once it is registered.
#[tokio::test]
async fn a_derived_kind_is_cached() {
    let server = serve().await;
    define_gadgets(&server, &[7]).await;
    let kinds = Kinds::new();
    kinds.register_kube::<Gadget>().unwrap();
    let cache = Cache::new(LiveClient::of(&client(&server), kinds));
    cache.start();
    let informer = cache.informer::<Gadget>().unwrap();
    informer.wait_synced(Duration::from_secs(60)).await.unwrap();
    until("the gadget", || informer.store().len() == 1).await;
    let key = ObjectKey::namespaced("default", "g7");
    assert_eq!(informer.lister().get(&key).unwrap().spec.size, 7);
    cache.shut_down().await;
    server.shutdown().await;
}

/// Verbs, create-or-update, owners and finalizers with a derived kind.
#[tokio::test]
async fn a_derived_kind_is_written() {
    let server = serve().await;
    define_gadgets(&server, &[1]).await;
    let client = client(&server);
    let api = client.kube::<Gadget>().in_namespace("default");
    let options = WriteOptions::of("tests");
    let made = api
        .create(&Gadget::new("made", GadgetSpec { size: 5 }), &options)
        .await
        .unwrap();
    let mut gadget = made.object;
    gadget.spec.size = 6;
    let replaced = api.replace("made", &gadget, &options).await.unwrap();
    assert_eq!(replaced.object.spec.size, 6);
    let ready = Patch::Merge(json!({"status": {"ready": true}}));
    let patched = api.patch_status("made", &ready, &options).await.unwrap();
    assert_eq!(patched.object.status, Some(GadgetStatus { ready: true }));

    let kinds = Kinds::new();
    kinds.register_kube::<Gadget>().unwrap();
    let live = LiveClient::of(&client, kinds);
    let mut wanted = Gadget::new("owned", GadgetSpec { size: 1 });
    wanted.metadata.namespace = Some("default".to_owned());
    let owner = OwnerObject::of(gadgets(), &patched.object).unwrap();
    let mutate = |gadget: &mut Gadget| {
        gadget.spec.size = 9;
        insert_finalizer(gadget, "example.org/tests")?;
        owner.control(gadget).expect("they share a namespace");
        Ok(())
    };
    for outcome in [Outcome::Created, Outcome::Unchanged] {
        let (done, object) = create_or_update(&live, wanted.clone(), mutate, &options)
            .await
            .unwrap();
        assert_eq!((done, object.spec.size), (outcome, 9));
        assert_eq!(object.finalizers(), ["example.org/tests"]);
        assert_eq!(object.owner_references()[0].name, "made");
    }
    let gone = api.delete("made", &DeleteOptions::default()).await;
    assert!(gone.is_ok());
    server.shutdown().await;
}
