//! From what people call a kind to the kind.

use informer_client::{Discovery, ResolveError, RestMapper};
use informer_core::{Resource, Scope};

use crate::scripted::{Answer, Scripted, ok, run, status};

/// `/api` and `/apis` of a server that answers with everything at once.
fn aggregated() -> Vec<Answer> {
    let kind = |plural: &str, kind: &str, scope: &str, short: &str| {
        format!(
            r#"{{"resource":"{plural}","responseKind":{{"group":"","version":"","kind":"{kind}"}},"scope":"{scope}",
                "singularResource":"{}","verbs":["get","list","watch"],"shortNames":[{short}],"subresources":[]}}"#,
            kind.to_lowercase()
        )
    };
    let group = |name: &str, versions: &[(&str, Vec<String>)]| {
        let versions: Vec<String> = versions
            .iter()
            .map(|(version, kinds)| {
                format!(
                    r#"{{"version":"{version}","resources":[{}],"freshness":"Current"}}"#,
                    kinds.join(",")
                )
            })
            .collect();
        let metadata = if name.is_empty() {
            "{}".to_owned()
        } else {
            format!(r#"{{"name":"{name}"}}"#)
        };
        format!(r#"{{"metadata":{metadata},"versions":[{}]}}"#, versions.join(","))
    };
    let list = |groups: &[String]| {
        ok(&format!(
            r#"{{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{{}},"items":[{}]}}"#,
            groups.join(",")
        ))
    };
    let core = [
        kind("pods", "Pod", "Namespaced", "\"po\""),
        kind("nodes", "Node", "Cluster", "\"no\""),
        kind("events", "Event", "Namespaced", "\"ev\""),
    ];
    let deployments = || kind("deployments", "Deployment", "Namespaced", "\"deploy\"");
    vec![
        list(&[group("", &[("v1", core.to_vec())])]),
        list(&[
            group(
                "apps",
                &[
                    ("v1", vec![deployments()]),
                    ("v1beta1", vec![deployments(), kind("olds", "Old", "Cluster", "")]),
                ],
            ),
            group(
                "events.k8s.io",
                &[("v1", vec![kind("events", "Event", "Namespaced", "\"ev\"")])],
            ),
            group(
                "example.com",
                &[(
                    "v2",
                    vec![kind("widgets", "Widget", "Namespaced", "\"no\",\"wi\"")],
                )],
            ),
        ]),
    ]
}

/// The same server, in the old form: a request for each group version.
fn one_by_one() -> Vec<Answer> {
    let kind = |plural: &str, kind: &str, namespaced: bool, short: &str| {
        format!(
            r#"{{"name":"{plural}","singularName":"","namespaced":{namespaced},"kind":"{kind}","verbs":["get","list","watch"],"shortNames":[{short}]}}"#
        )
    };
    let list = |kinds: &[String]| {
        ok(&format!(
            r#"{{"kind":"APIResourceList","resources":[{}]}}"#,
            kinds.join(",")
        ))
    };
    let deployments = || kind("deployments", "Deployment", true, "\"deploy\"");
    vec![
        ok(r#"{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[]}"#),
        list(&[
            kind("pods", "Pod", true, "\"po\""),
            kind("pods/status", "Pod", true, ""),
            kind("nodes", "Node", false, "\"no\""),
            kind("events", "Event", true, "\"ev\""),
        ]),
        ok(r#"{"kind":"APIGroupList","apiVersion":"v1","groups":[
            {"name":"apps","versions":[{"groupVersion":"apps/v1beta1","version":"v1beta1"},{"groupVersion":"apps/v1","version":"v1"}],
             "preferredVersion":{"groupVersion":"apps/v1","version":"v1"}},
            {"name":"events.k8s.io","versions":[{"groupVersion":"events.k8s.io/v1","version":"v1"}]},
            {"name":"example.com","versions":[{"groupVersion":"example.com/v2","version":"v2"}]}]}"#),
        list(&[deployments()]),
        list(&[deployments(), kind("olds", "Old", false, "")]),
        list(&[kind("events", "Event", true, "\"ev\"")]),
        list(&[kind("widgets", "Widget", true, "\"no\",\"wi\"")]),
    ]
}

fn discover(answers: Vec<Answer>) -> (Scripted, Discovery) {
    let (log, client) = Scripted::new(answers);
    let discovery = run(Discovery::fetch(&client)).unwrap();
    (log, discovery)
}

const NAMES: [(&str, &str); 19] = [
    ("pods", "v1/pods Pod"),
    ("pod", "v1/pods Pod"),
    ("po", "v1/pods Pod"),
    ("Pod", "v1/pods Pod"),
    ("PODS", "v1/pods Pod"),
    ("nodes", "v1/nodes Node"),
    ("no", "v1/nodes Node"),
    ("events", "v1/events Event"),
    ("events.events.k8s.io", "events.k8s.io/v1/events Event"),
    ("events.v1.events.k8s.io", "events.k8s.io/v1/events Event"),
    ("deployments", "apps/v1/deployments Deployment"),
    ("deployments.apps", "apps/v1/deployments Deployment"),
    ("deploy", "apps/v1/deployments Deployment"),
    ("deploy.apps", "apps/v1/deployments Deployment"),
    ("deployments.v1.apps", "apps/v1/deployments Deployment"),
    ("deployments.v1beta1.apps", "apps/v1beta1/deployments Deployment"),
    ("olds", "apps/v1beta1/olds Old"),
    ("widgets.example.com", "example.com/v2/widgets Widget"),
    ("widgets.v2.example.com", "example.com/v2/widgets Widget"),
];

#[test]
fn names_resolve_in_both_forms_of_discovery() {
    for answers in [aggregated(), one_by_one()] {
        let (_, discovery) = discover(answers);
        for (name, expected) in NAMES {
            let found = discovery.resolve(name).unwrap_or_else(|error| panic!("{error}"));
            let Resource { plural, kind, .. } = &found.resource;
            assert_eq!(
                format!("{}/{plural} {kind}", found.resource.api_version()),
                expected,
                "{name}"
            );
            assert!(found.has_verb("watch"));
        }
        assert_eq!(discovery.resolve("no").unwrap().resource.scope, Scope::Cluster);
        assert_eq!(discovery.resolve("po").unwrap().resource.scope, Scope::Namespaced);
    }
}

#[test]
fn the_old_form_takes_a_request_for_each_group_version() {
    let (log, _) = discover(one_by_one());
    assert_eq!(
        log.requests(),
        [
            "GET /api",
            "GET /api/v1",
            "GET /apis",
            "GET /apis/apps/v1",
            "GET /apis/apps/v1beta1",
            "GET /apis/events.k8s.io/v1",
            "GET /apis/example.com/v2",
        ]
    );
    let (log, _) = discover(aggregated());
    assert_eq!(log.requests(), ["GET /api", "GET /apis"]);
    assert!(log.header("accept").contains("as=APIGroupDiscoveryList"));
}

#[test]
fn unknown_names_get_near_ones() {
    let (_, discovery) = discover(aggregated());
    for (name, expected) in [
        ("podz", "the server has no resource \"podz\"; did you mean pods?"),
        (
            "deploymnets",
            "the server has no resource \"deploymnets\"; did you mean deployments.apps?",
        ),
        (
            "dep",
            "the server has no resource \"dep\"; did you mean deployments.apps?",
        ),
        (
            "evnet",
            "the server has no resource \"evnet\"; did you mean events, events.events.k8s.io?",
        ),
        (
            "widgets.example.org",
            "the server has no resource \"widgets.example.org\"; did you mean widgets.example.com?",
        ),
        (
            "pods.v2.",
            "the server has no resource \"pods.v2.\"; did you mean pods?",
        ),
        ("zebras", "the server has no resource \"zebras\""),
        ("", "the server has no resource \"\""),
    ] {
        assert_eq!(discovery.resolve(name).unwrap_err().to_string(), expected);
    }
    let unknown = discovery.resolve("podz").unwrap_err();
    assert_eq!(
        (unknown.name(), unknown.near()),
        ("podz", &["pods".to_owned()][..])
    );
}

#[test]
fn a_group_that_does_not_answer_hides_no_other() {
    let mut answers = one_by_one();
    answers[5] = status(
        503,
        r#"{"kind":"Status","message":"the server is down","code":503}"#,
    );
    let (_, discovery) = discover(answers);
    assert!(discovery.resolve("widgets").is_ok());
    let error = discovery.resolve("events.events.k8s.io").unwrap_err().to_string();
    assert!(
        error.ends_with("; what events.k8s.io has is not known: the server is down"),
        "{error}"
    );
    let error = discovery.resolve("zebras.example.com").unwrap_err().to_string();
    assert!(
        !error.contains("is down"),
        "it has nothing to do with that group: {error}"
    );
}

#[test]
fn discovery_itself_may_fail() {
    let (_, client) = Scripted::new([status(401, "")]);
    let error = run(client.resolve("pods")).unwrap_err();
    assert_eq!(error.to_string(), "the server answered 401 Unauthorized");
    let (_, client) = Scripted::new(aggregated());
    let found = run(client.resolve("po")).unwrap();
    assert_eq!(&*found.resource.plural, "pods");
}

#[test]
fn a_mapper_asks_once_and_again_for_what_it_does_not_know() {
    let n_requests = aggregated().len();
    let answers = aggregated().into_iter().chain(aggregated()).chain(aggregated());
    let (log, client) = Scripted::new(answers);
    let mapper = RestMapper::new(&client);
    assert!(log.requests().is_empty());
    let pods = run(mapper.resolve("po")).unwrap();
    assert_eq!(&*pods.resource.kind, "Pod");
    let deployments = run(mapper.of_kind("apps/v1", "Deployment")).unwrap();
    assert_eq!(&*deployments.resource.plural, "deployments");
    assert_eq!(log.requests().len(), n_requests, "the second was known");

    let missing = run(mapper.of_kind("apps/v1", "Gone")).unwrap_err();
    assert!(missing.to_string().contains("Gone of apps/v1"), "{missing}");
    assert_eq!(
        log.requests().len(),
        2 * n_requests,
        "it might have come meanwhile"
    );
    mapper.reset();
    run(mapper.resolve("pods")).unwrap();
    assert_eq!(log.requests().len(), 3 * n_requests);
}

#[test]
fn a_mapper_that_cannot_ask_keeps_what_it_knows() {
    let answers = aggregated().into_iter().chain([status(503, "")]);
    let (_, client) = Scripted::new(answers);
    let mapper = RestMapper::new(&client);
    run(mapper.resolve("pods")).unwrap();
    assert!(matches!(
        run(mapper.resolve("nothing")),
        Err(ResolveError::Failed(_))
    ));
    assert!(run(mapper.resolve("pods")).is_ok());
}
