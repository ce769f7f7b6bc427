//! What a builder refuses, in a sentence that names the controller.

use std::convert::Infallible;

use informer_controller::{Action, Attempt, Builder, Controller, Reconciler, channel, reconcile_fn};
use informer_core::TokioClock;
use informer_workqueue::{ItemExponential, Queue};

async fn nothing(_: u32, _: Attempt) -> Result<Action, Infallible> {
    Ok(Action::Done)
}

fn refused(builder: Builder<u32>) -> String {
    builder.build().unwrap_err().to_string()
}

#[test]
fn refuses_what_cannot_work() {
    let builder = || Controller::builder("web").source(channel("x").1);
    assert_eq!(refused(builder()), r#"controller "web" has no reconciler"#);
    let twice = builder().reconcile(nothing).reconciler(reconcile_fn(nothing));
    assert_eq!(refused(twice), r#"controller "web" has several reconcilers"#);
    let blind = Controller::builder("web").reconcile(nothing);
    assert_eq!(refused(blind), r#"controller "web" watches nothing"#);
    let idle = builder().reconcile(nothing).concurrency(0);
    assert_eq!(refused(idle), r#"controller "web" has a concurrency of zero"#);
    let double = builder()
        .reconcile(nothing)
        .queue(Queue::new(TokioClock))
        .limiter(ItemExponential::default());
    assert_eq!(
        refused(double),
        r#"controller "web" was given a queue: give limiter and metrics to that queue"#
    );
    let metered = builder()
        .reconcile(nothing)
        .queue(Queue::new(TokioClock))
        .queue_metrics(());
    assert!(metered.build().is_err());
    let controller = builder().reconcile(nothing).build().unwrap();
    assert_eq!(controller.name(), "web");
}

#[tokio::test]
async fn a_reconciler_can_be_called_by_hand() {
    let reconciler = reconcile_fn(nothing);
    assert_eq!(reconciler.reconcile(1, Attempt::new(1)).await, Ok(Action::Done));
}
