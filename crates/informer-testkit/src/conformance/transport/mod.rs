//! The suite for [`Transport`]: sends a request, returns a response whose body streams.
//!
//! The suite plays the server: it is given a transport that leads to its [`FarEnd`], over whatever is to be tested. A test of a transport over
//! sockets has a server that answers each request with [`FarEnd::answer`]; one without needs no more than a call.
//!
//! ```
//! use informer_testkit::{block_on, conformance::transport::Suite};
//!
//! // The shortest way there is: the far end is a transport itself.
//! let suite = Suite::new("a call", |far| async { (far, ()) });
//! block_on(suite.run()).assert_conforms();
//! ```

mod bodies;
mod cancel;
mod far;
mod heads;
mod pressure;

use std::{
    any::Any,
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use informer_core::BoxFuture;
use informer_transport::{RepeatedBySender, Transport};

use super::{
    Patience,
    check::{Awaited, Check, Outcome, Scope, async_checks, runs_async, shown},
};
use bodies::{a_clean_end, a_cut_body, as_they_arrive, in_the_order_of_the_server, who_waits_is_woken};
use cancel::{a_dropped_body, a_dropped_send};
use far::Exchange;
pub use far::FarEnd;
use heads::{
    a_refused_connection, a_request_arrives_whole, any_status_is_a_response, each_gets_its_own_answer,
    no_head_is_an_error, the_head_comes_first,
};
use pressure::{an_unread_body_waits, one_holds_up_no_other};

/// A transport, and what has to live as long as it.
type Made<T> = (T, Box<dyn Any>);

type Making<T> = Pin<Box<dyn Future<Output = Made<T>>>>;

/// Checks a transport.
pub struct Suite<T> {
    subject: String,
    rig: Rig<T>,
    scope: Scope,
}

struct Rig<T> {
    make: Box<dyn Fn(FarEnd) -> Making<T>>,
    nowhere: Option<Box<dyn Fn() -> T>>,
    patience: Patience,
}

impl<T: Transport + 'static> Suite<T> {
    /// `make` makes a transport that leads to a far end, and whatever has to live as long: a server.
    pub fn new<F, G>(subject: &str, make: impl Fn(FarEnd) -> F + 'static) -> Self
    where
        F: Future<Output = (T, G)> + 'static,
        G: 'static,
    {
        let make = move |far| {
            let made = make(far);
            let boxed: Making<T> = Box::pin(async move {
                let (transport, guard) = made.await;
                let guard: Box<dyn Any> = Box::new(guard);
                (transport, guard)
            });
            boxed
        };
        Self {
            subject: subject.to_owned(),
            rig: Rig {
                make: Box::new(make),
                nowhere: None,
                patience: Patience::default(),
            },
            scope: Scope::default(),
        }
    }

    /// With transports to where nothing listens.
    #[must_use]
    pub fn nowhere(mut self, make: impl Fn() -> T + 'static) -> Self {
        self.rig.nowhere = Some(Box::new(make));
        self
    }

    /// How long to wait for what must come.
    #[must_use]
    pub fn patience(mut self, patience: Patience) -> Self {
        self.rig.patience = patience;
        self
    }

    runs_async!("Transport");
}

shown!([T] Suite<T>);

fn all<T: Transport + 'static>() -> Vec<Check<Awaited<Rig<T>>>> {
    async_checks! {
        directed a_request_arrives_whole: "Sends a request.";
        directed any_status_is_a_response: "Any status is a response: what it means is for the caller.";
        directed the_head_comes_first: "The response is returned when its head has arrived; its body streams, and dropping it ends the exchange and, with it, a watch.";
        directed each_gets_its_own_answer: "Sends requests to one API server.";
        directed no_head_is_an_error: "Why no response came.";
        directed a_refused_connection: "Whether the error means that nothing listens at the address: the request was certainly not seen, and a retry costs nobody.";
        directed as_they_arrive: "The bytes of a body come in the order of the server, as they arrive; where chunks begin and end means nothing.";
        random in_the_order_of_the_server: "The bytes of a body come in the order of the server, as they arrive; where chunks begin and end means nothing.";
        directed who_waits_is_woken: "The bytes of a body come in the order of the server, as they arrive; where chunks begin and end means nothing.";
        directed a_clean_end: "A body that breaks off ends with an error, never as if it were whole.";
        directed a_cut_body: "A body that breaks off ends with an error, never as if it were whole.";
        directed a_dropped_body: "The response is returned when its head has arrived; its body streams, and dropping it ends the exchange and, with it, a watch.";
        directed a_dropped_send: "Dropping the future of `send` abandons the request.";
        directed an_unread_body_waits: "What is not read is not read ahead without bound: the server is held back.";
        directed one_holds_up_no_other: "Requests do not wait for one another: one that is not answered, or whose body is not read, holds up no other.";
    }
}

