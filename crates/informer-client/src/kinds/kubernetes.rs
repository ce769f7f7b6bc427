//! The kinds that come with Kubernetes.

use k8s_openapi::{
    api::{
        admissionregistration::v1 as admission, apps::v1 as apps, autoscaling::v2 as autoscaling,
        batch::v1 as batch, certificates::v1 as certificates, coordination::v1 as coordination,
        core::v1 as core, discovery::v1 as discovery, events::v1 as events, flowcontrol::v1 as flowcontrol,
        networking::v1 as networking, node::v1 as node, policy::v1 as policy, rbac::v1 as rbac,
        scheduling::v1 as scheduling, storage::v1 as storage,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1 as extensions,
    kube_aggregator::pkg::apis::apiregistration::v1 as aggregation,
};

use super::Kinds;

impl Kinds {
    /// A registry with the kinds that a cluster of the version of Kubernetes that k8s-openapi was built for serves in a stable version, as its
    /// types.
    #[must_use]
    pub fn kubernetes() -> Self {
        let kinds = Self::new();
        macro_rules! all {
            ($($module:ident: $($kind:ident)*;)*) => {
                $($(
                    kinds
                        .register_typed::<$module::$kind>()
                        .expect("each type of k8s-openapi has a kind of its own");
                )*)*
            };
        }
        all! {
            core: ConfigMap Endpoints LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod PodTemplate
                ReplicationController ResourceQuota Secret Service ServiceAccount;
            apps: ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet;
            batch: CronJob Job;
            autoscaling: HorizontalPodAutoscaler;
            networking: IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR;
            policy: PodDisruptionBudget;
            rbac: ClusterRole ClusterRoleBinding Role RoleBinding;
            coordination: Lease;
            discovery: EndpointSlice;
            events: Event;
            storage: CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment;
            flowcontrol: FlowSchema PriorityLevelConfiguration;
            scheduling: PriorityClass;
            node: RuntimeClass;
            certificates: CertificateSigningRequest;
            admission: MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
                ValidatingWebhookConfiguration;
            extensions: CustomResourceDefinition;
            aggregation: APIService;
        }
        k8s_openapi::k8s_if_ge_1_34! {
            use k8s_openapi::api::resource::v1 as resource;
            all! {
                storage: VolumeAttributesClass;
                resource: DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice;
            }
        }
        k8s_openapi::k8s_if_ge_1_36! {
            all! {
                admission: MutatingAdmissionPolicy MutatingAdmissionPolicyBinding;
            }
        }
        k8s_openapi::k8s_if_ge_1_37! {
            use k8s_openapi::api::storagemigration::v1 as migration;
            all! {
                certificates: ClusterTrustBundle PodCertificateRequest;
                migration: StorageVersionMigration;
                resource: DeviceTaintRule;
            }
        }
        kinds
            .register_typed::<core::Event>()
            .expect("the core group has an event of its own");
        kinds
    }
}
