//! `ListerWatcher`.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use conformance_tests::{Journal, JournalWatch, Lost, Note};
use informer_client::{ApiSource, Client, Selectors};
use informer_core::{
    BoxListerWatcher, Cause, Decoded, FailureClass, Feed, Identity, ListRequest, Listed, ListerWatcher,
    Resource, SourceError, Stamp, WatchRequest, Watched,
};
use informer_kube::{KubeClientExt as _, KubeTransport};
use informer_reflector::{ListWatch, feed};
use informer_testkit::{
    ApiError, FakeApi, FakeTransport, Fault as ApiFault, ListScript, ManualClock, On, ScriptedFeed,
    ScriptedSource, SharedApi, block_on,
    conformance::lister_watcher::{Suite, World},
};
use informer_transport::{JsonCodec, PartialMetadata, TransportService};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};

use crate::wrong::{all_catch, caught};

fn widgets() -> Resource {
    Resource::namespaced("", "v1", "configmaps", "ConfigMap")
}

/// The model of an API server.
struct Cluster(SharedApi<ManualClock>);

impl Cluster {
    fn new() -> Self {
        Self(SharedApi::new(FakeApi::with_builtins(), ManualClock::new()))
    }
}

impl World for Cluster {
    async fn set(&mut self, n: u32) {
        self.0.with(|api| {
            let object = json!({
                "metadata": {"namespace": "home", "name": format!("it-{n}")},
                "data": {"revision": api.revision().to_string()},
            });
            api.put(&widgets(), object).unwrap();
        });
    }

    async fn remove(&mut self, n: u32) {
        let name = format!("it-{n}");
        self.0
            .with(|api| api.delete(&widgets(), Some("home"), &name))
            .unwrap();
    }

    fn name(&self, n: u32) -> (Option<String>, String) {
        (Some("home".to_owned()), format!("it-{n}"))
    }

    async fn bookmark(&mut self) -> bool {
        // It sends one a minute.
        self.0.clock().advance(std::time::Duration::from_secs(70));
        true
    }

    async fn forget(&mut self) -> bool {
        self.0.with(|api| api.compact(api.revision()));
        true
    }

    async fn fail_next(&mut self, class: FailureClass) -> bool {
        let error = match class {
            FailureClass::Expired => ApiError::expired("too old"),
            FailureClass::Unauthorized => ApiError::unauthorized(),
            FailureClass::Forbidden => ApiError::forbidden(&widgets(), "list", "somebody"),
            FailureClass::Internal => ApiError::internal("broken"),
            FailureClass::Throttled => ApiError::too_many_requests("later", 1),
            FailureClass::VersionTooLarge => ApiError::version_too_large(100, 1),
            FailureClass::NotFound => ApiError::not_found(&widgets(), "it"),
            FailureClass::Transient => ApiError::unavailable("starting"),
            FailureClass::Refused => {
                self.0
                    .with(|api| api.faults().once(On::any(), ApiFault::Refused).n_rules());
                return true;
            }
            _ => return false,
        };
        self.0
            .with(|api| api.faults().once(On::any(), ApiFault::Status(error)).n_rules());
        true
    }

    fn n_open(&self) -> Option<usize> {
        Some(self.0.with(|api| api.n_watches()))
    }
}

type Ours<K, C> = ApiSource<FakeTransport<ManualClock>, K, C>;

fn api_source() -> (Ours<Value, JsonCodec<Value>>, Cluster) {
    let cluster = Cluster::new();
    let client = Client::new(FakeTransport::new(cluster.0.clone()));
    (client.objects(widgets()).source(Selectors::all()), cluster)
}

#[test]
fn ours_conforms_over_an_api() {
    block_on(Suite::new("ApiSource", api_source).run()).assert_conforms();
    let metadata = Suite::new("ApiSource of metadata", || {
        let cluster = Cluster::new();
        let client = Client::new(FakeTransport::new(cluster.0.clone()));
        let api = client.metadata(widgets());
        let source = api.in_namespace("home").source(Selectors::all());
        let _: &dyn Fn(&PartialMetadata) = &|_| {};
        (source, cluster)
    });
    block_on(metadata.run()).assert_conforms();
}

