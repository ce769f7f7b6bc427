//! The kind `Website`: a page, which the controller keeps in a ConfigMap. Its definition is `website.crd.json`.

use k8s_openapi::{NamespaceResourceScope, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Website {
    pub(crate) metadata: ObjectMeta,
    pub(crate) spec: WebsiteSpec,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<WebsiteStatus>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WebsiteSpec {
    pub(crate) html: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebsiteStatus {
    pub(crate) observed_generation: Option<i64>,
    pub(crate) page: Option<String>,
}

/// As `#[derive(CustomResource)]` of kube would write it.
impl k8s_openapi::Resource for Website {
    const API_VERSION: &'static str = "example.com/v1";
    const GROUP: &'static str = "example.com";
    const KIND: &'static str = "Website";
    const VERSION: &'static str = "v1";
    const URL_PATH_SEGMENT: &'static str = "websites";
    type Scope = NamespaceResourceScope;
}

impl k8s_openapi::Metadata for Website {
    type Ty = ObjectMeta;

    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
