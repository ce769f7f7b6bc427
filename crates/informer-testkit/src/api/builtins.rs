//! The resources that every cluster has, with the names that kubectl knows.

use informer_core::Resource;

use super::def::{NameRule, ResourceDef};

fn namespaced(group: &str, version: &str, plural: &str, kind: &str, short: &[&str]) -> ResourceDef {
    ResourceDef::new(Resource::namespaced(group, version, plural, kind)).short_names(short.iter().copied())
}

fn cluster(group: &str, version: &str, plural: &str, kind: &str, short: &[&str]) -> ResourceDef {
    ResourceDef::new(Resource::cluster(group, version, plural, kind)).short_names(short.iter().copied())
}

fn all(def: ResourceDef) -> ResourceDef {
    def.categories(["all"])
}

fn returns_deleted(mut def: ResourceDef) -> ResourceDef {
    def.returns_deleted = true;
    def
}

fn creates_on_update(mut def: ResourceDef) -> ResourceDef {
    def.create_on_update = true;
    def
}

/// No write without the version that it is based on.
fn conditional(mut def: ResourceDef) -> ResourceDef {
    def.unconditional_update = false;
    def
}

fn created_with_status(mut def: ResourceDef) -> ResourceDef {
    def.created_with_status = true;
    def
}

fn generation_stays(def: ResourceDef) -> ResourceDef {
    let mut def = def.with_generation();
    def.generation_stays = true;
    def
}

fn scaled(mut def: ResourceDef) -> ResourceDef {
    def.scale = true;
    def
}

fn status_keeps_labels(mut def: ResourceDef) -> ResourceDef {
    def.status_keeps_labels = true;
    def
}

fn named(mut def: ResourceDef, rule: NameRule) -> ResourceDef {
    def.name_rule = rule;
    def
}

fn phased(mut def: ResourceDef, phase: &'static str) -> ResourceDef {
    def.phase = Some(phase);
    def
}

/// Everything that [`FakeApi::with_builtins`](crate::FakeApi::with_builtins) serves.
pub(super) fn builtins() -> Vec<ResourceDef> {
    let mut defs = core();
    defs.extend(apps_and_batch());
    defs.extend(others());
    defs
}

fn pods() -> ResourceDef {
    let def = phased(
        returns_deleted(all(namespaced("", "v1", "pods", "Pod", &["po"]))),
        "Pending",
    );
    def.with_status()
        .with_generation()
        .selectable("spec.nodeName")
        .field("spec.restartPolicy", "spec.restartPolicy", "Always")
        .field("spec.schedulerName", "spec.schedulerName", "default-scheduler")
        .selectable("spec.serviceAccountName")
        .field("spec.hostNetwork", "spec.hostNetwork", "false")
        .selectable("status.phase")
        .field("status.podIP", "status.podIPs.0.ip", "")
        .selectable("status.nominatedNodeName")
}

const EVENTS_ARE_ABOUT: [&str; 7] = [
    "kind",
    "namespace",
    "name",
    "uid",
    "apiVersion",
    "resourceVersion",
    "fieldPath",
];

fn events() -> ResourceDef {
    let def = creates_on_update(namespaced("", "v1", "events", "Event", &["ev"]));
    EVENTS_ARE_ABOUT
        .iter()
        .fold(def, |def, field| {
            def.selectable(&format!("involvedObject.{field}"))
        })
        .selectable("reason")
        .selectable("reportingComponent")
        .field("source", "source.component", "")
        .selectable("type")
}

/// The same objects as those of the core group, with other names for some fields (kubernetes `pkg/apis/events/v1`).
fn new_events() -> ResourceDef {
    const RENAMES: [(&str, &str); 7] = [
        ("involvedObject", "regarding"),
        ("message", "note"),
        ("source", "deprecatedSource"),
        ("firstTimestamp", "deprecatedFirstTimestamp"),
        ("lastTimestamp", "deprecatedLastTimestamp"),
        ("count", "deprecatedCount"),
        ("reportingComponent", "reportingController"),
    ];
    let mut def = creates_on_update(namespaced("events.k8s.io", "v1", "events", "Event", &["ev"]));
    def.renames = &RENAMES;
    def.shares = Some(("", "events"));
    EVENTS_ARE_ABOUT
        .iter()
        .fold(def, |def, field| {
            def.field(
                &format!("regarding.{field}"),
                &format!("involvedObject.{field}"),
                "",
            )
        })
        .selectable("reason")
        .field("reportingController", "reportingComponent", "")
        .selectable("type")
}

