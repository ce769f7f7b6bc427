//! Transports with a fault each.

use std::{
    collections::VecDeque,
    error::Error,
    fmt,
    future::Future,
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use bytes::{Bytes, BytesMut};
use http::{Request, Response, Uri};
use http_body::{Body, Frame};
use informer_core::BoxFuture;
use informer_testkit::{
    ScriptedBody, block_on,
    conformance::transport::{FarEnd, Suite},
};
use informer_transport::Transport;

use crate::wrong::{all_catch, caught};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    DropsTheQuery,
    FailsOnFailures,
    WaitsForTheFirstByte,
    AsksForTheOneBefore,
    WaitsForEver,
    HidesARefusal,
    WaitsForLines,
    SwapsChunks,
    KeepsTheFirstWaker,
    EndsAsAFailure,
    BreaksOffAsAnEnd,
    KeepsWhatIsDropped,
    SendsOnByItself,
    ReadsAhead,
    OneAtATime,
}

const WRONG: [(Fault, &str); 15] = [
    (Fault::DropsTheQuery, "a_request_arrives_whole"),
    (Fault::FailsOnFailures, "any_status_is_a_response"),
    (Fault::WaitsForTheFirstByte, "the_head_comes_first"),
    (Fault::AsksForTheOneBefore, "each_gets_its_own_answer"),
    (Fault::WaitsForEver, "no_head_is_an_error"),
    (Fault::HidesARefusal, "a_refused_connection"),
    (Fault::WaitsForLines, "as_they_arrive"),
    (Fault::SwapsChunks, "in_the_order_of_the_server"),
    (Fault::KeepsTheFirstWaker, "who_waits_is_woken"),
    (Fault::EndsAsAFailure, "a_clean_end"),
    (Fault::BreaksOffAsAnEnd, "a_cut_body"),
    (Fault::KeepsWhatIsDropped, "a_dropped_body"),
    (Fault::SendsOnByItself, "a_dropped_send"),
    (Fault::ReadsAhead, "an_unread_body_waits"),
    (Fault::OneAtATime, "one_holds_up_no_other"),
];

#[derive(Clone)]
struct Bent {
    far: FarEnd,
    fault: Fault,
    state: Arc<Mutex<State>>,
}

type Answering = BoxFuture<'static, io::Result<Response<ScriptedBody>>>;

#[derive(Default)]
struct State {
    before: Option<Uri>,
    kept_bodies: Vec<ScriptedBody>,
    kept_sends: Vec<Answering>,
    busy: bool,
}

/// A send that goes on when it is dropped.
struct Sending {
    send: Option<Answering>,
    of: Bent,
}

impl Future for Sending {
    type Output = io::Result<Response<ScriptedBody>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self.send.as_mut().unwrap().as_mut().poll(cx);
        if polled.is_ready() {
            self.send = None;
        }
        polled
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        let kept = self.send.take();
        self.of.state.lock().unwrap().kept_sends.extend(kept);
    }
}

impl Transport for Bent {
    type Body = BentBody;
    type Error = Wrong;

    async fn send(&self, mut request: Request<Bytes>) -> Result<Response<BentBody>, Wrong> {
        match self.fault {
            Fault::DropsTheQuery => *request.uri_mut() = request.uri().path().parse().unwrap(),
            Fault::AsksForTheOneBefore => {
                let own = request.uri().clone();
                if let Some(before) = self.state.lock().unwrap().before.replace(own) {
                    *request.uri_mut() = before;
                }
            }
            Fault::OneAtATime => {
                std::future::poll_fn(|cx| {
                    cx.waker().wake_by_ref();
                    let mut state = self.state.lock().unwrap();
                    if std::mem::replace(&mut state.busy, true) {
                        Poll::Pending
                    } else {
                        Poll::Ready(())
                    }
                })
                .await;
            }
            _ => {}
        }
        let far = self.far.clone();
        let send: Answering = Box::pin(async move { far.answer(request).await });
        let answered = if self.fault == Fault::SendsOnByItself {
            Sending {
                send: Some(send),
                of: self.clone(),
            }
            .await
        } else {
            send.await
        };
        if answered.is_err() && self.fault == Fault::WaitsForEver {
            std::future::pending::<()>().await;
        }
        let response = answered.map_err(Wrong)?;
        if self.fault == Fault::FailsOnFailures && !response.status().is_success() {
            return Err(Wrong(io::Error::other("no success")));
        }
        let (head, inner) = response.into_parts();
        let mut body = BentBody {
            inner: Some(inner),
            held: VecDeque::new(),
            line: BytesMut::new(),
            waker: None,
            of: self.clone(),
        };
        if self.fault == Fault::WaitsForTheFirstByte {
            let first = std::future::poll_fn(|cx| body.poll_inner(cx)).await;
            body.held.extend(first);
        }
        Ok(Response::from_parts(head, body))
    }

