//! What runs in the sample cluster: the templates of its pods.

/// Who owns the pods of an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// A deployment, through a replica set: pods have random names.
    Deployment,
    /// A stateful set: a pod that moves keeps its name.
    StatefulSet,
    /// A job: pods finish.
    Job,
}

/// One container of a template.
#[derive(Debug, Clone, Copy)]
pub(super) struct Container {
    pub(super) name: &'static str,
    pub(super) image: &'static str,
    pub(super) port: u16,
    pub(super) milli_cpu: u32,
    pub(super) mebibytes: u32,
}

/// A template.
#[derive(Debug, Clone, Copy)]
pub(super) struct Template {
    pub(super) name: &'static str,
    pub(super) owner: Owner,
    pub(super) tier: &'static str,
    /// Its share of all pods, in percent.
    pub(super) share: usize,
    pub(super) containers: &'static [Container],
    /// How likely something that happens is a crash, in percent.
    pub(super) crashes: u64,
}

const fn container(
    name: &'static str,
    image: &'static str,
    port: u16,
    milli_cpu: u32,
    mebibytes: u32,
) -> Container {
    Container {
        name,
        image,
        port,
        milli_cpu,
        mebibytes,
    }
}

const PROXY: Container = container("proxy", "registry.example.com/mesh/proxy:1.9.2", 15_001, 50, 64);

pub(super) const TEMPLATES: [Template; 8] = [
    Template {
        name: "frontend",
        owner: Owner::Deployment,
        tier: "web",
        share: 26,
        containers: &[
            container(
                "nginx",
                "registry.example.com/shop/frontend:4.12.0",
                8080,
                100,
                128,
            ),
            PROXY,
        ],
        crashes: 6,
    },
    Template {
        name: "checkout",
        owner: Owner::Deployment,
        tier: "api",
        share: 16,
        containers: &[
            container(
                "server",
                "registry.example.com/shop/checkout:2.31.4",
                8443,
                250,
                256,
            ),
            PROXY,
        ],
        crashes: 14,
    },
    Template {
        name: "catalog",
        owner: Owner::Deployment,
        tier: "api",
        share: 16,
        containers: &[container(
            "server",
            "registry.example.com/shop/catalog:7.0.1",
            8443,
            200,
            512,
        )],
        crashes: 8,
    },
    Template {
        name: "recommender",
        owner: Owner::Deployment,
        tier: "ml",
        share: 8,
        containers: &[container(
            "model",
            "registry.example.com/ml/recommender:0.9.7",
            9000,
            1000,
            2048,
        )],
        crashes: 30,
    },
    Template {
        name: "session-cache",
        owner: Owner::StatefulSet,
        tier: "data",
        share: 6,
        containers: &[container(
            "redis",
            "registry.example.com/library/redis:7.4",
            6379,
            250,
            1024,
        )],
        crashes: 4,
    },
    Template {
        name: "orders-db",
        owner: Owner::StatefulSet,
        tier: "data",
        share: 4,
        containers: &[
            container(
                "postgres",
                "registry.example.com/library/postgres:17.2",
                5432,
                500,
                4096,
            ),
            container(
                "exporter",
                "registry.example.com/metrics/postgres-exporter:0.16",
                9187,
                20,
                32,
            ),
        ],
        crashes: 3,
    },
    Template {
        name: "mailer",
        owner: Owner::Deployment,
        tier: "worker",
        share: 10,
        containers: &[container(
            "worker",
            "registry.example.com/shop/mailer:1.4.3",
            9100,
            100,
            128,
        )],
        crashes: 18,
    },
    Template {
        name: "thumbnails",
        owner: Owner::Job,
        tier: "batch",
        share: 14,
        containers: &[container(
            "resize",
            "registry.example.com/media/thumbnails:3.3.0",
            9100,
            500,
            512,
        )],
        crashes: 10,
    },
];

/// A template at work.
#[derive(Debug)]
pub(super) struct App {
    pub(super) template: Template,
    pub(super) replicas: usize,
    /// Of the replica set, or of the job.
    pub(super) owner_name: String,
    pub(super) owner_uid: String,
    pub(super) hash: String,
    pub(super) n_ready: usize,
}
