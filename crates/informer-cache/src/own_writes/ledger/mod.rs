//! `Ledger`: what was written to a kind, and whether a view shows it. Pure.

use std::{collections::BTreeMap, fmt, sync::Arc};

use informer_core::{Incomparable, ObjectKey, ResourceVersion, Stamp};

use crate::{
    scope::Selected,
    slot::{Look, Verdict},
};

/// Records of a kind, at most.
const LIMIT: usize = 10_000;

/// From here on it is worth looking for records that are shown already.
const LARGE: usize = 256;

/// What a write or a read is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum About {
    Key(ObjectKey),
    Namespace(String),
    All,
}

impl About {
    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => true,
            (Self::Key(one), Self::Key(other)) => one == other,
            (Self::Namespace(one), Self::Namespace(other)) => one == other,
            (Self::Key(key), Self::Namespace(namespace)) | (Self::Namespace(namespace), Self::Key(key)) => {
                key.namespace() == Some(namespace)
            }
        }
    }

    fn holds(&self, key: &ObjectKey) -> bool {
        match self {
            Self::All => true,
            Self::Key(it) => it == key,
            Self::Namespace(namespace) => key.namespace() == Some(namespace),
        }
    }

    fn holds_namespace(&self, namespace: Option<&str>) -> bool {
        match self {
            Self::All => true,
            Self::Key(key) => key.namespace() == namespace,
            Self::Namespace(it) => namespace == Some(it),
        }
    }
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => write!(f, "the write of {key}"),
            Self::Namespace(namespace) => write!(f, "a write in {namespace:?}"),
            Self::All => f.write_str("a write of the kind"),
        }
    }
}

/// What an answer said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fact {
    /// The object is in this state or a later one.
    Reached {
        key: ObjectKey,
        stamp: Stamp,
        selected: Selected,
    },
    /// The incarnation with this uid is gone. It was there at that version, if that is known.
    Gone {
        key: ObjectKey,
        uid: Arc<str>,
        alive: Option<ResourceVersion>,
    },
    /// The object is in a later state than this one, or gone.
    Past { key: ObjectKey, stamp: Stamp },
}

/// What was written to a kind and was not found to be shown yet.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    records: BTreeMap<ObjectKey, Record>,
    /// What stands for records that were too many, by namespace: a version that must be reached.
    floors: BTreeMap<Option<Box<str>>, ResourceVersion>,
    under_way: BTreeMap<u64, About>,
    next: u64,
    /// Entries of all records.
    len: usize,
    /// Looked for shown ones when there are so many again.
    look_at: usize,
    /// There may be deletes of which no later version is known.
    undated: bool,
}

#[derive(Debug, Default)]
struct Record {
    reached: Option<(Stamp, Selected)>,
    gone: Vec<Gone>,
    past: Vec<Stamp>,
}

#[derive(Debug)]
struct Gone {
    uid: Arc<str>,
    alive: Option<ResourceVersion>,
    /// A version that is later than the delete.
    after: Option<ResourceVersion>,
    /// Writes from this one on began after the delete had ended.
    from: u64,
}

impl Ledger {
    /// A write begins.
    pub(super) fn begin(&mut self, about: About) -> u64 {
        let id = self.next;
        self.next += 1;
        self.under_way.insert(id, about);
        id
    }

    /// A write has ended, and this came of it.
    pub(super) fn end(&mut self, id: u64, facts: Vec<Fact>) {
        self.under_way.remove(&id);
        for fact in facts {
            if let Fact::Reached { stamp, .. } = &fact {
                self.date_deletes(id, &stamp.version);
            }
            self.add(fact);
        }
        if self.len > LIMIT {
            self.collapse();
        }
    }

    fn add(&mut self, fact: Fact) {
        let from = self.next;
        let key = match &fact {
            Fact::Reached { key, .. } | Fact::Gone { key, .. } | Fact::Past { key, .. } => key.clone(),
        };
        let record = self.records.entry(key).or_default();
        self.len -= record.len();
        match fact {
            Fact::Reached { stamp, selected, .. } => {
                let later = match &record.reached {
                    Some((before, _)) => at_least(&stamp.version, &before.version).unwrap_or(true),
                    None => true,
                };
                if later {
                    record.reached = Some((stamp, selected));
                }
            }
            Fact::Gone { uid, alive, .. } => {
                let written = record
                    .reached
                    .as_ref()
                    .filter(|(stamp, selected)| stamp.uid == uid && *selected == Selected::Yes);
                let alive = written.map(|(stamp, _)| stamp.version.clone()).or(alive);
                record.past.retain(|stamp| stamp.uid != uid);
                if !record.gone.iter().any(|gone| gone.uid == uid) {
                    self.undated = true;
                    record.gone.push(Gone {
                        uid,
                        alive,
                        after: None,
                        from,
                    });
                }
            }
            Fact::Past { stamp, .. } => {
                record.past.retain(|before| before.uid != stamp.uid);
                record.past.push(stamp);
            }
        }
        self.len += record.len();
    }