#[test]
fn ours_conforms_in_rows_of_tables() {
    let tables = Suite::new("TableSource", || {
        let cluster = Cluster::new();
        let client = Client::new(FakeTransport::new(cluster.0.clone()));
        let tables = client.metadata(widgets()).tables();
        (tables.source(Selectors::all()), cluster)
    });
    block_on(tables.run()).assert_conforms();
}

/// A kube client in between, which is itself over a transport in memory.
#[tokio::test]
async fn ours_conforms_through_a_kube_client() {
    let suite = Suite::new("ApiSource through a kube client", || {
        let cluster = Cluster::new();
        let service = TransportService::new(FakeTransport::new(cluster.0.clone()));
        let client = Client::new(KubeTransport::new(kube::Client::new(service, "home")));
        let api = client.kube::<ConfigMap>();
        (api.source(Selectors::all()), cluster)
    });
    suite.run().await.assert_conforms();
}

#[test]
fn ours_conforms_in_a_box() {
    let boxed = Suite::new("BoxListerWatcher", || {
        let (source, cluster) = api_source();
        (BoxListerWatcher::new(source), cluster)
    });
    block_on(boxed.run()).assert_conforms();
}

#[test]
fn ours_conforms_as_two_closures() {
    let closures = Suite::new("ListWatch", || {
        let journal = Journal::default();
        let (lists, watches) = (journal.clone(), journal.clone());
        let source = ListWatch::new(
            move |request| {
                let journal = lists.clone();
                async move { journal.list(request).await }
            },
            move |request| {
                let journal = watches.clone();
                async move { journal.watch(request).await }
            },
        );
        (source, journal)
    });
    block_on(closures.run()).assert_conforms();
    let at_once = Suite::new("ListWatch over feed::list", || {
        let journal = Journal::default();
        let (lists, watches) = (journal.clone(), journal.clone());
        let source = ListWatch::new(
            move |_| {
                let (items, at) = lists.read();
                async move { Ok::<_, SourceError>(feed::list(items, &*at)) }
            },
            move |request| {
                let journal = watches.clone();
                async move { journal.watch(request).await }
            },
        );
        (source, QuietJournal(journal))
    });
    block_on(at_once.run()).assert_conforms();
}

/// A journal that is not made to fail.
struct QuietJournal(Journal);

impl World for QuietJournal {
    async fn set(&mut self, n: u32) {
        self.0.set(n).await;
    }

    async fn remove(&mut self, n: u32) {
        self.0.remove(n).await;
    }

    fn name(&self, n: u32) -> (Option<String>, String) {
        self.0.name(n)
    }
}

/// Scripted sources, one for each list and watch, whose script is written as they are asked.
#[derive(Clone, Default)]
pub(crate) struct Prompter {
    played: Arc<Mutex<Played>>,
    watched: Arc<Mutex<Vec<ScriptedSource<u32>>>>,
}

#[derive(Default)]
struct Played {
    version: u32,
    items: std::collections::BTreeMap<u32, (u32, u32)>,
    events: Vec<(u32, Said)>,
}

#[derive(Debug, Clone, Copy)]
enum Said {
    Added(u32, u32),
    Modified(u32, u32),
    Deleted(u32, u32),
}

fn item(n: u32, version: u32, born: u32) -> Decoded<u32> {
    Decoded {
        identity: Identity {
            namespace: None,
            name: format!("{n}").into(),
            stamp: Stamp::new(&*version.to_string(), format!("uid-{n}-{born}")),
        },
        object: version,
    }
}

fn said(version: u32, said: Said) -> Watched<u32> {
    match said {
        Said::Added(n, born) => Watched::Upsert(Cause::Added, Ok(item(n, version, born))),
        Said::Modified(n, born) => Watched::Upsert(Cause::Modified, Ok(item(n, version, born))),
        Said::Deleted(n, born) => Watched::Delete(Ok(item(n, version, born))),
    }
}

impl ListerWatcher for Prompter {
    type Object = u32;
    type Error = SourceError;
    type List = ScriptedFeed<Listed<u32>>;
    type Watch = ScriptedFeed<Watched<u32>>;

    async fn list(&self, request: ListRequest) -> Result<Self::List, SourceError> {
        let script = {
            let played = self.played.lock().unwrap();
            let items = played.items.iter();
            items.fold(
                ListScript::at(&played.version.to_string()),
                |list, (n, (version, born))| list.raw(Listed::Item(Ok(item(*n, *version, *born)))),
            )
        };
        let source = ScriptedSource::new();
        source.on_list(script);
        source.list(request).await
    }

