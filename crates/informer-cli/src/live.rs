//! The live table on a terminal.

use std::{sync::Arc, thread, time::Duration};

use informer::client::TableColumn;
use informer::contracts::{Clock as _, Resource, Scope, TokioClock};
use informer::sharedinformer::{BacklogPolicy, HandlerOptions, Phase};
use jiff::Timestamp;
use ratatui::{
    DefaultTerminal,
    crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers},
};
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    time::{MissedTickBehavior, interval},
};

use crate::{
    failure::Failure,
    rate::Rate,
    row::Informer,
    screen::{Key, Screen, View},
    troubles::Troubles,
    until::Until,
};

/// Between two drawings: fast enough to look alive, slow enough to cost nothing.
const FRAME: Duration = Duration::from_millis(200);

/// The columns to show by now: a server may name others any time.
pub(crate) type Shown = Box<dyn Fn() -> Arc<[TableColumn]> + Send>;

/// The table, its place, and what the status line says.
pub(crate) struct Live {
    informer: Informer,
    what: String,
    columns: Shown,
    wide: bool,
    namespaced: bool,
    screen: Screen,
    rate: Rate,
    last_trouble: Option<String>,
}

impl Live {
    /// A table of an informer's objects. Registers a handler that only counts, before anything is delivered.
    pub(crate) fn new(
        informer: &Informer,
        resource: &Resource,
        namespace: Option<&str>,
        columns: Shown,
        wide: bool,
    ) -> Result<Self, Failure> {
        informer
            .add_handler(
                |_: &_| {},
                HandlerOptions::named("table").backlog(BacklogPolicy::Unbounded),
            )
            .map_err(|error| Failure::new(error.to_string()))?;
        let whole = resource.scope == Scope::Namespaced && namespace.is_none();
        Ok(Self {
            informer: informer.clone(),
            what: match namespace {
                Some(namespace) => format!("{resource} in {namespace}"),
                None => resource.to_string(),
            },
            columns,
            wide,
            namespaced: whole,
            screen: Screen::default(),
            rate: Rate::default(),
            last_trouble: None,
        })
    }

    fn draw(&mut self, terminal: &mut DefaultTerminal) -> Result<(), Failure> {
        let status = self.status();
        let objects = self.informer.store().snapshot();
        let view = View {
            columns: &(self.columns)(),
            wide: self.wide,
            namespaced: self.namespaced,
            objects: &*objects,
            status: &status,
            now: Timestamp::now(),
        };
        terminal
            .draw(|frame| self.screen.draw(frame, &view))
            .map_err(|error| Failure::at("terminal", &error))?;
        Ok(())
    }

    fn status(&mut self) -> String {
        let status = self.informer.status();
        let n_delivered: u64 = status.handlers.iter().map(|handler| handler.delivered).sum();
        let n_waiting = status.queued
            + status
                .handlers
                .iter()
                .map(|handler| handler.backlog)
                .sum::<usize>();
        let rate = self.rate.read(TokioClock.now(), n_delivered);
        let doing = status.source.phase.as_deref().unwrap_or("starting");
        let phase = if status.phase == Phase::Syncing {
            format!("syncing, {doing}")
        } else {
            doing.to_owned()
        };
        // An error that was made good is history, but the person may have looked away.
        let error = match (&status.source.error, &self.last_trouble) {
            (Some(error), _) => format!(" | error: {error}"),
            (None, Some(error)) => format!(" | last error, made good: {error}"),
            (None, None) => String::new(),
        };
        format!(
            " {} | {} objects | {rate:.1} events/s | {phase} | lag {n_waiting}{error} | q ends",
            self.what, status.objects
        )
    }
}

/// Draws until the time is over, the user ends it, or it cannot go on. The terminal is put back as it was, also after a panic.
pub(crate) async fn show(
    live: &mut Live,
    troubles: &mut Troubles,
    period: Option<Duration>,
) -> Result<(), Failure> {
    let mut end = Until::new(period)?;
    let mut terminal = ratatui::try_init().map_err(|error| Failure::at("terminal", &error))?;
    let shown = draw_until(live, troubles, &mut end, &mut terminal).await;
    ratatui::restore();
    shown
}

async fn draw_until(
    live: &mut Live,
    troubles: &mut Troubles,
    end: &mut Until,
    terminal: &mut DefaultTerminal,
) -> Result<(), Failure> {
    let mut keys = keys();
    let mut frames = interval(FRAME);
    frames.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            biased;
            () = end.reached() => return Ok(()),
            trouble = troubles.next() => live.last_trouble = Some(trouble?),
            Some(key) = keys.recv() => {
                if key == Key::Quit {
                    return Ok(());
                }
                let height = terminal.size().map_err(|error| Failure::at("terminal", &error))?.height;
                live.screen.on_key(key, live.informer.store().len(), height);
                live.draw(terminal)?;
            }
            _ = frames.tick() => live.draw(terminal)?,
        }
    }
}

/// Key presses, read on a thread of their own until nobody takes them any more.
fn keys() -> UnboundedReceiver<Key> {
    let (tell, keys) = unbounded_channel();
    thread::spawn(move || read_keys(&tell));
    keys
}

fn read_keys(tell: &UnboundedSender<Key>) {
    while !tell.is_closed() {
        // Without a readable terminal there are no keys, and signals still end the program.
        let Ok(is_there) = event::poll(FRAME) else { return };
        if !is_there {
            continue;
        }
        let Ok(event) = event::read() else { return };
        if key_of(&event).is_some_and(|key| tell.send(key).is_err()) {
            return;
        }
    }
}

fn key_of(event: &Event) -> Option<Key> {
    let Event::Key(press) = event else { return None };
    if press.kind == KeyEventKind::Release {
        return None;
    }
    match press.code {
        KeyCode::Up | KeyCode::Char('k') => Some(Key::Up),
        KeyCode::Down | KeyCode::Char('j') => Some(Key::Down),
        KeyCode::PageUp => Some(Key::PageUp),
        KeyCode::PageDown | KeyCode::Char(' ') => Some(Key::PageDown),
        KeyCode::Home | KeyCode::Char('g') => Some(Key::Home),
        KeyCode::End | KeyCode::Char('G') => Some(Key::End),
        KeyCode::Esc | KeyCode::Char('q') => Some(Key::Quit),
        // In raw mode the terminal sends no signal for it.
        KeyCode::Char('c') if press.modifiers.contains(KeyModifiers::CONTROL) => Some(Key::Quit),
        _ => None,
    }
}
