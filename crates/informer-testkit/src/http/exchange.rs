//! Exchanges: a request and its answer as it comes about: waits, faults, heads, chunks.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, header::CONTENT_TYPE};

use super::{
    BodyPoll, ExchangeId, Failure, HeadPoll, LoggedRequest, Reply,
    route::Route,
    serve::{Incoming, Outcome, failure},
};
use crate::{
    FakeApi,
    api::{ApiError, Lag, WatchEnd, WatchId, WatchPoll, error_event},
    faults::{Ending, Fault, Plan},
};

#[derive(Debug)]
enum State {
    /// Until then nothing is even looked at.
    Delayed(Duration),
    /// The version that is asked for is waited for.
    NotYet(Duration),
    /// Nothing will ever come.
    Silent,
    Failed(Failure),
    Full(Option<Response<()>>, Option<Bytes>),
    Watch(Option<Response<()>>, WatchId),
    Done,
}

#[derive(Debug)]
struct Exchange {
    number: u64,
    incoming: Incoming,
    state: State,
    lag: Option<Lag>,
    plan: Option<Plan>,
    stop: Option<Stop>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Cut,
    /// A watch ends cleanly; anything else goes on.
    End,
}

/// All open exchanges.
#[derive(Debug, Default)]
pub(crate) struct Exchanges {
    open: BTreeMap<ExchangeId, Exchange>,
    next: u64,
    down: bool,
}

impl Exchanges {
    pub(crate) fn cut_all(&mut self) {
        let all = self.open.values_mut();
        all.for_each(|exchange| exchange.stop = Some(Stop::Cut));
    }

    fn end_watches(&mut self) {
        let watches = self.open.values_mut();
        for exchange in watches.filter(|it| matches!(it.state, State::Watch(..)) && it.stop.is_none()) {
            exchange.stop = Some(Stop::End);
        }
    }
}

impl FakeApi {
    /// Takes a request in. Its answer is asked for with [`poll_head`](Self::poll_head), then [`poll_body`](Self::poll_body), and
    /// [`close`](Self::close) forgets it.
    pub fn open(&mut self, now: Instant, request: Request<Bytes>) -> ExchangeId {
        self.tick(now);
        let (parts, body) = request.into_parts();
        let route = Route::of(&parts.method, parts.uri.path(), parts.uri.query().unwrap_or(""));
        let resource = route.about.as_ref().map_or("", |about| &about.plural);
        let number = self.log.push(LoggedRequest {
            at: self.elapsed(),
            method: parts.method.clone(),
            uri: parts
                .uri
                .path_and_query()
                .map_or_else(String::new, ToString::to_string),
            path: route.path.clone(),
            query: route.query.clone(),
            headers: parts.headers.clone(),
            verb: route.verb,
            resource: resource.to_owned(),
            status: None,
        });
        let fault = self.faults.draw(route.verb, resource, &route.path, &route.query);
        let incoming = Incoming {
            method: parts.method,
            route,
            headers: parts.headers,
            body,
        };
        let exchange = self.begin(number, incoming, fault);
        self.exchanges.next += 1;
        let id = ExchangeId(self.exchanges.next);
        self.exchanges.open.insert(id, exchange);
        id
    }

    /// Whether the head of the answer is there.
    pub fn poll_head(&mut self, now: Instant, id: ExchangeId) -> HeadPoll {
        self.tick(now);
        let Some(mut exchange) = self.exchanges.open.remove(&id) else {
            return HeadPoll::Failed(Failure::Cut);
        };
        let poll = self.advance(&mut exchange);
        if let HeadPoll::Ready(head) = &poll {
            self.log.answered(exchange.number, head.status().as_u16());
        }
        self.exchanges.open.insert(id, exchange);
        poll
    }

    /// Whether more of the body is there. Only after its head.
    pub fn poll_body(&mut self, now: Instant, id: ExchangeId) -> BodyPoll {
        self.tick(now);
        let Some(mut exchange) = self.exchanges.open.remove(&id) else {
            return BodyPoll::Cut;
        };
        let poll = self.next_chunk(&mut exchange);
        self.exchanges.open.insert(id, exchange);
        poll
    }