    /// A write that began after a delete had ended has a version that is later than the delete.
    fn date_deletes(&mut self, id: u64, version: &ResourceVersion) {
        if !self.undated {
            return;
        }
        self.undated = false;
        for gone in self.records.values_mut().flat_map(|record| &mut record.gone) {
            if gone.after.is_some() {
                continue;
            }
            if gone.from <= id {
                gone.after = Some(version.clone());
            } else {
                self.undated = true;
            }
        }
    }

    /// Where a read begins: writes from here on are not its business.
    pub(super) fn boundary(&self) -> u64 {
        self.next
    }

    /// A write that a read from this boundary has to wait for.
    pub(super) fn busy(&self, boundary: u64, about: &About) -> Option<&About> {
        let mut before = self.under_way.range(..boundary);
        before.find(|(_, it)| it.meets(about)).map(|(_, it)| it)
    }

    /// Entries that are kept.
    pub(super) fn len(&self) -> usize {
        self.len + self.floors.len()
    }

    /// Whether there are enough to look for shown ones.
    pub(super) fn is_large(&self) -> bool {
        self.len >= self.look_at.max(LARGE)
    }

    /// Whether a view shows all that was written to what the read is about.
    pub(super) fn check(&self, about: &About, look: &dyn Look) -> Verdict {
        for (namespace, version) in &self.floors {
            let Some(applied) = look.applied(namespace.as_deref()) else {
                continue;
            };
            if !about.holds_namespace(namespace.as_deref()) {
                continue;
            }
            let what = || format!("the writes up to version {version}");
            match at_least(applied, version) {
                Ok(true) => {}
                Ok(false) => return Verdict::Missing(what()),
                Err(_) => return Verdict::Incomparable(what()),
            }
        }
        if let About::Key(key) = about {
            let record = self.records.get(key);
            return record.map_or(Verdict::Shown, |record| record.check(key, look));
        }
        let of_it = self.records.iter().filter(|(key, _)| about.holds(key));
        for (key, record) in of_it {
            match record.check(key, look) {
                Verdict::Shown => {}
                other => return other,
            }
        }
        Verdict::Shown
    }

    /// Forgets what a view shows of what a read is about, and will be shown from now on.
    pub(super) fn forget_shown(&mut self, about: &About, look: &dyn Look) {
        self.floors.retain(|namespace, version| {
            let applied = look.applied(namespace.as_deref());
            !applied.is_some_and(|applied| at_least(applied, version) == Ok(true))
        });
        match about {
            About::Key(key) => {
                if let Some(record) = self.records.get_mut(key) {
                    self.len -= record.len();
                    record.forget_shown(key, look);
                    self.len += record.len();
                    if record.len() == 0 {
                        self.records.remove(key);
                    }
                }
            }
            _ => self.prune(look),
        }
    }

    /// Forgets what a view shows.
    pub(super) fn prune(&mut self, look: &dyn Look) {
        self.records.retain(|key, record| {
            record.forget_shown(key, look);
            record.len() > 0
        });
        self.len = self.records.values().map(Record::len).sum();
        self.look_at = self.len * 2;
    }

    /// Too many: versions go into one for each namespace, deletes without one go, the oldest first.
    fn collapse(&mut self) {
        let mut floors = std::mem::take(&mut self.floors);
        let mut raise = |key: &ObjectKey, version: ResourceVersion| {
            let floor = floors.entry(key.namespace().map(Into::into)).or_default();
            if floor.is_none() || at_least(&version, floor).unwrap_or(true) {
                *floor = version;
            }
        };
        for (key, record) in &mut self.records {
            if let Some((stamp, _)) = record.reached.take() {
                raise(key, stamp.version);
            }
            for gone in record.gone.extract_if(.., |gone| gone.after.is_some()) {
                raise(key, gone.after.expect("it was asked for just now"));
            }
        }
        self.floors = floors;
        let mut ages: Vec<u64> = self
            .records
            .values()
            .flat_map(|record| record.gone.iter().map(|gone| gone.from))
            .collect();
        ages.sort_unstable();
        let forget = ages
            .len()
            .checked_sub(LIMIT / 2)
            .and_then(|at| ages.get(at.checked_sub(1)?).copied());
        self.records.retain(|_, record| {
            record
                .gone
                .retain(|gone| forget.is_none_or(|forget| gone.from > forget));
            record.len() > 0
        });
        self.len = self.records.values().map(Record::len).sum();
        if self.len > LIMIT {
            // Deletes of many: they are of no order in time.
            while self.len > LIMIT / 2 {
                let Some((_, record)) = self.records.pop_first() else {
                    break;
                };
                self.len -= record.len();
            }
        }
        self.look_at = 0;
    }
}

