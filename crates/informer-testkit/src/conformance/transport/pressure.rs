//! Checks of what is not read.

use bytes::Bytes;
use informer_transport::Transport;

use super::{Rig, get};
use crate::{
    conformance::check::{Outcome, ensure},
    scripted::BodyHandle,
};

const CHUNK: usize = 64 << 10;

/// More than sockets, windows and buffers on both sides hold together.
const N_CHUNKS: usize = 1024;

/// What may be on the way while nobody reads: the buffers of two sockets are some megabytes each.
const N_ON_THE_WAY: usize = 384;

/// Sends all chunks at once. They share their memory.
fn flood(body: &BodyHandle) {
    let chunk = Bytes::from(vec![b'x'; CHUNK]);
    for _ in 0..N_CHUNKS {
        body.push(chunk.clone());
    }
}

pub(super) async fn an_unread_body_waits<T: Transport + 'static>(rig: &Rig<T>) -> Outcome {
    let (transport, far, _guard) = rig.fresh().await;
    let (sent, exchange) = rig.ask(&transport, &far, get("/big")).await?;
    let body = exchange.head(200);
    flood(&body);
    let mut answer = rig.response(sent).await?;
    rig.read(&mut answer, 1).await?;
    // Until nothing moves any more.
    let mut before = usize::MAX;
    while before != body.n_waiting() {
        before = body.n_waiting();
        rig.patience.glance(std::future::pending::<()>()).await;
    }
    let n_taken = N_CHUNKS - body.n_waiting();
    ensure!(
        n_taken <= N_ON_THE_WAY,
        "one byte was read, and {} MB were taken from the server",
        (n_taken * CHUNK) >> 20
    );
    // It goes on when somebody reads.
    rig.read(&mut answer, 2 * N_ON_THE_WAY * CHUNK).await?;
    Ok(())
}

pub(super) async fn one_holds_up_no_other<T: Transport + 'static>(rig: &Rig<T>) -> Outcome {
    let (transport, far, _guard) = rig.fresh().await;
    let unanswered = rig.ask(&transport, &far, get("/unanswered")).await?;
    let (sent, unread) = rig.ask(&transport, &far, get("/unread")).await?;
    flood(&unread.head(200));
    let unread = rig.response(sent).await?;
    for path in ["/one", "/two"] {
        let (sent, exchange) = rig.ask(&transport, &far, get(path)).await?;
        let body = exchange.head(200);
        body.push(path);
        let mut answer = rig.response(sent).await?;
        let read = rig.read(&mut answer, path.len()).await?;
        ensure!(read == path.as_bytes(), "{path} has another answer");
    }
    drop((unanswered, unread));
    Ok(())
}