    /// Forgets an exchange: the client has gone, or has read everything.
    pub fn close(&mut self, id: ExchangeId) {
        if let Some(exchange) = self.exchanges.open.remove(&id)
            && let State::Watch(_, watch) = exchange.state
        {
            self.close_watch(watch);
        }
    }

    /// Answers a request at once, as far as that is possible: what tests and synchronous callers use.
    pub fn handle(&mut self, now: Instant, request: Request<Bytes>) -> Reply {
        let id = self.open(now, request);
        match self.poll_head(now, id) {
            HeadPoll::Pending(until) => Reply::Waiting(id, until),
            HeadPoll::Failed(failure) => {
                self.close(id);
                Reply::Failed(failure)
            }
            HeadPoll::Ready(head) => {
                let whole = self.exchanges.open.get_mut(&id).and_then(Exchange::take_whole);
                match whole {
                    Some(body) => {
                        self.close(id);
                        Reply::Full(head.map(|()| body))
                    }
                    None => Reply::Streaming(head, id),
                }
            }
        }
    }

    /// Ends all watches that came in as requests cleanly, as a server does whose time for them is up.
    pub fn end_watches(&mut self) {
        self.exchanges.end_watches();
        self.touch();
    }

    /// Takes the server down: connections are cut and refused until it is up again.
    pub fn set_down(&mut self, down: bool) {
        self.exchanges.down = down;
        if down {
            self.exchanges.cut_all();
        }
        self.touch();
    }

    /// How many exchanges are open: requests without a whole answer.
    #[must_use]
    pub fn n_exchanges(&self) -> usize {
        self.exchanges.open.len()
    }

    fn begin(&self, number: u64, incoming: Incoming, fault: Option<Fault>) -> Exchange {
        let now = self.elapsed();
        let mut exchange = Exchange {
            number,
            incoming,
            state: State::Delayed(now),
            lag: None,
            plan: None,
            stop: None,
        };
        if self.exchanges.down {
            exchange.state = State::Failed(Failure::Refused);
            return exchange;
        }
        match fault {
            None => {}
            Some(Fault::Refused) => exchange.state = State::Failed(Failure::Refused),
            Some(Fault::HangUp) => exchange.state = State::Failed(Failure::Cut),
            Some(Fault::Silence) => exchange.state = State::Silent,
            Some(Fault::Status(error)) => exchange.answer(failure(&error)),
            Some(Fault::Delay(by)) => exchange.state = State::Delayed(now + by),
            Some(Fault::Lag {
                revisions,
                catches_up_in,
            }) => {
                exchange.lag = Some(Lag {
                    view: self.lagging_view(&exchange.incoming.route, revisions),
                    until: now + catches_up_in,
                });
            }
            Some(Fault::Body(plan)) => exchange.plan = Some(plan),
        }
        exchange
    }

    /// A replica's version, not from before what the history can still tell.
    fn lagging_view(&self, route: &Route, revisions: u64) -> u64 {
        let about = route.about.as_ref();
        let floor = about
            .and_then(|about| self.kinds.find(&about.group, &about.version, &about.plural))
            .and_then(|(key, _)| self.kinds.get(&key))
            .map_or(self.revision, |kind| kind.table.exact_floor());
        // No server is at version 0: that would be read as "any".
        self.revision.saturating_sub(revisions).max(floor).max(1)
    }

    fn advance(&mut self, exchange: &mut Exchange) -> HeadPoll {
        loop {
            if exchange.stop == Some(Stop::Cut) {
                return HeadPoll::Failed(Failure::Cut);
            }
            match &mut exchange.state {
                State::Silent => return HeadPoll::Pending(None),
                State::Failed(failure) => return HeadPoll::Failed(*failure),
                State::Full(head, _) | State::Watch(head, _) => {
                    return match head.take() {
                        Some(head) => HeadPoll::Ready(head),
                        None => HeadPoll::Failed(Failure::Cut),
                    };
                }
                State::Done => return HeadPoll::Failed(Failure::Cut),
                State::Delayed(until) if self.elapsed() < *until => {
                    let until = *until;
                    return HeadPoll::Pending(self.instant(until));
                }
                State::Delayed(_) => {
                    let until = self.elapsed() + self.options.wait_for_version;
                    self.try_serve(exchange, until);
                }
                State::NotYet(until) => {
                    let until = *until;
                    self.try_serve(exchange, until);
                    if let State::NotYet(until) = exchange.state {
                        return HeadPoll::Pending(self.instant(until));
                    }
                }
            }
            if let State::NotYet(until) = exchange.state {
                return HeadPoll::Pending(self.instant(until));
            }
        }
    }

