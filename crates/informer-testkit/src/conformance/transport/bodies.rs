//! Checks of what comes of a body.

use std::{
    future::Future as _,
    io,
    pin::pin,
    task::{Context, Waker},
};

use informer_transport::Transport;

use super::{Read, Rig};
use crate::{
    Rng,
    conformance::{
        check::{Outcome, ensure},
        probe::Wakes,
    },
};

/// Half a line is given out while the other half is not there yet.
pub(super) async fn as_they_arrive<T: Transport + 'static>(rig: &Rig<T>) -> Outcome {
    let (transport, far, _guard) = rig.fresh().await;
    let (sent, exchange) = rig.ask(&transport, &far, super::get("/watch")).await?;
    let body = exchange.head(200);
    let mut answer = rig.response(sent).await?;
    for piece in [
        "{\"type\":\"AD",
        "DED\"}",
        "\n",
        "{",
        "}\n{\"type\":\"DELETED\"}\n{\"ty",
    ] {
        body.push(piece);
        let read = rig.read(&mut answer, piece.len()).await?;
        ensure!(
            read == piece.as_bytes(),
            "{piece:?} was sent, and what comes is {:?}",
            String::from_utf8_lossy(&read)
        );
    }
    Ok(())
}

/// Whatever the pieces, and whoever is ahead.
pub(super) async fn in_the_order_of_the_server<T: Transport + 'static>(
    rig: &Rig<T>,
    mut rng: Rng,
) -> Outcome {
    let (transport, far, _guard) = rig.fresh().await;
    let (sent, exchange) = rig.ask(&transport, &far, super::get("/watch")).await?;
    let body = exchange.head(200);
    let mut answer = rig.response(sent).await?;
    let (mut n_sent, mut n_read) = (0_usize, 0_usize);
    let byte = |at: usize| (at % 251) as u8;
    for _ in 0..30 {
        for _ in 0..=rng.index(4) {
            let at_most = [1, 20, 3000, 40_000][rng.index(4)];
            let n = 1 + rng.index(at_most);
            let piece: Vec<u8> = (n_sent..n_sent + n).map(byte).collect();
            body.push(piece);
            n_sent += n;
        }
        let wanted = rng.index(n_sent - n_read + 1);
        for got in rig.read(&mut answer, wanted).await? {
            ensure!(got == byte(n_read), "byte {n_read} is another one");
            n_read += 1;
        }
    }
    body.close();
    for got in rig.read(&mut answer, n_sent - n_read).await? {
        ensure!(got == byte(n_read), "byte {n_read} is another one");
        n_read += 1;
    }
    let end = rig.patience.wait(answer.next()).await;
    ensure!(
        end == Some(Read::End) && n_read == n_sent,
        "{n_sent} bytes were sent and read, and then comes {end:?}"
    );
    Ok(())
}

/// Bodies move between tasks: the latest who waits is woken.
pub(super) async fn who_waits_is_woken<T: Transport + 'static>(rig: &Rig<T>) -> Outcome {
    let (transport, far, _guard) = rig.fresh().await;
    let (sent, exchange) = rig.ask(&transport, &far, super::get("/watch")).await?;
    let body = exchange.head(200);
    let mut answer = rig.response(sent).await?;
    let (wakes, waker) = Wakes::new();
    for waker in [Waker::noop(), &waker] {
        let poll = pin!(answer.next()).poll(&mut Context::from_waker(waker));
        ensure!(poll.is_pending(), "nothing was sent yet, and it does not wait");
    }
    body.push("x");
    ensure!(
        rig.patience.until(|| wakes.count() > 0).await,
        "a byte was sent, and the latest who waited for it was not woken"
    );
    rig.read(&mut answer, 1).await?;
    Ok(())
}

pub(super) async fn a_clean_end<T: Transport + 'static>(rig: &Rig<T>) -> Outcome {
    let (transport, far, _guard) = rig.fresh().await;
    for waits in [false, true] {
        let (sent, exchange) = rig.ask(&transport, &far, super::get("/watch")).await?;
        let body = exchange.head(200);
        let mut answer = rig.response(sent).await?;
        body.push("{}\n");
        if waits {
            rig.read(&mut answer, 3).await?;
        }
        body.close();
        if !waits {
            rig.read(&mut answer, 3).await?;
        }
        let end = rig.patience.wait(answer.next()).await;
        ensure!(
            end == Some(Read::End),
            "the server ended the body, and what comes is {end:?}"
        );
    }
    Ok(())
}

/// At the end of a line as well as within one.
pub(super) async fn a_cut_body<T: Transport + 'static>(rig: &Rig<T>) -> Outcome {
    let (transport, far, _guard) = rig.fresh().await;
    for piece in ["{\"type\":\"ADDED\"}\n", "{\"type\":\"AD", ""] {
        let (sent, exchange) = rig.ask(&transport, &far, super::get("/watch")).await?;
        let body = exchange.head(200);
        let mut answer = rig.response(sent).await?;
        body.push(piece);
        rig.read(&mut answer, piece.len()).await?;
        body.fail(io::ErrorKind::ConnectionReset);
        let end = rig.patience.wait(answer.next()).await;
        ensure!(
            end == Some(Read::Error),
            "the body broke off after {piece:?}, and what comes is {end:?}"
        );
    }
    Ok(())
}
