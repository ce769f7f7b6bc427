//! What each operation does.

use std::time::Duration;

use informer_core::{ResourceVersion, StoreExt as _};

use super::World;
use crate::{
    fact::Fact,
    mishap::Mishap,
    op::{Op, Write},
    outcome::Violation,
    thing::{self, Color},
};

impl World {
    pub(super) async fn apply(&mut self, op: &Op) -> Result<(), Violation> {
        match op {
            Op::Write { kind, slot, how } => self.write(*kind, *slot, *how),
            Op::Burst { kind, n } => self.burst(*kind, *n),
            Op::Run { polls } => self.run(*polls).await?,
            Op::Settle => self.settle().await?,
            Op::Pass { ms } => self.pass(Duration::from_millis((*ms).into())).await?,
            Op::Outage { mishap, seconds } => self.outage(*mishap, *seconds).await?,
            Op::AddHandler { informer, handler } => {
                let at = self.member(*informer);
                self.add_handler(at, handler, false)?;
            }
            Op::RemoveHandler { informer, nth } => self.remove_handler(*informer, *nth),
            Op::Panic { informer, nth, times } => self.panic(*informer, *nth, *times),
            Op::RestartClient { informer, orderly } => {
                let at = self.member(*informer);
                self.restart_client(at, *orderly)?;
            }
            Op::WaitFor { informer } => self.wait_for(*informer),
            Op::Restore { back } => self.restore(*back),
            Op::Add { item, how } => self.add_to_mill(*item, *how),
            Op::Flood { keys, ms } => self.flood_mill(*keys, *ms),
            Op::Candidate { which, fate } => self.move_candidate(*which, *fate)?,
            Op::CutOff { which, ms } => self.cut_off(*which, *ms),
            Op::Touch => self.touch_lease(),
            Op::Drain { how, deadline_ms } => {
                self.drain_mill(*how, Duration::from_millis((*deadline_ms).into()));
                self.open_mill();
            }
            Op::Lag {
                replica,
                revisions,
                ms,
            } => self.network.lag(*replica, (*revisions).into(), *ms),
            at_server => self.at_server(at_server),
        }
        Ok(())
    }

    fn at_server(&mut self, op: &Op) {
        let seed = self.rng.bits();
        match op {
            Op::Fault {
                on,
                mishap,
                skip,
                times,
            } => self.api.with(|api| {
                let faults = api.faults();
                for _ in 0..*times {
                    faults.after((*skip).into(), on.on(), mishap.fault());
                }
            }),
            Op::Chaos { on, percent, mishaps } => self.api.with(|api| {
                let faults = mishaps.iter().map(|mishap| mishap.fault()).collect();
                api.faults()
                    .chaos(seed, f64::from(*percent) / 100.0, on.on(), faults);
            }),
            Op::Calm => self.api.with(|api| api.faults().clear()),
            Op::Down => self.api.with(|api| api.set_down(true)),
            Op::Up => self.api.with(|api| api.set_down(false)),
            Op::Restart => self.api.with(informer_testkit::FakeApi::restart),
            Op::Cut => self.api.with(informer_testkit::FakeApi::cut_connections),
            Op::EndWatches => self.api.with(informer_testkit::FakeApi::end_watches),
            Op::Compact { keep } => self.api.with(|api| {
                let to = api.revision().saturating_sub((*keep).into());
                api.compact(to);
            }),
            Op::Unserve => self.unserve(),
            Op::Serve if self.astray.is_empty() => self.change(thing::serve_custom),
            _ => {}
        }
    }

    /// The objects go first, one by one: a server with a short memory could not tell of all of them at once.
    fn unserve(&mut self) {
        if !self.astray.is_empty() {
            return;
        }
        for slot in 0..self.config.slots {
            self.put(thing::CUSTOM, slot, Color::Blue);
            self.delete(thing::CUSTOM, slot);
        }
        self.change(thing::unserve_custom);
    }

    /// The server goes back, to where no informer is by chance: what is written next has a version that was given before.
    fn restore(&mut self, back: u16) {
        self.follow_now();
        let served = self.api.with(|api| {
            let custom = thing::resource(thing::CUSTOM);
            api.resources().any(|resource| *resource == custom)
        });
        if !served || !self.astray.is_empty() {
            return;
        }
        let head = self.api.with(|api| api.revision());
        let earliest = self.api.with(|api| api.earliest_restore());
        let mut to = head.saturating_sub(back.into()).max(earliest);
        while self.positions.values().any(|position| *position == to + 1) {
            to -= 1;
        }
        if to < earliest {
            return;
        }
        let restored = self.api.with(|api| api.restore(to));
        self.history.restore(restored, head);
        self.network.lose_all();
        self.note(Fact::Restored { to: restored });
        self.astray = self.members.iter().map(|member| member.id).collect();
        for (_, task) in std::mem::take(&mut self.waiting) {
            task.abort();
        }
    }

