//! A source under test in use: lists read to their end, watches read event by event.

use std::{
    collections::BTreeMap,
    pin::pin,
    task::{Context, Poll, Waker},
};

use informer_core::{
    Cause, Classify, DecodeError, Decoded, FailureClass, Feed, Identity, ListRequest, Listed, ListerWatcher,
    ResourceVersion, Stamp, WatchRequest, Watched,
};

use super::{Rig, World};
use crate::conformance::{
    Patience,
    check::{Outcome, ensure},
};

/// How many objects a world has at most.
pub(super) const N_OBJECTS: u32 = 8;

/// A source under test, and what it lists and watches.
pub(super) struct Tested<L, W> {
    pub(super) source: L,
    pub(super) world: W,
    pub(super) patience: Patience,
    /// The objects there are, each with how often it was set.
    pub(super) truth: BTreeMap<u32, u32>,
}

/// What a list held.
pub(super) struct Page {
    pub(super) items: BTreeMap<u32, Stamp>,
    pub(super) n_items: usize,
    pub(super) at: ResourceVersion,
    pub(super) token: Option<Box<str>>,
}

/// What a watch told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    Set(u32, Stamp),
    Removed(u32, Stamp),
    Mark(ResourceVersion, bool),
}

pub(super) type Failed<L> = <L as ListerWatcher>::Error;

impl<L: ListerWatcher, W: World> Tested<L, W> {
    pub(super) fn new(rig: &Rig<L, W>) -> Self {
        let (source, world) = (rig.make)();
        Self {
            source,
            world,
            patience: rig.patience.clone(),
            truth: BTreeMap::new(),
        }
    }

    /// With the first `n` objects.
    pub(super) async fn filled(rig: &Rig<L, W>, n: u32) -> Self {
        let mut tested = Self::new(rig);
        for n in 0..n {
            tested.set(n).await;
        }
        tested
    }

    pub(super) async fn set(&mut self, n: u32) {
        self.world.set(n).await;
        *self.truth.entry(n).or_default() += 1;
    }

    pub(super) async fn remove(&mut self, n: u32) {
        self.world.remove(n).await;
        self.truth.remove(&n);
    }

    /// Which object this is.
    fn number(&self, identity: &Identity) -> Outcome<u32> {
        (0..N_OBJECTS)
            .find(|n| {
                let (namespace, name) = self.world.name(*n);
                identity.namespace.as_deref() == namespace.as_deref() && *identity.name == *name
            })
            .ok_or_else(|| format!("it tells of {identity}, which is not of this world"))
    }

    fn decoded(&self, item: Result<Decoded<L::Object>, DecodeError>) -> Outcome<(u32, Stamp)> {
        let decoded = item.map_err(|error| format!("an object could not be decoded: {error}"))?;
        Ok((self.number(&decoded.identity)?, decoded.identity.stamp))
    }

    pub(super) async fn open_list(&self, request: ListRequest) -> Outcome<Result<L::List, Failed<L>>> {
        let asked = format!("{request:?}");
        let opened = self.patience.wait(self.source.list(request)).await;
        opened.ok_or_else(|| format!("{asked} is not answered"))
    }

    pub(super) async fn try_watch(&self, request: WatchRequest) -> Outcome<Result<L::Watch, Failed<L>>> {
        let asked = format!("{request:?}");
        let opened = self.patience.wait(self.source.watch(request)).await;
        opened.ok_or_else(|| format!("{asked} is not answered"))
    }

    pub(super) async fn watch(&self, request: WatchRequest) -> Outcome<L::Watch> {
        let asked = format!("{request:?}");
        self.try_watch(request)
            .await?
            .map_err(|error| format!("{asked} fails, though nothing is wrong: {error}"))
    }

    /// A watch of what comes after a version.
    pub(super) async fn watch_from(&self, at: &ResourceVersion) -> Outcome<L::Watch> {
        self.watch(from(at)).await
    }

    /// Reads a list to its end.
    pub(super) async fn list(&self, request: ListRequest) -> Outcome<Page> {
        let asked = format!("{request:?}");
        let opened = self.open_list(request).await?;
        let mut feed = opened.map_err(|error| format!("{asked} fails, though nothing is wrong: {error}"))?;
        let (mut items, mut n_items) = (BTreeMap::new(), 0);
        loop {
            let next = self.patience.wait(feed.next()).await;
            match next.ok_or_else(|| format!("{asked} stands still after {n_items} items"))? {
                None => {
                    return Err(format!(
                        "{asked} ends after {n_items} items, without saying that it is whole"
                    ));
                }
                Some(Err(error)) => return Err(format!("{asked} is cut after {n_items} items: {error}")),
                Some(Ok(Listed::Item(item))) => {
                    let (n, stamp) = self.decoded(item)?;
                    n_items += 1;
                    items.insert(n, stamp);
                }
                Some(Ok(Listed::End { at, token })) => {
                    // An empty token is none (as on the wire).
                    let token = token.filter(|token| !token.is_empty());
                    return Ok(Page {
                        items,
                        n_items,
                        at,
                        token,
                    });
                }
            }
        }
    }

