//! Over HTTP, at the embedded server.

use informer_apiserver::Server;
use informer_cache::{Cache, CachedClient};
use informer_client::{
    DeleteOptions, Kinds, ListOptions, LiveClient, ReadClientExt, WriteClientExt, WriteOptions,
};
use informer_hyper::HyperTransport;
use k8s_openapi::api::core::v1::ConfigMap;

use crate::{
    own_writes::config,
    support::{key, secs},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn own_writes_are_read_over_http() {
    let server = Server::start(informer_apiserver::Options::default())
        .await
        .unwrap();
    let transport = HyperTransport::builder(server.url()).build().unwrap();
    let cache = Cache::new(LiveClient::new(transport, Kinds::kubernetes()));
    cache.kind::<ConfigMap>().unwrap();
    cache.start();
    cache.wait_synced(secs(30)).await.unwrap();
    let client = CachedClient::new(cache.clone()).read_your_writes();
    for n in 0..50 {
        let name = format!("a{n}");
        client
            .create(&config(&name), &WriteOptions::default())
            .await
            .unwrap();
        assert!(client.find::<ConfigMap>(&key(&name)).await.unwrap().is_some());
        let mut read = (*client.get::<ConfigMap>(&key(&name)).await.unwrap()).clone();
        read.data = Some([("n".to_owned(), n.to_string())].into());
        client.update(&read, &WriteOptions::default()).await.unwrap();
        assert_eq!(
            client.get::<ConfigMap>(&key(&name)).await.unwrap().data,
            read.data
        );
        if n % 2 == 0 {
            client
                .delete::<ConfigMap>(&key(&name), &DeleteOptions::default())
                .await
                .unwrap();
            assert!(client.find::<ConfigMap>(&key(&name)).await.unwrap().is_none());
        }
        let all = client
            .list::<ConfigMap>(&ListOptions::all().in_namespace("default"))
            .await
            .unwrap();
        assert_eq!(all.entries.len(), n / 2 + n % 2);
    }
    assert!(cache.shut_down().await.still_running.is_empty());
    server.shutdown().await;
}
