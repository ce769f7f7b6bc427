//! LP-01: paging parameters and the last page.

use case_tests::{Mode, Options, PATH, World, config_map};
use informer_testkit::{Answer, Expect, ScriptedTransport};
use serde_json::{Value, json};

fn page(items: &[Value], metadata: &Value) -> Answer {
    Answer::json(&json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": metadata, "items": items}))
}

fn continued(token: &str) -> Expect {
    // A real server answers 400 to a token with a version.
    Expect::list(PATH)
        .with("continue", token)
        .without("resourceVersion")
        .without("resourceVersionMatch")
}

async fn check(middle: &[Value], last: &Value) {
    let transport = ScriptedTransport::new();
    let first = json!({"resourceVersion": "9", "continue": "t1"});
    transport.on(
        Expect::list(PATH).without("continue"),
        page(&[config_map("a", "1")], &first),
    );
    transport.on(
        continued("t1"),
        page(middle, &json!({"resourceVersion": "9", "continue": "t2"})),
    );
    // The last page arrives when the test says so.
    transport.on(continued("t2"), Answer::status(200).then_hang());
    transport.on(
        Expect::watch(PATH).with("resourceVersion", "9"),
        Answer::status(200).then_hang(),
    );

    let world = World::start_with(&transport, Mode::List, Options::default());
    world
        .until("three lists", || transport.requests().len() == 3)
        .await;
    assert_eq!(world.stored(), [""; 0], "nothing is seen before the last page");
    assert!(!world.informer.has_synced());

    let body = transport.open_body().expect("the last page is read");
    let items = [config_map("c", "3")];
    body.push(
        json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": last, "items": items}).to_string(),
    );
    body.close();
    world.until("a watch", || transport.requests().len() == 4).await;
    let mut expected = vec!["ns/a@1".to_owned(), "ns/c@3".to_owned()];
    if !middle.is_empty() {
        expected.insert(1, "ns/b@2".to_owned());
    }
    world.until("synced", || world.informer.has_synced()).await;
    assert_eq!(world.stored(), expected);
    assert!(transport.unexpected().is_empty(), "{:?}", transport.unexpected());
    let watches = transport.requests().iter().filter(|it| it.is_watch()).count();
    assert_eq!(
        (transport.requests().len(), watches),
        (4, 1),
        "three lists, one watch"
    );
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn lp_01_list_ends_at_a_page_without_token() {
    let b = [config_map("b", "2")];
    check(&b, &json!({"resourceVersion": "9", "continue": ""})).await;
    check(&b, &json!({"resourceVersion": "9", "continue": null})).await;
    check(&b, &json!({"resourceVersion": "9"})).await;
}

#[tokio::test(start_paused = true)]
async fn lp_01_page_may_be_empty_and_go_on() {
    check(&[], &json!({"resourceVersion": "9"})).await;
}