    /// A whole list, compared with what there is.
    pub(super) async fn whole_list(&self) -> Outcome<Page> {
        let page = self.list(ListRequest::default()).await?;
        self.holds_all(&page)?;
        Ok(page)
    }

    pub(super) fn holds_all(&self, page: &Page) -> Outcome {
        ensure!(
            page.token.is_none(),
            "asked for everything, it gives a page and a token"
        );
        let (listed, there): (Vec<_>, Vec<_>) = (page.items.keys().collect(), self.truth.keys().collect());
        ensure!(
            listed == there && page.n_items == there.len(),
            "there are the objects {there:?}, and a list holds {listed:?}, in {} items",
            page.n_items
        );
        Ok(())
    }

    pub(super) fn read(&self, event: Watched<L::Object>) -> Outcome<Event> {
        match event {
            Watched::Upsert(cause @ (Cause::Listed | Cause::Sync), _) => Err(format!(
                "a watch tells of an object as {cause:?}, which only lists and resyncs are"
            )),
            Watched::Upsert(_, item) => self.decoded(item).map(|(n, stamp)| Event::Set(n, stamp)),
            Watched::Delete(item) => self.decoded(item).map(|(n, stamp)| Event::Removed(n, stamp)),
            Watched::Bookmark { at, end_of_initial } => Ok(Event::Mark(at, end_of_initial)),
            Watched::Odd(error) => Err(format!("it tells of something odd: {error}")),
        }
    }

    /// The next event, which must come.
    pub(super) async fn next(&self, watch: &mut L::Watch) -> Outcome<Event> {
        match self.patience.wait(watch.next()).await {
            None => Err("something happened, and the watch does not tell".to_owned()),
            Some(None) => Err("something happened, and the watch ends".to_owned()),
            Some(Some(Err(error))) => Err(format!("something happened, and the watch fails: {error}")),
            Some(Some(Ok(event))) => self.read(event),
        }
    }

    /// The next event that is about an object.
    pub(super) async fn next_change(&self, watch: &mut L::Watch) -> Outcome<Event> {
        loop {
            let event = self.next(watch).await?;
            if !matches!(event, Event::Mark(..)) {
                return Ok(event);
            }
        }
    }

    /// What comes now that nothing has happened: bookmarks at most.
    pub(super) async fn nothing_more(&self, watch: &mut L::Watch) -> Outcome {
        loop {
            match self.patience.glance(watch.next()).await {
                None => return Ok(()),
                Some(Some(Ok(event))) => {
                    let event = self.read(event)?;
                    ensure!(
                        matches!(event, Event::Mark(..)),
                        "nothing happened, and the watch tells of {event:?}"
                    );
                }
                Some(Some(Err(error))) => {
                    return Err(format!("nothing happened, and the watch fails: {error}"));
                }
                Some(None) => return Err("nothing happened, and the watch ends".to_owned()),
            }
        }
    }

    /// Reads until the watch has told of everything there is, folding what it tells into `known`.
    pub(super) async fn follow(
        &self,
        watch: &mut L::Watch,
        known: &mut BTreeMap<u32, Stamp>,
        until: &BTreeMap<u32, Stamp>,
    ) -> Outcome {
        while known != until {
            let event = self.next_change(watch).await;
            let event =
                event.map_err(|seen| format!("{seen}; it led to {known:?}, and there is {until:?}"))?;
            fold(known, event);
        }
        Ok(())
    }
}

/// Changes after a version; the most recent state where a list has none.
pub(super) fn from(at: &ResourceVersion) -> WatchRequest {
    let mut request = WatchRequest::default();
    request.version = (!at.is_none()).then(|| at.clone());
    request.bookmarks = true;
    request
}

pub(super) fn fold(known: &mut BTreeMap<u32, Stamp>, event: Event) {
    match event {
        Event::Set(n, stamp) => drop(known.insert(n, stamp)),
        Event::Removed(n, _) => drop(known.remove(&n)),
        Event::Mark(..) => {}
    }
}

/// Asks once for the next event, then gives up.
pub(super) fn poll<F: Feed>(feed: &mut F, waker: &Waker) -> Poll<Option<Result<F::Event, F::Error>>> {
    let mut next = pin!(feed.next());
    next.as_mut().poll(&mut Context::from_waker(waker))
}

/// Whether a refusal is one that a source may give for what it does not serve.
pub(super) fn is_unserved(error: &impl Classify) -> bool {
    error.class() == FailureClass::Unsupported
}
