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

fn events() -> ResourceDef {
    let about = [
        "kind",
        "namespace",
        "name",
        "uid",
        "apiVersion",
        "resourceVersion",
        "fieldPath",
    ];
    let def = creates_on_update(namespaced("", "v1", "events", "Event", &["ev"]));
    about
        .iter()
        .fold(def, |def, field| {
            def.selectable(&format!("involvedObject.{field}"))
        })
        .selectable("reason")
        .selectable("reportingComponent")
        .field("source", "source.component", "")
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
        cluster("", "v1", "nodes", "Node", &["no"]).with_status().field(
            "spec.unschedulable",
            "spec.unschedulable",
            "false",
        ),
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
        all(namespaced(
            "",
            "v1",
            "replicationcontrollers",
            "ReplicationController",
            &["rc"],
        ))
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
        workload("deployments", "Deployment", &["deploy"]),
        workload("replicasets", "ReplicaSet", &["rs"]),
        workload("statefulsets", "StatefulSet", &["sts"]),
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
        .with_status(),
    ]
}

fn others() -> Vec<ResourceDef> {
    let rbac = "rbac.authorization.k8s.io";
    let role = |def| creates_on_update(named(def, NameRule::PathSegment));
    vec![
        creates_on_update(namespaced("coordination.k8s.io", "v1", "leases", "Lease", &[])),
        creates_on_update(namespaced("events.k8s.io", "v1", "events", "Event", &["ev"])),
        namespaced("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", &[]),
        namespaced("networking.k8s.io", "v1", "ingresses", "Ingress", &["ing"])
            .with_status()
            .with_generation(),
        cluster("networking.k8s.io", "v1", "ingressclasses", "IngressClass", &[]),
        namespaced(
            "networking.k8s.io",
            "v1",
            "networkpolicies",
            "NetworkPolicy",
            &["netpol"],
        )
        .with_generation(),
        namespaced(
            "policy",
            "v1",
            "poddisruptionbudgets",
            "PodDisruptionBudget",
            &["pdb"],
        )
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
        cluster(
            "scheduling.k8s.io",
            "v1",
            "priorityclasses",
            "PriorityClass",
            &["pc"],
        ),
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