    fn is_refused(_: &Wrong) -> bool {
        false
    }
}

/// Why no response came.
#[derive(Debug)]
struct Wrong(io::Error);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Wrong {}

type Polled = Option<io::Result<Frame<Bytes>>>;

struct BentBody {
    inner: Option<ScriptedBody>,
    held: VecDeque<io::Result<Frame<Bytes>>>,
    line: BytesMut,
    waker: Option<Waker>,
    of: Bent,
}

impl BentBody {
    fn poll_inner(&mut self, cx: &mut Context<'_>) -> Poll<Polled> {
        Pin::new(self.inner.as_mut().unwrap()).poll_frame(cx)
    }

    /// Holds a piece back until its line is whole.
    fn poll_lines(&mut self, cx: &mut Context<'_>) -> Poll<Polled> {
        loop {
            match self.poll_inner(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    self.line.extend_from_slice(frame.data_ref().unwrap());
                    if let Some(at) = self.line.iter().rposition(|byte| *byte == b'\n') {
                        let lines = self.line.split_to(at + 1).freeze();
                        return Poll::Ready(Some(Ok(Frame::data(lines))));
                    }
                }
                other => return other,
            }
        }
    }

    /// Gives out the second of two chunks first.
    fn poll_swapped(&mut self, cx: &mut Context<'_>) -> Poll<Polled> {
        if let Some(held) = self.held.pop_front() {
            return Poll::Ready(Some(held));
        }
        let first = std::task::ready!(self.poll_inner(cx));
        if first.is_some()
            && let Poll::Ready(Some(second)) = self.poll_inner(cx)
        {
            self.held.extend(first);
            return Poll::Ready(Some(second));
        }
        Poll::Ready(first)
    }

    fn poll_ahead(&mut self, cx: &mut Context<'_>) -> Poll<Polled> {
        while let Poll::Ready(Some(frame)) = self.poll_inner(cx) {
            self.held.push_back(frame);
        }
        match self.held.pop_front() {
            Some(frame) => Poll::Ready(Some(frame)),
            None => self.poll_inner(cx),
        }
    }
}

impl Body for BentBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Polled> {
        let this = self.get_mut();
        match this.of.fault {
            Fault::WaitsForLines => this.poll_lines(cx),
            Fault::SwapsChunks => this.poll_swapped(cx),
            Fault::ReadsAhead => this.poll_ahead(cx),
            Fault::KeepsTheFirstWaker => {
                let first = this.waker.get_or_insert_with(|| cx.waker().clone()).clone();
                this.poll_inner(&mut Context::from_waker(&first))
            }
            Fault::EndsAsAFailure => match this.poll_inner(cx) {
                Poll::Ready(None) => Poll::Ready(Some(Err(io::Error::other("it ended")))),
                other => other,
            },
            Fault::BreaksOffAsAnEnd => match this.poll_inner(cx) {
                Poll::Ready(Some(Err(_))) => Poll::Ready(None),
                other => other,
            },
            _ => match this.held.pop_front() {
                Some(frame) => Poll::Ready(Some(frame)),
                None => this.poll_inner(cx),
            },
        }
    }
}

impl Drop for BentBody {
    fn drop(&mut self) {
        let mut state = self.of.state.lock().unwrap();
        match self.of.fault {
            Fault::KeepsWhatIsDropped => state.kept_bodies.extend(self.inner.take()),
            Fault::OneAtATime => state.busy = false,
            _ => {}
        }
    }
}

fn bent(far: FarEnd, fault: Fault) -> Bent {
    Bent {
        far,
        fault,
        state: Arc::default(),
    }
}

#[test]
fn wrong_ones_are_found_out() {
    for (fault, check) in WRONG {
        let suite = Suite::new(
            &format!("{fault:?}"),
            move |far| async move { (bent(far, fault), ()) },
        )
        .nowhere(move || {
            let far = FarEnd::default();
            // Whoever asks there is refused.
            far.break_off();
            bent(far, fault)
        })
        .only(check);
        caught(check, &block_on(suite.run()));
    }
    all_catch(
        &block_on(super::in_memory().run()),
        &WRONG.map(|(_, check)| check),
    );
}
