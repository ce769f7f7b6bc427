//! Whole answers.

use http::{Method, Request};
use informer_apiserver::Server;
use informer_testkit::{Fault, On};
use serde_json::json;

use crate::client::{configmaps, get, http2, json as body, named, pods, send};

const CONFIGMAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test]
async fn objects_are_written_and_read() {
    let server = Server::start(Default::default()).await.unwrap();
    let address = server.address();
    assert_eq!(server.url(), format!("http://{address}"));
    let create = Request::post(CONFIGMAPS)
        .header("content-type", "application/json")
        .body(named("a").to_string())
        .unwrap();
    let response = send(address, create).await.unwrap();
    assert_eq!(response.status(), 201);
    let created = body(response).await;
    assert_eq!(
        server
            .with(|api| api.get(&configmaps(), Some("default"), "a"))
            .unwrap(),
        created
    );
    let list = body(send(address, get(CONFIGMAPS)).await.unwrap()).await;
    assert_eq!(list["items"][0]["metadata"], created["metadata"]);
    let delete = Request::builder()
        .method(Method::DELETE)
        .uri(format!("{CONFIGMAPS}/a"))
        .body(String::new())
        .unwrap();
    assert_eq!(send(address, delete).await.unwrap().status(), 200);
    assert_eq!(
        send(address, get(&format!("{CONFIGMAPS}/a")))
            .await
            .unwrap()
            .status(),
        404
    );
    server.shutdown().await;
}

#[tokio::test]
async fn whole_answers_have_a_length() {
    let server = Server::start(Default::default()).await.unwrap();
    let response = send(server.address(), get("/version")).await.unwrap();
    let length: usize = response.headers()["content-length"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(body(response).await.to_string().len(), length);
    server.shutdown().await;
}

#[tokio::test]
async fn one_http2_connection_serves_many_requests() {
    let server = Server::start(Default::default()).await.unwrap();
    server.with(|api| api.create(&configmaps(), named("a"))).unwrap();
    let sender = http2(server.address()).await;
    let request = |uri: &str| {
        let mut sender = sender.clone();
        let uri = format!("{}{uri}", server.url());
        async move {
            let request = Request::get(uri).body(Default::default()).unwrap();
            sender.send_request(request).await.unwrap()
        }
    };
    let (list, version, missing) =
        tokio::join!(request(CONFIGMAPS), request("/version"), request("/nowhere"));
    assert_eq!(list.version(), http::Version::HTTP_2);
    assert_eq!(body(list).await["items"].as_array().unwrap().len(), 1);
    assert_eq!(body(version).await["minor"], "37");
    assert_eq!(missing.status(), 404);
    server.shutdown().await;
}

#[tokio::test]
async fn a_refusal_is_a_connection_without_an_answer() {
    let server = Server::start(Default::default()).await.unwrap();
    server.with(|api| {
        api.faults()
            .once(On::any(), Fault::Refused)
            .once(On::list(), Fault::half_line_after(0));
        api.create(&configmaps(), named("a")).unwrap();
    });
    send(server.address(), get("/version")).await.unwrap_err();
    let cut = send(server.address(), get(CONFIGMAPS)).await.unwrap();
    assert_eq!(cut.status(), 200);
    http_body_util::BodyExt::collect(cut.into_body())
        .await
        .unwrap_err();
    assert_eq!(
        send(server.address(), get("/version")).await.unwrap().status(),
        200
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let server = Server::start(Default::default()).await.unwrap();
    let large = json!({"metadata": {"name": "a"}, "data": {"k": "x".repeat(4 << 20)}});
    let create = Request::post(CONFIGMAPS).body(large.to_string()).unwrap();
    assert_eq!(send(server.address(), create).await.unwrap().status(), 413);
    server.shutdown().await;
}

#[tokio::test]
async fn what_is_served_can_be_built_beforehand() {
    let mut api = informer_testkit::FakeApi::with_builtins();
    api.create(&pods(), named("p")).unwrap();
    let server = Server::start(api.into()).await.unwrap();
    let list = body(send(server.address(), get("/api/v1/pods")).await.unwrap()).await;
    assert_eq!(list["items"][0]["metadata"]["name"], "p");
    server.shutdown().await;
}
