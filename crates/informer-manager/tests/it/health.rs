//! Texts of health and readiness, and what readiness knows.

use informer_manager::{BoxError, Check, Checks, Endpoint, Group, Manager, Reply};

use crate::support::{Log, Probe, get, request};

fn fails(why: &'static str) -> impl Check {
    move || Err::<(), BoxError>(why.into())
}

fn fine() -> Result<(), BoxError> {
    Ok(())
}

fn told(reply: &Reply) -> (u16, &str) {
    (reply.status, std::str::from_utf8(&reply.body).unwrap())
}

#[test]
fn t10_no_checks_are_a_ping() {
    let checks = Checks::new();
    assert_eq!(told(&checks.answer("")), (200, "ok"));
    assert_eq!(
        told(&checks.answer("verbose")),
        (200, "[+]ping ok\nhealthz check passed\n")
    );
    assert_eq!(told(&checks.answer_one("ping")), (200, "ok"));
    assert_eq!(told(&checks.answer_one("pong")), (404, "404 page not found\n"));
}

#[test]
fn t10_a_failure_is_told_line_by_line_without_its_reason() {
    let checks = Checks::new();
    checks.add("good", fine);
    checks.add("bad", fails("the disk is full"));
    let all = "[-]bad failed: reason withheld\n[+]good ok\nhealthz check failed\n";
    assert_eq!(told(&checks.answer("")), (500, all));
    assert_eq!(told(&checks.answer("verbose")), (500, all));
    // The one check tells why.
    let why = "internal server error: the disk is full\n";
    assert_eq!(told(&checks.answer_one("bad")), (500, why));
    assert_eq!(told(&checks.answer_one("good")), (200, "ok"));
    assert_eq!(told(&checks.answer_one("ping")), (404, "404 page not found\n"));
}

#[test]
fn t10_checks_are_excluded_by_name() {
    let checks = Checks::new();
    checks.add("good", fine);
    checks.add("a bad", fails("no"));
    assert_eq!(told(&checks.answer("exclude=a+bad")), (200, "ok"));
    assert_eq!(
        told(&checks.answer("verbose=1&exclude=a%20bad&exclude=who&exclude=what")),
        (
            200,
            "[+]a bad excluded: ok\n[+]good ok\nwarn: some health checks cannot be excluded: no matches for \
             \"what\",\"who\"\nhealthz check passed\n"
        )
    );
    // A check that is excluded is not asked.
    checks.add("a bad", || -> Result<(), BoxError> { panic!("asked") });
    assert_eq!(told(&checks.answer("exclude=a%20bad")), (200, "ok"));
    assert_eq!(
        told(&checks.answer_one("a bad")),
        (500, "internal server error: the check panicked\n")
    );
}

#[test]
fn checks_that_come_and_go() {
    let checks = Checks::new();
    checks.add_many("kinds", || {
        vec![
            ("kind/pods".to_owned(), Ok(())),
            ("kind/nodes".to_owned(), Err("forbidden".into())),
        ]
    });
    assert_eq!(
        told(&checks.answer("")),
        (
            500,
            "[-]kind/nodes failed: reason withheld\n[+]kind/pods ok\nhealthz check failed\n"
        )
    );
    assert_eq!(
        told(&checks.answer_one("kind/nodes")),
        (500, "internal server error: forbidden\n")
    );
    checks.remove("kinds");
    assert_eq!(told(&checks.answer("")), (200, "ok"));
}

