//! The driver: waits for the source, the sink and the clock, and hands what happens to the session. It holds no rules.

use std::{
    future::poll_fn,
    hash::{BuildHasher, Hasher, RandomState},
    task::{Context, Poll},
};

use informer_core::{BoxFuture, Clock, Closed, DeltaSink, KeyFunc, ListerWatcher};

use crate::{
    Control, Options, Request,
    hooks::Hooks,
    ingest::Ingest,
    life::Life,
    machine::Machine,
    open::{Event, Open, listed, open_list, open_watch, watched},
    race::{Alarm, First, race, yield_now},
    session::Session,
};

/// After so many events without a wait, others get their turn.
const EVENTS_IN_A_ROW: u32 = 256;

pub(crate) struct Driver<L: ListerWatcher, F: KeyFunc<L::Object>, S, C: Clock> {
    source: L,
    alarm: Alarm<C>,
    control: Control,
    session: Session<L, F, S, C>,
}

impl<L, F, S, C> Driver<L, F, S, C>
where
    L: ListerWatcher,
    F: KeyFunc<L::Object>,
    S: DeltaSink<F::Key, L::Object>,
    C: Clock,
{
    #[expect(clippy::too_many_arguments, reason = "it takes the reflector apart, once")]
    pub(crate) fn new(
        source: L,
        ingest: Ingest<L::Object, F>,
        sink: S,
        clock: C,
        options: Options,
        control: Control,
        hooks: Hooks,
        life: Life<C>,
    ) -> Self {
        let seed = options
            .seed
            .unwrap_or_else(|| RandomState::new().build_hasher().finish());
        let machine = Machine::new(options, seed, clock.now());
        let session = Session::new(machine, ingest, sink, clock.clone(), hooks, life);
        Self {
            source,
            alarm: Alarm::new(clock),
            control,
            session,
        }
    }

    pub(crate) async fn run(self) {
        let Self {
            source,
            mut alarm,
            control,
            mut session,
        } = self;
        session.life.start();
        // Kept across timeouts: one that changes nothing must not send a request again.
        let mut opening: Option<BoxFuture<'_, Event<L>>> = None;
        let mut in_a_row = 0;
        loop {
            // Looked at each time: events that never cease must not hold it up.
            if control.take_relist() {
                session.relist();
            }
            session.perform();
            match session.open.take_request() {
                Some(Request::List(request)) => opening = Some(Box::pin(open_list(&source, request))),
                Some(Request::Watch(request)) => opening = Some(Box::pin(open_watch(&source, request))),
                None if matches!(session.open, Open::Opening) => {}
                None => opening = None,
            }
            alarm.set(session.wakes_at());
            match next(&mut session, &mut opening, &mut alarm, &control).await {
                First::Closed => break,
                First::Told => {}
                First::TimedOut => session.time_out(),
                First::Done(event) => {
                    session.handle(event);
                    in_a_row += 1;
                    if in_a_row == EVENTS_IN_A_ROW {
                        in_a_row = 0;
                        yield_now().await;
                    }
                }
            }
        }
    }
}

/// Waits for whatever comes first.
async fn next<L, F, S, C>(
    session: &mut Session<L, F, S, C>,
    opening: &mut Option<BoxFuture<'_, Event<L>>>,
    alarm: &mut Alarm<C>,
    control: &Control,
) -> First<Event<L>>
where
    L: ListerWatcher,
    F: KeyFunc<L::Object>,
    S: DeltaSink<F::Key, L::Object>,
    C: Clock,
{
    let needs_room = session.delivers();
    let Session { open, sink, .. } = session;
    if needs_room {
        // What is read from a watch has to have a place to go.
        let told = |cx: &mut Context<'_>| control.poll(cx).map(|()| First::Told);
        match race(poll_fn(|cx| sink.poll_ready(cx)), alarm, told).await {
            First::Done(Ok(())) => {}
            First::Done(Err(Closed)) | First::Closed => return First::Closed,
            First::Told => return First::Told,
            First::TimedOut => return First::TimedOut,
        }
    }
    let other = |cx: &mut Context<'_>| match is_closed(sink, cx) {
        Poll::Ready(()) => Poll::Ready(First::Closed),
        Poll::Pending => control.poll(cx).map(|()| First::Told),
    };
    match (open, opening) {
        (Open::List(list), _) => race(listed::<L>(list), alarm, other).await,
        (Open::Watch(watch), _) => race(watched::<L>(watch), alarm, other).await,
        (_, Some(opening)) => race(opening, alarm, other).await,
        (_, None) => race(std::future::pending(), alarm, other).await,
    }
}

fn is_closed<Q, K>(sink: &mut impl DeltaSink<Q, K>, cx: &mut Context<'_>) -> Poll<()> {
    match sink.poll_ready(cx) {
        Poll::Ready(Err(Closed)) => Poll::Ready(()),
        _ => sink.poll_closed(cx),
    }
}