    async fn watch(&self, request: WatchRequest) -> Result<Self::Watch, SourceError> {
        let source = ScriptedSource::new();
        if request.initial_events {
            source.on_watch_error(FailureClass::Unsupported, "no streaming lists");
        } else {
            let played = self.played.lock().unwrap();
            let version = request.version.as_ref();
            let from: u32 = version.map_or(played.version, |it| it.as_str().parse().unwrap());
            let later = played.events.iter().filter(|(version, _)| *version > from);
            let later: Vec<_> = later.map(|(version, event)| said(*version, *event)).collect();
            source.on_watch(later);
        }
        self.watched.lock().unwrap().push(source.clone());
        source.watch(request).await
    }
}

impl Prompter {
    fn plays(&self, event: impl FnOnce(&mut Played) -> Said) {
        let (version, event) = {
            let mut played = self.played.lock().unwrap();
            played.version += 1;
            let event = event(&mut played);
            let version = played.version;
            played.events.push((version, event));
            (version, event)
        };
        self.each(|source| source.push(said(version, event)));
    }

    /// Whether one of the watches took it.
    fn each(&self, does: impl Fn(&ScriptedSource<u32>) -> bool) -> bool {
        let watched = self.watched.lock().unwrap();
        watched.iter().filter(|source| does(source)).count() > 0
    }
}

impl World for Prompter {
    async fn set(&mut self, n: u32) {
        self.plays(|played| {
            let version = played.version;
            match played.items.get_mut(&n) {
                Some((at, born)) => {
                    *at = version;
                    Said::Modified(n, *born)
                }
                None => {
                    played.items.insert(n, (version, version));
                    Said::Added(n, version)
                }
            }
        });
    }

    async fn remove(&mut self, n: u32) {
        self.plays(|played| {
            let (_, born) = played.items.remove(&n).unwrap();
            Said::Deleted(n, born)
        });
    }

    fn name(&self, n: u32) -> (Option<String>, String) {
        (None, n.to_string())
    }

    async fn bookmark(&mut self) -> bool {
        let version = self.played.lock().unwrap().version;
        self.each(|source| source.bookmark(&version.to_string(), false))
    }

    async fn end_watches(&mut self) -> bool {
        self.each(ScriptedSource::end_watch)
    }

    fn n_open(&self) -> Option<usize> {
        Some(
            self.watched
                .lock()
                .unwrap()
                .iter()
                .map(ScriptedSource::n_open_watches)
                .sum(),
        )
    }
}

fn prompter() -> (Prompter, Prompter) {
    let prompter = Prompter::default();
    (prompter.clone(), prompter)
}

pub(crate) fn scripted() -> Suite<Prompter, Prompter> {
    Suite::new("ScriptedSource", prompter)
}

fn journal() -> (Journal, Journal) {
    let journal = Journal::default();
    (journal.clone(), journal)
}

#[test]
fn a_journal_conforms() {
    block_on(Suite::new("Journal", journal).run()).assert_conforms();
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    HasNoEnd,
    HidesVersions,
    OneStampForAll,
    PagesMove,
    ListsThePast,
    BeginsTooLate,
    TellsOfNoEnds,
    BeginsTooEarly,
    SkipsTheFirst,
    NeverMarksTheEnd,
    MarksTooMuch,
    OneWatchForAll,
    WakesNobody,
    LosesWhatItHolds,
    CountsListsForEver,
    LeavesItOpen,
    CutsAtTheEnd,
    ForgetsSilently,
    EverythingIsTransient,
    DropsEveryFifth,
}

const WRONG: [(Fault, &str); 21] = [
    (Fault::HasNoEnd, "a_list_is_whole"),
    (Fault::HidesVersions, "identities_as_they_are"),
    (Fault::OneStampForAll, "a_stamp_for_each_state"),
    (Fault::PagesMove, "pages_are_one_list"),
    (Fault::ListsThePast, "not_older_than"),
    (Fault::BeginsTooLate, "a_watch_goes_on_from_a_list"),
    (Fault::TellsOfNoEnds, "every_change_is_told"),
    (Fault::BeginsTooEarly, "nothing_before_its_version"),
    (Fault::SkipsTheFirst, "from_the_most_recent"),
    (Fault::SkipsTheFirst, "a_resumed_watch"),
    (Fault::NeverMarksTheEnd, "it_may_stream_the_list"),
    (Fault::MarksTooMuch, "a_bookmark_skips_nothing"),
    (Fault::OneWatchForAll, "each_watch_for_itself"),
    (Fault::WakesNobody, "whoever_waits_is_woken"),
    (Fault::LosesWhatItHolds, "a_next_given_up"),
    (Fault::CountsListsForEver, "a_list_given_up"),
    (Fault::LeavesItOpen, "dropped_it_closes"),
    (Fault::CutsAtTheEnd, "a_quiet_watch_ends_cleanly"),
    (Fault::ForgetsSilently, "an_old_version_is_expired"),
    (Fault::EverythingIsTransient, "a_class_for_each_failure"),
    (Fault::DropsEveryFifth, "the_store_would_follow"),
];