/// A transport that retries by itself is asked not to: what is checked is one exchange.
fn get(path: &str) -> Request<Bytes> {
    let mut request = Request::new(Bytes::new());
    request.extensions_mut().insert(RepeatedBySender);
    *request.uri_mut() = path.parse().expect("the suite asks for valid paths");
    request
}

/// What a reader sees next.
#[derive(Debug, PartialEq, Eq)]
enum Read {
    Data(Bytes),
    End,
    Error,
}

/// A response whose body is read in the suite.
struct Answer<B> {
    head: Response<()>,
    body: Pin<Box<B>>,
}

impl<B: Body<Data = Bytes>> Answer<B> {
    fn new(response: Response<B>) -> Self {
        let (parts, body) = response.into_parts();
        Self {
            head: Response::from_parts(parts, ()),
            body: Box::pin(body),
        }
    }

    /// What comes next; chunks without a byte are passed over.
    async fn next(&mut self) -> Read {
        poll_fn(|cx| {
            loop {
                match self.body.as_mut().poll_frame(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(None) => return Poll::Ready(Read::End),
                    Poll::Ready(Some(Err(_))) => return Poll::Ready(Read::Error),
                    Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                        Ok(data) if !data.is_empty() => return Poll::Ready(Read::Data(data)),
                        _ => {}
                    },
                }
            }
        })
        .await
    }
}

impl<T: Transport + 'static> Rig<T> {
    async fn fresh(&self) -> (T, FarEnd, Box<dyn Any>) {
        let far = FarEnd::new();
        let (transport, guard) = (self.make)(far.clone()).await;
        (transport, far, guard)
    }

    /// Sends a request and has the far end take it in.
    async fn ask<'a>(
        &self,
        transport: &'a T,
        far: &FarEnd,
        request: Request<Bytes>,
    ) -> Outcome<(BoxFuture<'a, Result<Response<T::Body>, T::Error>>, Exchange)> {
        let mut sent: BoxFuture<'a, _> = Box::pin(transport.send(request));
        let mut accept = Box::pin(far.accept());
        let both = poll_fn(|cx| {
            if let Poll::Ready(exchange) = accept.as_mut().poll(cx) {
                return Poll::Ready(Ok(exchange));
            }
            match sent.as_mut().poll(cx) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Ok(_)) => Poll::Ready(Err(
                    "the server has answered nothing, and a response came".to_owned(),
                )),
                Poll::Ready(Err(error)) => Poll::Ready(Err(format!("the request failed: {error}"))),
            }
        });
        match self.patience.wait(both).await {
            Some(exchange) => Ok((sent, exchange?)),
            None => Err("a request was sent, and it does not arrive".to_owned()),
        }
    }

    /// Waits for the response to what was answered.
    async fn response(
        &self,
        sent: BoxFuture<'_, Result<Response<T::Body>, T::Error>>,
    ) -> Outcome<Answer<T::Body>> {
        match self.patience.wait(sent).await {
            Some(Ok(response)) => Ok(Answer::new(response)),
            Some(Err(error)) => Err(format!("the server answered, and the request failed: {error}")),
            None => Err("the server answered, and no response comes".to_owned()),
        }
    }

    /// Asks, answers with 200 and no body yet, and waits for the response.
    async fn open(&self, transport: &T, far: &FarEnd, path: &str) -> Outcome<(Answer<T::Body>, Exchange)> {
        let (sent, exchange) = self.ask(transport, far, get(path)).await?;
        exchange.head(200);
        Ok((self.response(sent).await?, exchange))
    }

    /// Reads until there are so many bytes.
    async fn read<B: Body<Data = Bytes>>(&self, answer: &mut Answer<B>, n: usize) -> Outcome<Vec<u8>> {
        let mut read = Vec::new();
        while read.len() < n {
            match self.patience.wait(answer.next()).await {
                Some(Read::Data(data)) => read.extend_from_slice(&data),
                Some(other) => {
                    return Err(format!(
                        "{n} bytes were sent, and after {} comes {other:?}",
                        read.len()
                    ));
                }
                None => {
                    return Err(format!(
                        "{n} bytes were sent, and after {} nothing comes",
                        read.len()
                    ));
                }
            }
        }
        Ok(read)
    }
}