impl Record {
    fn len(&self) -> usize {
        usize::from(self.reached.is_some()) + self.gone.len() + self.past.len()
    }

    fn check(&self, key: &ObjectKey, look: &dyn Look) -> Verdict {
        // A namespace that is not looked at shows nothing, so nothing old either.
        let Some(applied) = look.applied(key.namespace()) else {
            return Verdict::Shown;
        };
        let now = look.stamp(key);
        if let Some((stamp, selected)) = &self.reached
            && !self.gone.iter().any(|gone| gone.uid == stamp.uid)
        {
            let what = || format!("{key} at version {}", stamp.version);
            match reached(stamp, *selected, now, applied) {
                Ok(true) => {}
                Ok(false) => return Verdict::Missing(what()),
                Err(_) => return Verdict::Incomparable(what()),
            }
        }
        let Some(now) = now else {
            return Verdict::Shown;
        };
        if self.gone.iter().any(|gone| gone.uid == now.uid) {
            return Verdict::Missing(format!("the end of {key} with uid {}", now.uid));
        }
        let old = self
            .past
            .iter()
            .find(|past| past.uid == now.uid && !is_later(now, past));
        match old {
            Some(past) => Verdict::Missing(format!("{key} later than version {}", past.version)),
            None => Verdict::Shown,
        }
    }

    fn forget_shown(&mut self, key: &ObjectKey, look: &dyn Look) {
        let Some(applied) = look.applied(key.namespace()) else {
            return;
        };
        let now = look.stamp(key);
        let follows = |version: &ResourceVersion| at_least(applied, version) == Ok(true);
        let shows =
            |version: &ResourceVersion| now.is_some_and(|now| at_least(&now.version, version) == Ok(true));
        self.gone.retain(|gone| {
            let over = gone.after.as_ref().is_some_and(follows);
            // It was there at that version, so if it is not there later, it is over.
            let left = gone.alive.as_ref().is_some_and(follows) && now.is_none_or(|now| now.uid != gone.uid);
            !(over || left)
        });
        self.past.retain(|past| {
            let is_it = now.is_some_and(|now| now.uid == past.uid);
            let over = match now {
                Some(now) if is_it => is_later(now, past),
                _ => follows(&past.version),
            };
            !over
        });
        let done = self.reached.as_ref().is_some_and(|(stamp, _)| {
            let exact = now.is_some_and(|now| now.version == stamp.version);
            exact || follows(&stamp.version) || shows(&stamp.version)
        });
        if done {
            self.reached = None;
        }
    }
}

/// Whether an object is shown in a state or a later one, or rightly not at all.
fn reached(
    wanted: &Stamp,
    selected: Selected,
    now: Option<&Stamp>,
    applied: &ResourceVersion,
) -> Result<bool, Incomparable> {
    if let Some(now) = now
        && now.version == wanted.version
    {
        return Ok(true);
    }
    let follows = at_least(applied, &wanted.version);
    if follows == Ok(true) {
        return Ok(true);
    }
    match now {
        Some(now) => at_least(&now.version, &wanted.version),
        // It does not come in, and no older state of it is there.
        None if selected == Selected::No => Ok(true),
        None => follows,
    }
}

fn is_later(now: &Stamp, past: &Stamp) -> bool {
    match now.version.compare(&past.version) {
        Ok(order) => order.is_gt(),
        Err(_) => now.version != past.version,
    }
}

/// Nothing applied is before every version.
fn at_least(version: &ResourceVersion, wanted: &ResourceVersion) -> Result<bool, Incomparable> {
    if version == wanted {
        return Ok(true);
    }
    if version.is_none() {
        return Ok(false);
    }
    Ok(version.compare(wanted)?.is_ge())
}

#[cfg(test)]
mod tests;
