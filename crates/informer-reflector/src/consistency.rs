//! A check for tests: what a streaming list brought is what a LIST of exactly its version brings.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use informer_core::{
    DecodeError, Decoded, Feed, Identity, ListRequest, Listed, ListerWatcher, ResourceVersion, VersionMatch,
    WatchRequest, Watched,
};

/// How often a LIST that fails is tried.
const TRIES: u32 = 3;

type AnyFingerprint<K> = dyn Fn(&K) -> String + Send + Sync;
type Fingerprint<K> = Arc<AnyFingerprint<K>>;

/// A source around another one, that checks each streaming list which goes through (client-go's data consistency detector).
///
/// When the end marker comes, it asks for a LIST of exactly that version, compares, and only then hands the marker on. It doubles the load,
/// so it is for tests. What it finds is in its [`report`](Self::report).
pub struct ConsistencyDetector<L: ListerWatcher> {
    source: Arc<L>,
    fingerprint: Option<Fingerprint<L::Object>>,
    report: ConsistencyReport,
}

impl<L: ListerWatcher> ConsistencyDetector<L> {
    /// Checks names, uids and versions.
    #[must_use]
    pub fn new(source: L) -> Self {
        Self {
            source: Arc::new(source),
            fingerprint: None,
            report: ConsistencyReport::default(),
        }
    }

    /// The same, which compares also what `fingerprint` says of each object.
    #[must_use]
    pub fn fingerprint(mut self, fingerprint: impl Fn(&L::Object) -> String + Send + Sync + 'static) -> Self {
        self.fingerprint = Some(Arc::new(fingerprint));
        self
    }

    /// What it found and finds.
    #[must_use]
    pub fn report(&self) -> ConsistencyReport {
        self.report.clone()
    }
}

impl<L: ListerWatcher> fmt::Debug for ConsistencyDetector<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsistencyDetector")
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}

/// What a [`ConsistencyDetector`] found. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct ConsistencyReport(Arc<Mutex<Found>>);

#[derive(Debug, Default)]
struct Found {
    checked: usize,
    skipped: Vec<String>,
    differences: Vec<String>,
}

impl ConsistencyReport {
    /// Streaming lists that were compared with a LIST.
    #[must_use]
    pub fn checked(&self) -> usize {
        self.lock().checked
    }

    /// Why streaming lists could not be compared: their version was gone, or the LIST failed.
    #[must_use]
    pub fn skipped(&self) -> Vec<String> {
        self.lock().skipped.clone()
    }

    /// Where a streaming list and the LIST of its version differed, a sentence each.
    #[must_use]
    pub fn differences(&self) -> Vec<String> {
        self.lock().differences.clone()
    }

    /// Asserts that at least one streaming list was compared, and none differed.
    ///
    /// # Panics
    /// When that is not so; it says where they differed, and why none was compared.
    #[track_caller]
    pub fn assert_consistent(&self) {
        let found = self.lock();
        assert!(
            found.differences.is_empty(),
            "a streaming list and its LIST differ: {:#?}",
            found.differences
        );
        assert!(
            found.checked > 0,
            "no streaming list was compared; skipped: {:#?}",
            found.skipped
        );
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<L: ListerWatcher + 'static> ListerWatcher for ConsistencyDetector<L> {
    type Object = L::Object;
    type Error = L::Error;
    type List = L::List;
    type Watch = CheckedWatch<L>;

    fn list(&self, request: ListRequest) -> impl Future<Output = Result<Self::List, Self::Error>> + Send {
        self.source.list(request)
    }

    async fn watch(&self, request: WatchRequest) -> Result<Self::Watch, Self::Error> {
        let initial = request.initial_events.then(State::default);
        Ok(CheckedWatch {
            watch: self.source.watch(request).await?,
            source: self.source.clone(),
            fingerprint: self.fingerprint.clone(),
            report: self.report.clone(),
            initial,
            marker: None,
        })
    }
}

/// What is compared of an object.
#[derive(Debug, PartialEq, Eq)]
struct Print {
    uid: Arc<str>,
    version: ResourceVersion,
    /// `None`: not asked for, or not readable.
    object: Option<String>,
}

type State = BTreeMap<String, Print>;

/// A watch of a [`ConsistencyDetector`].
pub struct CheckedWatch<L: ListerWatcher> {
    watch: L::Watch,
    source: Arc<L>,
    fingerprint: Option<Fingerprint<L::Object>>,
    report: ConsistencyReport,
    /// What the streaming list has brought, until its end.
    initial: Option<State>,
    /// The end marker that was read and is not handed on before the check is done.
    marker: Option<ResourceVersion>,
}

impl<L: ListerWatcher> fmt::Debug for CheckedWatch<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckedWatch").finish_non_exhaustive()
    }
}