    /// One poll after the other, with a look after each.
    async fn run(&mut self, polls: u16) -> Result<(), Violation> {
        for _ in 0..polls {
            self.idle.run(1).await;
            self.look()?;
        }
        Ok(())
    }

    async fn outage(&mut self, mishap: Mishap, seconds: u32) -> Result<(), Violation> {
        self.api.with(|api| {
            api.faults().clear();
            api.faults().always(informer_testkit::On::any(), mishap.fault());
            api.cut_connections();
        });
        self.settle().await?;
        self.note(Fact::OutageBegan);
        self.pass(Duration::from_secs(seconds.into())).await?;
        self.note(Fact::OutageEnded);
        self.api.with(|api| api.faults().clear());
        Ok(())
    }

    fn burst(&mut self, kind: usize, n: u8) {
        for _ in 0..n {
            let slot = u8::try_from(self.rng.range(0..self.config.slots.into())).unwrap_or_default();
            let how = match self.rng.range(0..10) {
                0..=5 => Write::Put,
                6 => Write::Recreate,
                7 => Write::Red,
                _ => Write::Delete,
            };
            self.write(kind, slot, how);
        }
    }

    fn write(&mut self, kind: usize, slot: u8, how: Write) {
        if !self.astray.is_empty() {
            return;
        }
        let slot = slot % self.config.slots.max(1);
        let color = self.color(kind, slot);
        match how {
            Write::Put | Write::Red | Write::Green | Write::Blue => {
                self.put(kind, slot, how.color().unwrap_or(color));
            }
            Write::Delete => self.delete(kind, slot),
            Write::Recreate => {
                self.delete(kind, slot);
                self.put(kind, slot, color);
            }
            Write::Break => self.store(kind, slot, color, false, false),
            Write::Guard => self.store(kind, slot, color, true, true),
            Write::Release => {
                self.delete(kind, slot);
                self.put(kind, slot, color);
            }
        }
    }

    /// The object's color, or for a new one that of its place.
    fn color(&self, kind: usize, slot: u8) -> Color {
        let state = self.history.at(kind, &thing::key(slot), u64::MAX);
        state.map_or_else(|| Color::ALL[usize::from(slot) % 3], |state| state.color)
    }

    pub(super) fn put(&mut self, kind: usize, slot: u8, color: Color) {
        self.store(kind, slot, color, true, false);
    }

    fn store(&mut self, kind: usize, slot: u8, color: Color, readable: bool, guarded: bool) {
        self.next_n += 1;
        let n = readable.then_some(self.next_n);
        let document = thing::document(slot, color, n, guarded);
        // The custom kind may not be served.
        let _unserved_at_worst = self.change(|api| api.put(&thing::resource(kind), document));
    }

    fn delete(&mut self, kind: usize, slot: u8) {
        let key = thing::key(slot);
        let _absent_at_worst =
            self.change(|api| api.delete(&thing::resource(kind), key.namespace(), key.name()));
    }

    fn remove_handler(&mut self, informer: u8, nth: u8) {
        let at = self.member(informer);
        let member = &mut self.members[at];
        // The first stays: the others are compared with it.
        if member.handlers.len() > 1 {
            let nth = 1 + usize::from(nth) % (member.handlers.len() - 1);
            let handler = member.handlers.remove(nth);
            handler.registration.remove();
            let informer = member.id;
            self.note(Fact::Left {
                informer,
                handler: handler.id,
            });
        }
    }

    fn panic(&self, informer: u8, nth: u8, times: u8) {
        let at = self.member(informer);
        let handlers = &self.members[at].handlers;
        handlers[usize::from(nth) % handlers.len()].mood.panic(times);
    }

    /// Somebody waits for the version that was written last, be it of another kind: bookmarks tell it.
    fn wait_for(&mut self, informer: u8) {
        let at = self.member(informer);
        let (id, store) = (self.members[at].id, self.members[at].store.clone());
        let version = self.api.with(|api| api.revision());
        let wanted = ResourceVersion::new(version.to_string());
        let probe = self.probe.clone();
        let task = self.spawn(async move {
            if store.wait_for(&wanted).await.is_ok() {
                let applied = store.snapshot().applied().clone();
                probe.note(Fact::Waited {
                    informer: id,
                    version,
                    applied,
                });
            }
        });
        self.waiting.push((id, task));
    }
}