    fn try_serve(&mut self, exchange: &mut Exchange, until: Duration) {
        match self.serve(&exchange.incoming, exchange.lag) {
            Outcome::Full(response) => exchange.answer(response),
            Outcome::Watch(id) => {
                let mut head = Response::new(());
                head.headers_mut()
                    .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                exchange.state = State::Watch(Some(head), id);
            }
            Outcome::NotYet { wanted, current } if self.elapsed() >= until => {
                exchange.answer(failure(&ApiError::version_too_large(wanted, current)));
            }
            Outcome::NotYet { .. } => exchange.state = State::NotYet(until),
        }
    }

    fn next_chunk(&mut self, exchange: &mut Exchange) -> BodyPoll {
        match exchange.stop {
            Some(Stop::Cut) => return BodyPoll::Cut,
            Some(Stop::End) => return BodyPoll::End,
            None => {}
        }
        if let Some(ending) = exchange.plan.as_mut().and_then(Plan::due) {
            return self.end_badly(exchange, ending);
        }
        let chunk = match &mut exchange.state {
            State::Full(_, body) => match body.take() {
                Some(body) => body,
                None => return BodyPoll::End,
            },
            State::Watch(_, id) => match self.poll_watch(*id) {
                WatchPoll::Event(line) => line,
                WatchPoll::Pending(until) => return BodyPoll::Pending(self.instant(until)),
                WatchPoll::End(WatchEnd::Timeout | WatchEnd::Closed | WatchEnd::Unknown) => {
                    exchange.state = State::Done;
                    return BodyPoll::End;
                }
            },
            State::Done => return BodyPoll::End,
            _ => return BodyPoll::Cut,
        };
        BodyPoll::Chunk(match &mut exchange.plan {
            Some(plan) => plan.pass(chunk),
            None => chunk,
        })
    }

    fn end_badly(&mut self, exchange: &mut Exchange, ending: Ending) -> BodyPoll {
        if let State::Watch(_, id) = exchange.state {
            self.close_watch(id);
        }
        match ending {
            Ending::Cut => BodyPoll::Cut,
            Ending::End => {
                exchange.state = State::Done;
                exchange.plan = None;
                BodyPoll::End
            }
            Ending::Silence => BodyPoll::Pending(None),
            Ending::Error(error) => {
                exchange.state = State::Done;
                exchange.plan = None;
                BodyPoll::Chunk(error_event(&error.to_json()))
            }
        }
    }
}

impl Exchange {
    fn answer(&mut self, response: Response<Bytes>) {
        let (parts, body) = response.into_parts();
        let body = Some(body).filter(|body| !body.is_empty());
        self.state = State::Full(Some(Response::from_parts(parts, ())), body);
    }

    /// The whole body, where it is there and no fault is to hit it.
    fn take_whole(&mut self) -> Option<Bytes> {
        match &mut self.state {
            State::Full(_, body) if self.plan.is_none() => Some(body.take().unwrap_or_default()),
            _ => None,
        }
    }

    /// The size of the body, where it is known.
    fn size(&self) -> Option<u64> {
        match &self.state {
            State::Full(_, body) if self.plan.is_none() => Some(body.as_ref().map_or(0, Bytes::len) as u64),
            _ => None,
        }
    }
}

impl FakeApi {
    /// The size of what is left of a body, where it is known beforehand.
    #[must_use]
    pub fn body_size(&self, id: ExchangeId) -> Option<u64> {
        self.exchanges.open.get(&id)?.size()
    }
}