impl<L: ListerWatcher> CheckedWatch<L> {
    fn note(&mut self, event: &Watched<L::Object>) {
        let fingerprint = self.fingerprint.as_deref();
        let Some(initial) = &mut self.initial else { return };
        match event {
            Watched::Upsert(_, item) => keep(initial, item, fingerprint),
            Watched::Delete(item) => {
                if let Some(identity) = identity(item) {
                    initial.remove(&identity.to_string());
                }
            }
            Watched::Bookmark {
                at,
                end_of_initial: true,
            } => self.marker = Some(at.clone()),
            Watched::Bookmark { .. } | Watched::Odd(_) => {}
        }
    }
}

impl<L: ListerWatcher> Feed for CheckedWatch<L> {
    type Event = Watched<L::Object>;
    type Error = L::Error;

    async fn next(&mut self) -> Option<Result<Self::Event, Self::Error>> {
        if self.marker.is_none() {
            match self.watch.next().await {
                Some(Ok(event)) => {
                    self.note(&event);
                    if self.marker.is_none() {
                        return Some(Ok(event));
                    }
                }
                other => return other,
            }
        }
        // Until the check is done the marker stays where it is, so that nothing is lost when this is dropped.
        let at = self.marker.clone()?;
        let nothing = State::new();
        let initial = self.initial.as_ref().unwrap_or(&nothing);
        let outcome = check(&*self.source, self.fingerprint.as_deref(), initial, &at).await;
        let mut found = self.report.lock();
        match outcome {
            Ok(differences) => {
                found.checked += 1;
                found.differences.extend(differences);
            }
            Err(why) => found.skipped.push(why),
        }
        drop(found);
        self.initial = None;
        self.marker = None;
        Some(Ok(Watched::Bookmark {
            at,
            end_of_initial: true,
        }))
    }

    fn bytes_read(&self) -> Option<u64> {
        self.watch.bytes_read()
    }
}

async fn check<L: ListerWatcher>(
    source: &L,
    fingerprint: Option<&AnyFingerprint<L::Object>>,
    streamed: &State,
    at: &ResourceVersion,
) -> Result<Vec<String>, String> {
    if at.is_none() || at.as_str() == "0" {
        return Err(format!("there is no LIST of exactly version {:?}", at.as_str()));
    }
    let mut tries = 1;
    loop {
        match list(source, fingerprint, at).await {
            Ok(listed) => return Ok(compare(streamed, &listed)),
            Err(error) if tries == TRIES => return Err(error),
            Err(_) => tries += 1,
        }
    }
}

async fn list<L: ListerWatcher>(
    source: &L,
    fingerprint: Option<&AnyFingerprint<L::Object>>,
    at: &ResourceVersion,
) -> Result<State, String> {
    let mut request = ListRequest::default();
    request.version = Some(at.clone());
    request.version_match = Some(VersionMatch::Exact);
    let mut state = State::new();
    loop {
        let opened = source.list(request).await;
        let mut list = opened.map_err(|error| error.to_string())?;
        let token = loop {
            match list.next().await {
                Some(Ok(Listed::Item(item))) => keep(&mut state, &item, fingerprint),
                Some(Ok(Listed::End { token, .. })) => break token,
                Some(Err(error)) => return Err(error.to_string()),
                None => return Err("the list was cut".to_owned()),
            }
        };
        if token.as_ref().is_none_or(|token| token.is_empty()) {
            return Ok(state);
        }
        request = ListRequest::default();
        request.token = token;
    }
}

fn identity<K>(item: &Result<Decoded<K>, DecodeError>) -> Option<&Identity> {
    match item {
        Ok(decoded) => Some(&decoded.identity),
        Err(error) => error.identity(),
    }
}

fn keep<K>(
    state: &mut State,
    item: &Result<Decoded<K>, DecodeError>,
    fingerprint: Option<&AnyFingerprint<K>>,
) {
    if let Some(identity) = identity(item) {
        let object = item.as_ref().ok();
        state.insert(
            identity.to_string(),
            Print {
                uid: identity.stamp.uid.clone(),
                version: identity.stamp.version.clone(),
                object: object.and_then(|it| fingerprint.map(|print| print(&it.object))),
            },
        );
    }
}

fn compare(streamed: &State, listed: &State) -> Vec<String> {
    let mut differences = Vec::new();
    for (name, print) in streamed {
        match listed.get(name) {
            None => differences.push(format!("{name} was streamed and is not in the list")),
            Some(other) if other != print => {
                differences.push(format!(
                    "{name} was streamed as {print:?} and listed as {other:?}"
                ));
            }
            Some(_) => {}
        }
    }
    for name in listed.keys().filter(|name| !streamed.contains_key(*name)) {
        differences.push(format!("{name} was listed and not streamed"));
    }
    differences
}