/// A journal with a fault.
#[derive(Clone)]
struct Bent {
    journal: Journal,
    fault: Fault,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    past: VecDeque<(Vec<Decoded<Note>>, String)>,
    lists_open: usize,
    n_watches: usize,
    kept: Vec<JournalWatch>,
}

struct BentList {
    items: VecDeque<Listed<Note>>,
    /// Counted as long as it is not read out.
    counted: Option<Arc<Mutex<State>>>,
}

impl Feed for BentList {
    type Event = Listed<Note>;
    type Error = Lost;

    async fn next(&mut self) -> Option<Result<Listed<Note>, Lost>> {
        let item = self.items.pop_front();
        if matches!(item, None | Some(Listed::End { .. }))
            && let Some(state) = self.counted.take()
        {
            state.lock().unwrap().lists_open -= 1;
        }
        item.map(Ok)
    }
}

struct BentWatch {
    watch: Option<JournalWatch>,
    of: Bent,
    n_told: usize,
    initial: VecDeque<Watched<Note>>,
    number: usize,
}

impl Drop for BentWatch {
    fn drop(&mut self) {
        if self.of.fault == Fault::LeavesItOpen {
            let watch = self.watch.take();
            self.of.state.lock().unwrap().kept.extend(watch);
        }
    }
}

impl Feed for BentWatch {
    type Event = Watched<Note>;
    type Error = Lost;

    async fn next(&mut self) -> Option<Result<Watched<Note>, Lost>> {
        if let Some(event) = self.initial.pop_front() {
            return Some(Ok(event));
        }
        let fault = self.of.fault;
        if fault == Fault::OneWatchForAll && self.of.state.lock().unwrap().n_watches != self.number {
            return std::future::pending().await;
        }
        let watch = self.watch.as_mut()?;
        loop {
            let event = if fault == Fault::WakesNobody {
                let next = Box::pin(watch.next());
                Deaf(next).await
            } else {
                watch.next().await
            };
            if fault == Fault::LosesWhatItHolds {
                tokio::task::yield_now().await;
            }
            self.n_told += 1;
            match (fault, &event) {
                (Fault::TellsOfNoEnds, Some(Ok(Watched::Delete(_)))) => {}
                (Fault::SkipsTheFirst, Some(Ok(_))) if self.n_told == 1 => {}
                (Fault::DropsEveryFifth, Some(Ok(_))) if self.n_told.is_multiple_of(5) => {}
                (Fault::MarksTooMuch, Some(Ok(Watched::Bookmark { at, .. }))) => {
                    let version: u64 = at.as_str().parse().unwrap();
                    let at = (&*(version + 1).to_string()).into();
                    return Some(Ok(Watched::Bookmark {
                        at,
                        end_of_initial: false,
                    }));
                }
                (Fault::CutsAtTheEnd, None) => {
                    return Some(Err(Lost::new(FailureClass::Transient)));
                }
                _ => return event,
            }
        }
    }
}

/// Polls with a waker that wakes nobody.
struct Deaf<F>(std::pin::Pin<Box<F>>);

impl<F: Future> Future for Deaf<F> {
    type Output = F::Output;

    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<F::Output> {
        self.0
            .as_mut()
            .poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
    }
}

