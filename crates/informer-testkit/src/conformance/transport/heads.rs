//! Checks of requests and of the heads of responses.

use bytes::Bytes;
use http::{HeaderValue, Method, header::CONTENT_TYPE};
use informer_transport::Transport;

use super::{Read, Rig, get};
use crate::conformance::check::{Outcome, ensure};

pub(super) async fn a_request_arrives_whole<T: Transport + 'static>(rig: &Rig<T>) -> Outcome {
    let (transport, far, _guard) = rig.fresh().await;
    let path = "/api/v1/namespaces/a%20b/pods?labelSelector=app%3Dweb%2Ctier%20in%20(a)&limit=5";
    let mut request = get(path);
    *request.method_mut() = Method::PATCH;
    let json = HeaderValue::from_static("application/merge-patch+json");
    request.headers_mut().insert(CONTENT_TYPE, json.clone());
    let body: Bytes = (0..100_000_u32).map(|n| (n % 251) as u8).collect();
    *request.body_mut() = body.clone();
    let (sent, exchange) = rig.ask(&transport, &far, request).await?;
    let seen = &exchange.request;
    let uri = seen.uri().path_and_query().map(|it| it.as_str());
    ensure!(
        *seen.method() == Method::PATCH,
        "a PATCH arrives as {}",
        seen.method()
    );
    ensure!(uri == Some(path), "{path} arrives as {uri:?}");
    let content_type = seen.headers().get(CONTENT_TYPE);
    ensure!(
        content_type == Some(&json),
        "its content type arrives as {content_type:?}"
    );
    let n = seen.body().len();
    ensure!(
        *seen.body() == body,
        "its body of {} bytes arrives as another, of {n}",
        body.len()
    );
    exchange.head(201).close();
    let mut answer = rig.response(sent).await?;
    ensure!(
        answer.head.status() == 201,
        "201 arrives as {}",
        answer.head.status()
    );
    ensure!(
        rig.patience.wait(answer.next()).await == Some(Read::End),
        "an empty body does not end"
    );
    Ok(())
}

pub(super) async fn any_status_is_a_response<T: Transport + 'static>(rig: &Rig<T>) -> Outcome {
    let (transport, far, _guard) = rig.fresh().await;
    for status in [200, 401, 403, 404, 409, 410, 422, 429, 500, 503, 504] {
        let (sent, exchange) = rig.ask(&transport, &far, get("/version")).await?;
        let body = exchange.head(status);
        body.push("why");
        body.close();
        let mut answer = rig.response(sent).await?;
        let seen = answer.head.status();
        ensure!(seen == status, "{status} arrives as {seen}");
        let by = answer.head.headers().get("x-answered-by");
        ensure!(
            by.is_some_and(|it| it == "the far end"),
            "a header of the answer {status} is not there"
        );
        let read = rig.read(&mut answer, 3).await?;
        ensure!(read == b"why", "the body of {status} is another: {read:?}");
    }
    Ok(())
}

pub(super) async fn the_head_comes_first<T: Transport + 'static>(rig: &Rig<T>) -> Outcome {
    let (transport, far, _guard) = rig.fresh().await;
    let (mut answer, exchange) = rig.open(&transport, &far, "/api/v1/pods?watch=true").await?;
    let early = rig.patience.glance(answer.next()).await;
    ensure!(
        early.is_none(),
        "the body has no byte and no end yet, and what comes is {early:?}"
    );
    ensure!(
        exchange.request.uri().query() == Some("watch=true"),
        "another request arrived"
    );
    Ok(())
}

pub(super) async fn each_gets_its_own_answer<T: Transport + 'static>(rig: &Rig<T>) -> Outcome {
    const N: usize = 12;
    let (transport, far, _guard) = rig.fresh().await;
    let (mut sent, mut exchanges) = (Vec::new(), Vec::new());
    for n in 0..N {
        let (future, exchange) = rig.ask(&transport, &far, get(&format!("/{n}"))).await?;
        sent.push(future);
        exchanges.push(exchange);
    }
    // The last one first.
    for exchange in exchanges.iter().rev() {
        let body = exchange.head(200);
        body.push(exchange.request.uri().path().to_owned());
        body.close();
    }
    for (n, sent) in sent.into_iter().enumerate() {
        let mut answer = rig.response(sent).await?;
        let wanted = format!("/{n}");
        let read = rig.read(&mut answer, wanted.len()).await?;
        ensure!(
            read == wanted.as_bytes(),
            "request {wanted} has the answer to {}",
            String::from_utf8_lossy(&read)
        );
    }
    Ok(())
}

pub(super) async fn no_head_is_an_error<T: Transport + 'static>(rig: &Rig<T>) -> Outcome {
    let (transport, far, _guard) = rig.fresh().await;
    far.break_off();
    match rig.patience.wait(transport.send(get("/version"))).await {
        Some(Err(error)) => {
            ensure!(
                !T::is_refused(&error),
                "the server took the request and broke off, and it is said to have refused the connection"
            );
            Ok(())
        }
        Some(Ok(response)) => Err(format!(
            "the connection broke off without a response, and there is one: {}",
            response.status()
        )),
        None => Err("the connection broke off without a response, and one who waits still waits".to_owned()),
    }
}

pub(super) async fn a_refused_connection<T: Transport + 'static>(rig: &Rig<T>) -> Outcome {
    let Some(nowhere) = &rig.nowhere else {
        return Ok(());
    };
    let transport = nowhere();
    match rig.patience.wait(transport.send(get("/version"))).await {
        Some(Err(error)) => {
            ensure!(
                T::is_refused(&error),
                "nothing listens, and the error does not say so: {error}"
            );
            Ok(())
        }
        Some(Ok(_)) => Err("nothing listens, and there is a response".to_owned()),
        None => Err("nothing listens, and one who waits still waits".to_owned()),
    }
}