fn core() -> Vec<ResourceDef> {
    let namespaces = phased(
        returns_deleted(named(
            cluster("", "v1", "namespaces", "Namespace", &["ns"]),
            NameRule::Label,
        )),
        "Active",
    );
    let services = all(namespaced("", "v1", "services", "Service", &["svc"]))
        .with_status()
        .selectable("spec.clusterIP")
        .field("spec.type", "spec.type", "ClusterIP");
    vec![
        pods(),
        namespaced("", "v1", "configmaps", "ConfigMap", &["cm"]),
        namespaced("", "v1", "secrets", "Secret", &[]).field("type", "type", "Opaque"),
        returns_deleted(named(services, NameRule::Label)),
        created_with_status(cluster("", "v1", "nodes", "Node", &["no"]))
            .with_status()
            .field("spec.unschedulable", "spec.unschedulable", "false"),
        namespaces.with_status().selectable("status.phase"),
        events(),
        creates_on_update(namespaced("", "v1", "endpoints", "Endpoints", &["ep"]).singular("endpoints")),
        returns_deleted(namespaced("", "v1", "serviceaccounts", "ServiceAccount", &["sa"])),
        returns_deleted(phased(
            cluster("", "v1", "persistentvolumes", "PersistentVolume", &["pv"]),
            "Pending",
        ))
        .with_status(),
        returns_deleted(phased(
            namespaced(
                "",
                "v1",
                "persistentvolumeclaims",
                "PersistentVolumeClaim",
                &["pvc"],
            ),
            "Pending",
        ))
        .with_status(),
        returns_deleted(namespaced(
            "",
            "v1",
            "resourcequotas",
            "ResourceQuota",
            &["quota"],
        ))
        .with_status(),
        namespaced("", "v1", "limitranges", "LimitRange", &["limits"]),
        scaled(all(namespaced(
            "",
            "v1",
            "replicationcontrollers",
            "ReplicationController",
            &["rc"],
        )))
        .with_status()
        .with_generation()
        .field("status.replicas", "status.replicas", "0"),
    ]
}

fn apps_and_batch() -> Vec<ResourceDef> {
    let workload = |plural: &str, kind: &str, short: &[&str]| {
        all(namespaced("apps", "v1", plural, kind, short))
            .with_status()
            .with_generation()
    };
    vec![
        status_keeps_labels(scaled(workload("deployments", "Deployment", &["deploy"]))),
        scaled(workload("replicasets", "ReplicaSet", &["rs"])),
        scaled(workload("statefulsets", "StatefulSet", &["sts"])),
        workload("daemonsets", "DaemonSet", &["ds"]),
        namespaced("apps", "v1", "controllerrevisions", "ControllerRevision", &[]),
        all(namespaced("batch", "v1", "jobs", "Job", &[]))
            .with_status()
            .with_generation()
            .field("status.successful", "status.succeeded", "0"),
        all(namespaced("batch", "v1", "cronjobs", "CronJob", &["cj"]))
            .with_status()
            .with_generation(),
        all(namespaced(
            "autoscaling",
            "v2",
            "horizontalpodautoscalers",
            "HorizontalPodAutoscaler",
            &["hpa"],
        ))
        .with_status()
        .with_generation(),
    ]
}

fn others() -> Vec<ResourceDef> {
    let rbac = "rbac.authorization.k8s.io";
    let role = |def| creates_on_update(named(def, NameRule::PathSegment));
    vec![
        conditional(creates_on_update(namespaced(
            "coordination.k8s.io",
            "v1",
            "leases",
            "Lease",
            &[],
        ))),
        new_events(),
        namespaced("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", &[]).with_generation(),
        namespaced("networking.k8s.io", "v1", "ingresses", "Ingress", &["ing"])
            .with_status()
            .with_generation(),
        cluster("networking.k8s.io", "v1", "ingressclasses", "IngressClass", &[]).with_generation(),
        namespaced(
            "networking.k8s.io",
            "v1",
            "networkpolicies",
            "NetworkPolicy",
            &["netpol"],
        )
        .with_generation(),
        conditional(namespaced(
            "policy",
            "v1",
            "poddisruptionbudgets",
            "PodDisruptionBudget",
            &["pdb"],
        ))
        .with_status()
        .with_generation(),
        role(namespaced(rbac, "v1", "roles", "Role", &[])),
        role(namespaced(rbac, "v1", "rolebindings", "RoleBinding", &[])),
        role(cluster(rbac, "v1", "clusterroles", "ClusterRole", &[])),
        role(cluster(
            rbac,
            "v1",
            "clusterrolebindings",
            "ClusterRoleBinding",
            &[],
        )),
        generation_stays(cluster(
            "scheduling.k8s.io",
            "v1",
            "priorityclasses",
            "PriorityClass",
            &["pc"],
        )),
        returns_deleted(cluster(
            "storage.k8s.io",
            "v1",
            "storageclasses",
            "StorageClass",
            &["sc"],
        )),
        cluster(
            "apiextensions.k8s.io",
            "v1",
            "customresourcedefinitions",
            "CustomResourceDefinition",
            &["crd", "crds"],
        )
        .categories(["api-extensions"])
        .with_status()
        .with_generation(),
    ]
}