impl Bent {
    fn with_list(&self, request: &ListRequest) -> (Vec<Decoded<Note>>, String, Option<Box<str>>) {
        let (mut items, mut at) = self.journal.read();
        let mut state = self.state.lock().unwrap();
        state.past.push_back((items.clone(), at.clone()));
        match self.fault {
            Fault::HidesVersions => {
                if let Some(item) = items.get_mut(1) {
                    item.identity.stamp.version = "".into();
                }
            }
            Fault::OneStampForAll => {
                items
                    .iter_mut()
                    .for_each(|item| item.identity.stamp = Stamp::new("7", "u"));
            }
            Fault::ListsThePast if request.version.is_some() => {
                (items, at) = state.past[0].clone();
            }
            Fault::PagesMove => {
                if let Some(limit) = request.limit {
                    let from = request.token.as_ref().map_or(0, |token| token.parse().unwrap());
                    let to = from + limit as usize;
                    let token = (to < items.len()).then(|| to.to_string().into());
                    let page = items.into_iter().skip(from).take(limit as usize);
                    return (page.collect(), at, token);
                }
            }
            _ => {}
        }
        (items, at, None)
    }

    async fn opens_a_list(&self) {
        if self.fault == Fault::CountsListsForEver {
            if self.state.lock().unwrap().lists_open > 0 {
                std::future::pending::<()>().await;
            }
            self.state.lock().unwrap().lists_open += 1;
        }
    }
}

impl ListerWatcher for Bent {
    type Object = Note;
    type Error = Lost;
    type List = BentList;
    type Watch = BentWatch;

    async fn list(&self, request: ListRequest) -> Result<BentList, Lost> {
        // For its failures.
        let opened = self.journal.list(request.clone()).await;
        if self.fault == Fault::EverythingIsTransient {
            opened.map_err(|_| Lost::new(FailureClass::Transient))?;
        }
        self.opens_a_list().await;
        let (items, at, token) = self.with_list(&request);
        let mut items: VecDeque<_> = items.into_iter().map(|item| Listed::Item(Ok(item))).collect();
        if self.fault != Fault::HasNoEnd {
            let at = (&*at).into();
            items.push_back(Listed::End { at, token });
        }
        let counted = (self.fault == Fault::CountsListsForEver).then(|| self.state.clone());
        Ok(BentList { items, counted })
    }

    async fn watch(&self, mut request: WatchRequest) -> Result<BentWatch, Lost> {
        let mut initial = VecDeque::new();
        match self.fault {
            Fault::BeginsTooLate => request.version = None,
            Fault::BeginsTooEarly => request.version = Some("0".into()),
            Fault::NeverMarksTheEnd if request.initial_events => {
                request.initial_events = false;
                let (items, _) = self.journal.read();
                initial.extend(
                    items
                        .into_iter()
                        .map(|item| Watched::Upsert(Cause::Added, Ok(item))),
                );
            }
            _ => {}
        }
        let opened = self.journal.watch(request.clone()).await;
        let watch = match (self.fault, opened) {
            (Fault::ForgetsSilently, Err(_)) if request.version.is_some() => {
                request.version = None;
                self.journal.watch(request).await?
            }
            (_, opened) => opened?,
        };
        let number = {
            let mut state = self.state.lock().unwrap();
            state.n_watches += 1;
            state.n_watches
        };
        Ok(BentWatch {
            watch: Some(watch),
            of: self.clone(),
            n_told: 0,
            initial,
            number,
        })
    }
}

impl World for Bent {
    async fn set(&mut self, n: u32) {
        self.journal.set(n).await;
    }

    async fn remove(&mut self, n: u32) {
        self.journal.remove(n).await;
    }

    fn name(&self, n: u32) -> (Option<String>, String) {
        self.journal.name(n)
    }

    async fn bookmark(&mut self) -> bool {
        self.journal.bookmark().await
    }

    async fn end_watches(&mut self) -> bool {
        self.journal.end_watches().await
    }

    async fn forget(&mut self) -> bool {
        self.journal.forget().await
    }

    async fn fail_next(&mut self, class: FailureClass) -> bool {
        self.journal.fail_next(class).await
    }

    fn n_open(&self) -> Option<usize> {
        self.journal.n_open()
    }
}

#[test]
fn wrong_ones_are_found_out() {
    for (fault, check) in WRONG {
        let make = move || {
            let bent = Bent {
                journal: Journal::default(),
                fault,
                state: Arc::default(),
            };
            (bent.clone(), bent)
        };
        let suite = Suite::new(&format!("{fault:?}"), make).only(check);
        caught(check, &block_on(suite.run()));
    }
    all_catch(&block_on(scripted().run()), &WRONG.map(|(_, check)| check));
}
