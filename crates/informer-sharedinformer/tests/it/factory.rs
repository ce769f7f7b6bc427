//! The factory: who shares an informer with whom, and until when.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use informer_core::{Decoded, FailureClass, Identity, Resource, SourceError, Stamp};
use informer_reflector::{ListWatch, feed};
use informer_sharedinformer::{Factory, Selection, Sources, TransformError};

use crate::support::{Pod, key};

/// Sources of two forms of object, which count what they make.
#[derive(Clone, Default)]
pub(crate) struct Cluster(Arc<Mutex<Vec<String>>>);

impl Cluster {
    pub(crate) fn source<K: Clone + Send + Sync + 'static>(
        &self,
        selection: &Selection,
        object: K,
    ) -> ListWatch<K> {
        self.0.lock().unwrap().push(selection.to_string());
        let refused = &*selection.resource.plural == "secrets";
        let pod = Decoded {
            identity: Identity {
                namespace: Some("ns".into()),
                name: "a".into(),
                stamp: Stamp::new("1", ""),
            },
            object,
        };
        ListWatch::new(
            move |_| {
                let pod = pod.clone();
                async move {
                    if refused {
                        return Err(SourceError::new(FailureClass::Forbidden, "secrets is forbidden"));
                    }
                    Ok(feed::list([pod], "1"))
                }
            },
            |request: informer_core::WatchRequest| async move {
                if request.initial_events {
                    return Err(SourceError::new(
                        FailureClass::Unsupported,
                        "no streaming lists here",
                    ));
                }
                Ok(feed::from_poll_fn(
                    |_| -> std::task::Poll<Option<Result<_, SourceError>>> { std::task::Poll::Pending },
                ))
            },
        )
    }
}

impl Sources<Pod> for Cluster {
    type Source = ListWatch<Pod>;

    fn source(&self, selection: &Selection) -> ListWatch<Pod> {
        let pod = Pod {
            node: "n".into(),
            version: 1,
        };
        self.source(selection, pod)
    }
}

impl Sources<String> for Cluster {
    type Source = ListWatch<String>;

    fn source(&self, selection: &Selection) -> ListWatch<String> {
        self.source(selection, "pod a".to_owned())
    }
}

pub(crate) fn pods() -> Selection {
    Selection::all(Resource::namespaced("", "v1", "pods", "Pod"))
}

#[tokio::test(start_paused = true)]
async fn the_same_objects_in_the_same_form_are_one_informer() {
    let cluster = Cluster::default();
    let factory = Factory::new(cluster.clone());
    let one = factory.informer::<Pod>(&pods()).unwrap();
    let same = factory.informer::<Pod>(&pods()).unwrap();
    assert!(one.is_same(&same));
    let text = factory.informer::<String>(&pods()).unwrap();
    let in_ns = factory.informer::<Pod>(&pods().namespace("ns")).unwrap();
    let labelled = factory.informer::<Pod>(&pods().labels("app=web")).unwrap();
    let fielded = factory
        .informer::<Pod>(&pods().fields("spec.nodeName=n"))
        .unwrap();
    let shout = Arc::new(|_: &Identity, pod: &mut Pod| {
        pod.node.make_ascii_uppercase();
        Ok::<(), TransformError>(())
    });
    let shouted = factory.transformed(&pods(), &shout).unwrap();
    let shouted_too = factory.transformed(&pods(), &shout.clone()).unwrap();
    let other = factory
        .transformed(&pods(), &Arc::new(|_: &Identity, _: &mut Pod| Ok(())))
        .unwrap();
    assert!(shouted.is_same(&shouted_too));
    for different in [&in_ns, &labelled, &fielded, &shouted, &other] {
        assert!(!different.is_same(&one));
    }
    let made = cluster.0.lock().unwrap().clone();
    let expected = [
        "pods",
        "pods",
        "pods in ns",
        "pods with app=web",
        "pods with spec.nodeName=n",
        "pods",
        "pods",
    ];
    assert_eq!(made, expected);
    factory.start();
    factory.start();
    factory.wait_synced(Duration::from_secs(5)).await.unwrap();
    assert_eq!(shouted.lister().get(&key("ns/a")).unwrap().node, "N");
    assert_eq!(one.lister().get(&key("ns/a")).unwrap().node, "n");
    assert_eq!(*text.lister().get(&key("ns/a")).unwrap(), "pod a");
    assert!(factory.shut_down().await.still_running.is_empty());
    assert!(one.is_stopped() && text.is_stopped());
    let refused = factory.informer::<Pod>(&pods()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "no informer of pods: the factory was shut down"
    );
}

#[tokio::test(start_paused = true)]
async fn an_informer_ends_when_the_last_who_holds_it_lets_go() {
    let factory = Factory::new(Cluster::default());
    let one = factory.informer::<Pod>(&pods()).unwrap();
    factory.start();
    one.synced().await.unwrap();
    let informer = (*one).clone();
    let (two, three) = (one.clone(), factory.informer::<Pod>(&pods()).unwrap());
    drop(one);
    drop(two);
    assert!(!informer.is_stopped());
    drop(three);
    informer.ended().await;
    assert!(factory.status().is_empty());
    // The next who asks gets a new one.
    let next = factory.informer::<Pod>(&pods()).unwrap();
    assert!(!next.is_same(&informer) && !next.is_stopped());
}

#[tokio::test(start_paused = true)]
async fn a_wait_names_each_that_is_missing_and_why() {
    let factory = Factory::new(Cluster::default());
    let _pods = factory.informer::<Pod>(&pods()).unwrap();
    let secrets = Selection::all(Resource::namespaced("", "v1", "secrets", "Secret"));
    let _secrets = factory.informer::<Pod>(&secrets).unwrap();
    factory.start();
    let error = factory.wait_synced(Duration::from_secs(3)).await.unwrap_err();
    assert_eq!(error.missing().len(), 1);
    assert_eq!(error.missing()[0].class(), Some(FailureClass::Forbidden));
    let text = error.to_string();
    assert!(
        text.starts_with(r#"informer "secrets" is not in sync after 3s: "#),
        "{text}"
    );
    assert!(text.contains("secrets is forbidden"), "{text}");
    factory.shut_down().await;
}
