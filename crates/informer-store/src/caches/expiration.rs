//! Entries that go by themselves once they are too old.

use std::{
    collections::BTreeMap,
    fmt,
    time::{Duration, Instant},
};

use informer_core::{Entry, Key, ResourceVersion};

/// Holds entries for a time (client-go `NewTTLStore` and `ExpirationCache`, `expiration_cache.go`).
///
/// An entry is stamped when it is put in, and again each time it is put in. Reading takes out what is too old: nothing else does, so
/// [`keys`](Self::keys) and [`len`](Self::len) count what expired and was not read since.
///
/// ```
/// use std::{sync::Arc, time::{Duration, Instant}};
///
/// use informer_core::{Entry, Stamp};
/// use informer_store::caches::ExpirationCache;
///
/// # #[expect(clippy::disallowed_methods, reason = "an edge: the example has no clock")]
/// let start = Instant::now();
/// let mut cache = ExpirationCache::new(Duration::from_secs(30));
/// cache.insert(start, Entry::new("a", Stamp::default(), Arc::new(1)));
/// assert!(cache.get(start + Duration::from_secs(30), &"a").is_some());
/// assert!(cache.get(start + Duration::from_secs(31), &"a").is_none());
/// ```
pub struct ExpirationCache<Q, K> {
    policy: Policy<Q, K>,
    entries: BTreeMap<Q, (Entry<Q, K>, Instant)>,
    applied: ResourceVersion,
}

/// Whether an entry of this age is too old.
type Policy<Q, K> = Box<dyn Fn(&Entry<Q, K>, Duration) -> bool + Send + Sync>;

impl<Q: Key, K> ExpirationCache<Q, K> {
    /// Entries are gone once they are older than `ttl`, not yet at exactly that age. Zero: they stay.
    #[must_use]
    pub fn new(ttl: Duration) -> Self {
        Self::with_policy(move |_, age| !ttl.is_zero() && age > ttl)
    }

    /// Entries are gone once `is_expired` says so of them and their age (client-go `NewExpirationStore`).
    #[must_use]
    pub fn with_policy(is_expired: impl Fn(&Entry<Q, K>, Duration) -> bool + Send + Sync + 'static) -> Self {
        Self {
            policy: Box::new(is_expired),
            entries: BTreeMap::new(),
            applied: ResourceVersion::none(),
        }
    }

    /// Puts an entry in, in place of the one of its key, as young as can be.
    pub fn insert(&mut self, now: Instant, entry: Entry<Q, K>) {
        self.entries.insert(entry.key.clone(), (entry, now));
    }

    /// Takes an entry out, whatever its age.
    pub fn remove(&mut self, key: &Q) -> Option<Entry<Q, K>> {
        self.entries.remove(key).map(|(entry, _)| entry)
    }

    /// Holds exactly these from now on, all as young as can be. Of two items of one key the later one counts.
    pub fn replace(
        &mut self,
        now: Instant,
        items: impl IntoIterator<Item = Entry<Q, K>>,
        at: ResourceVersion,
    ) {
        self.entries.clear();
        for item in items {
            self.insert(now, item);
        }
        self.applied = at;
    }

    /// The source was followed up to this version.
    pub fn bookmark(&mut self, at: ResourceVersion) {
        self.applied = at;
    }

    /// The entry of a key, unless it is too old: then it is taken out.
    pub fn get(&mut self, now: Instant, key: &Q) -> Option<Entry<Q, K>> {
        let (entry, since) = self.entries.get(key)?;
        if (self.policy)(entry, now.saturating_duration_since(*since)) {
            self.entries.remove(key);
            return None;
        }
        Some(entry.clone())
    }

    /// The entries that are not too old, in key order. Those that are, are taken out.
    pub fn list(&mut self, now: Instant) -> Vec<Entry<Q, K>> {
        let policy = &self.policy;
        self.entries
            .retain(|_, (entry, since)| !policy(entry, now.saturating_duration_since(*since)));
        self.entries.values().map(|(entry, _)| entry.clone()).collect()
    }

    /// All keys, in order, of what expired as well.
    pub fn keys(&self) -> impl Iterator<Item = &Q> {
        self.entries.keys()
    }

    /// Entries in it, with what expired.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is in it, not even what expired.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The version of the last [`replace`](Self::replace) or [`bookmark`](Self::bookmark).
    #[must_use]
    pub fn applied(&self) -> &ResourceVersion {
        &self.applied
    }
}

impl<Q, K> fmt::Debug for ExpirationCache<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExpirationCache")
            .field("len", &self.entries.len())
            .field("applied", &self.applied)
            .finish_non_exhaustive()
    }
}
