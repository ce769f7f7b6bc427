//! Discovery documents.

use http::Method;
use serde_json::{Value, json};

use crate::support::Site;

fn resource<'a>(list: &'a Value, name: &str) -> &'a Value {
    let mut resources = list["resources"].as_array().unwrap().iter();
    resources
        .find(|it| it["name"] == name)
        .unwrap_or_else(|| panic!("{name} is not in {list}"))
}

#[test]
fn the_core_group_is_listed() {
    let mut site = Site::new();
    assert_eq!(site.get("/api").1["versions"], json!(["v1"]));
    let (status, list) = site.get("/api/v1");
    assert_eq!(
        (status, &list["kind"], &list["groupVersion"]),
        (200, &json!("APIResourceList"), &json!("v1"))
    );
    let pods = resource(&list, "pods");
    assert_eq!(pods["kind"], "Pod");
    assert_eq!(pods["singularName"], "pod");
    assert_eq!(pods["shortNames"], json!(["po"]));
    assert_eq!(pods["categories"], json!(["all"]));
    assert_eq!(pods["namespaced"], true);
    assert!(pods["verbs"].as_array().unwrap().contains(&json!("watch")));
    assert_eq!(
        resource(&list, "pods/status")["verbs"],
        json!(["get", "patch", "update"])
    );
    assert_eq!(resource(&list, "nodes")["namespaced"], false);
    assert_eq!(resource(&list, "endpoints")["singularName"], "endpoints");
}

#[test]
fn groups_have_versions_and_a_preferred_one() {
    let mut site = Site::new();
    let (_, list) = site.get("/apis");
    let groups = list["groups"].as_array().unwrap();
    let apps = groups.iter().find(|group| group["name"] == "apps").unwrap();
    assert_eq!(
        apps["preferredVersion"],
        json!({"groupVersion": "apps/v1", "version": "v1"})
    );
    assert!(
        groups.iter().all(|group| group["name"] != ""),
        "the core group is elsewhere"
    );
    assert_eq!(site.get("/apis/apps").1["versions"], apps["versions"]);
    let (_, list) = site.get("/apis/apps/v1");
    assert_eq!(resource(&list, "deployments")["shortNames"], json!(["deploy"]));
    for path in [
        "/apis/apps/v9",
        "/apis/none",
        "/apis/none/v1",
        "/api/v2",
        "/nowhere",
    ] {
        assert_eq!(site.get(path).0, 404, "{path}");
    }
}

#[test]
fn aggregated_discovery_is_served_to_who_prefers_it() {
    let mut site = Site::new();
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    for (path, group, name) in [
        ("/api", Value::Null, "pods"),
        ("/apis", json!("apps"), "deployments"),
    ] {
        let response = site.request(Method::GET, path, &[("accept", accept)], "");
        assert_eq!(
            response.headers()["content-type"],
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        );
        let list: Value = serde_json::from_slice(response.body()).unwrap();
        assert_eq!(list["kind"], "APIGroupDiscoveryList");
        let mut groups = list["items"].as_array().unwrap().iter();
        let found = groups.find(|it| it["metadata"]["name"] == group).unwrap();
        let version = &found["versions"][0];
        assert_eq!(
            (&version["version"], &version["freshness"]),
            (&json!("v1"), &json!("Current"))
        );
        let mut resources = version["resources"].as_array().unwrap().iter();
        let resource = resources.find(|it| it["resource"] == name).unwrap();
        assert_eq!(
            (&resource["scope"], &resource["responseKind"]["version"]),
            (&json!("Namespaced"), &json!("v1"))
        );
        let mut subresources = resource["subresources"].as_array().unwrap().iter();
        assert!(subresources.any(|it| it["subresource"] == "status"));
    }
    let plain = site.request(Method::GET, "/apis", &[("accept", "application/json")], "");
    assert_eq!(plain.headers()["content-type"], "application/json");
}

#[test]
fn the_server_says_what_and_how_it_is() {
    let mut site = Site::new();
    let (_, version) = site.get("/version");
    assert_eq!(
        (&version["major"], &version["minor"]),
        (&json!("1"), &json!("37"))
    );
    for path in ["/healthz", "/livez", "/readyz", "/readyz/ping"] {
        let response = site.request(Method::GET, path, &[], "");
        assert_eq!(
            (response.status().as_u16(), &response.body()[..]),
            (200, &b"ok"[..])
        );
    }
    assert_eq!(site.get("/openapi/v2").0, 404);
}

#[test]
fn openapi_says_what_a_patch_takes() {
    let mut site = Site::new();
    let (status, root) = site.get("/openapi/v3");
    assert_eq!(status, 200);
    let url = root["paths"]["apis/apps/v1"]["serverRelativeURL"]
        .as_str()
        .unwrap();
    let (status, document) = site.get(url);
    assert_eq!(status, 200);
    let patch = &document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
    assert_eq!(
        patch["x-kubernetes-group-version-kind"],
        json!({"group": "apps", "version": "v1", "kind": "Deployment"})
    );
    let mut parameters = patch["parameters"].as_array().unwrap().iter();
    assert!(parameters.any(|it| it["name"] == "fieldValidation"));
    assert_eq!(site.get("/openapi/v3/apis/nothing/v1").0, 404);
}
