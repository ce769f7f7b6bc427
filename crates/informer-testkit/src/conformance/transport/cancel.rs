//! Checks of what is given up.

use informer_transport::Transport;

use super::{Rig, get};
use crate::conformance::check::{Outcome, ensure};

/// Whether something waits to be read or not, the server learns that nobody will.
pub(super) async fn a_dropped_body<T: Transport + 'static>(rig: &Rig<T>) -> Outcome {
    let (transport, far, _guard) = rig.fresh().await;
    for n_read in [0, 2] {
        let (sent, exchange) = rig.ask(&transport, &far, get("/watch")).await?;
        let body = exchange.head(200);
        let mut answer = rig.response(sent).await?;
        if n_read > 0 {
            body.push("{}");
            rig.read(&mut answer, n_read).await?;
        }
        ensure!(
            !body.is_dropped(),
            "the body is read, and the server was told that nobody does"
        );
        drop(answer);
        ensure!(
            rig.patience.until(|| body.is_dropped()).await,
            "the body was dropped, and the server goes on sending it"
        );
    }
    // What comes after is not disturbed.
    let (mut answer, exchange) = rig.open(&transport, &far, "/after").await?;
    ensure!(
        exchange.request.uri().path() == "/after",
        "another request arrived"
    );
    let early = rig.patience.glance(answer.next()).await;
    ensure!(
        early.is_none(),
        "a request after those that were given up gets {early:?}"
    );
    Ok(())
}

pub(super) async fn a_dropped_send<T: Transport + 'static>(rig: &Rig<T>) -> Outcome {
    let (transport, far, _guard) = rig.fresh().await;
    let (sent, exchange) = rig.ask(&transport, &far, get("/slow")).await?;
    ensure!(
        !exchange.is_given_up(),
        "the answer is waited for, and the server was told that it is not"
    );
    drop(sent);
    ensure!(
        rig.patience.until(|| exchange.is_given_up()).await,
        "a request was given up, and the server still works on it"
    );
    // One that was never polled was never sent.
    drop(transport.send(get("/never")));
    let (_answer, exchange) = rig.open(&transport, &far, "/after").await?;
    let path = exchange.request.uri().path();
    ensure!(
        path == "/after",
        "{path} was given up before it was sent, and arrives"
    );
    Ok(())
}