#[tokio::test]
async fn t10_served_as_controller_runtime_does() {
    let log = Log::default();
    let (ready, cache) = Probe::new("cache", Group::Caches, &log).held();
    let manager = Manager::builder()
        .health_addr("127.0.0.1:0".parse().unwrap())
        .metrics(|| "up 1\n".to_owned())
        .healthz("disk", fails("full"))
        .route("/hello", |request: &informer_manager::Request<'_>| {
            Reply::text(200, format!("{} {}", request.rest, request.query))
        })
        .runnable(cache)
        .build()
        .unwrap();
    let address = manager.health_addr().unwrap();
    assert_eq!(manager.metrics_addr(), Some(address));
    let running = manager.spawn();

    assert_eq!(
        get(address, "/healthz/disk").await,
        (500, "internal server error: full\n".into())
    );
    assert_eq!(get(address, "/healthz/").await.0, 500);
    assert_eq!(get(address, "/healthz?exclude=disk").await, (200, "ok".into()));
    assert_eq!(
        get(address, "/healthzz").await,
        (404, "404 page not found\n".into())
    );
    assert_eq!(
        get(address, "/hello/wor%6Cd?a=b").await,
        (200, "/world a=b".into())
    );

    // Ready when everything was started.
    assert_eq!(
        get(address, "/readyz").await,
        (
            500,
            "[-]manager failed: reason withheld\nhealthz check failed\n".into()
        )
    );
    assert_eq!(
        get(address, "/readyz/manager").await,
        (500, "internal server error: starting: waits for caches\n".into())
    );
    ready.send_replace(true);
    running.handle().started().await;
    assert_eq!(get(address, "/readyz").await, (200, "ok".into()));
    // More at any time, which controller-runtime refuses.
    running.handle().readyz().add("later", fails("not yet"));
    assert_eq!(get(address, "/readyz/later").await.0, 500);

    let answer = request(address, "GET", "/metrics").await;
    assert_eq!((answer.status, &*answer.body), (200, "up 1\n"));
    assert!(
        answer
            .head
            .contains("content-type: text/plain; version=0.0.4; charset=utf-8"),
        "{}",
        answer.head
    );
    assert!(answer.head.contains("x-content-type-options: nosniff"));
    let head = request(address, "HEAD", "/metrics").await;
    assert_eq!((head.status, &*head.body), (200, ""));
    assert!(head.head.contains("content-length: 5"), "{}", head.head);
    assert_eq!(request(address, "POST", "/healthz").await.status, 405);
    running.stop().await.unwrap();
}

#[tokio::test]
async fn metrics_may_have_an_address_of_their_own() {
    let manager = Manager::builder()
        .health_addr("127.0.0.1:0".parse().unwrap())
        .metrics_addr("127.0.0.1:0".parse().unwrap())
        .metrics(|| "up 1\n".to_owned())
        .build()
        .unwrap();
    let (health, metrics) = (manager.health_addr().unwrap(), manager.metrics_addr().unwrap());
    assert_ne!(health, metrics);
    let running = manager.spawn();
    assert_eq!(get(health, "/metrics").await.0, 404);
    assert_eq!(get(metrics, "/metrics").await, (200, "up 1\n".into()));
    assert_eq!(get(metrics, "/healthz").await.0, 404);
    running.stop().await.unwrap();
}

#[test]
fn what_does_not_fit_is_refused() {
    let error = |builder: informer_manager::Builder| builder.build().unwrap_err().to_string();
    let addr = "127.0.0.1:0".parse().unwrap();
    assert_eq!(
        error(Manager::builder().metrics(String::new)),
        "metrics or paths to serve, and no address to serve them at"
    );
    assert_eq!(
        error(Manager::builder().metrics_addr(addr)),
        "an address for metrics, and no metrics"
    );
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap();
    assert_eq!(
        error(Manager::builder().health_addr(addr)),
        format!("cannot serve health at {addr}")
    );
    let log = Log::default();
    let twice = Manager::builder()
        .runnable(Probe::new("one", Group::Others, &log))
        .runnable(Probe::new("one", Group::Others, &log));
    assert_eq!(error(twice), "a runnable does not fit");
}

#[test]
fn contracts_are_dyn_compatible() {
    fn _of(
        _: &dyn Check,
        _: &dyn Endpoint,
        _: &dyn informer_manager::Runnable,
        _: &dyn informer_manager::Candidate,
    ) {
    }
}
