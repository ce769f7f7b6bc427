//! The suite for [`Predicate`].

use std::fmt;

use informer_core::{Change, Entry, Key};

use super::{Report, changes};
use crate::Predicate;

/// Checks a predicate on states of objects that it is shown.
pub struct PredicateSuite<Q, K> {
    subject: String,
    make: Box<dyn Fn() -> Box<dyn Predicate<Q, K>>>,
    objects: Vec<Entry<Q, K>>,
    refuses_removals: bool,
}

impl<Q: Key, K: Send + Sync + 'static> PredicateSuite<Q, K> {
    /// For the predicate that this makes.
    pub fn new<P: Predicate<Q, K> + 'static>(subject: &str, make: impl Fn() -> P + 'static) -> Self {
        Self {
            subject: subject.to_owned(),
            make: Box::new(move || Box::new(make())),
            objects: Vec::new(),
            refuses_removals: false,
        }
    }

    /// States of one object: some that pass and some that do not.
    #[must_use]
    pub fn objects(mut self, objects: impl IntoIterator<Item = Entry<Q, K>>) -> Self {
        self.objects.extend(objects);
        self
    }

    /// It is meant to drop removals.
    #[must_use]
    pub fn refuses_removals(mut self) -> Self {
        self.refuses_removals = true;
        self
    }

    /// Runs all checks.
    pub fn run(&self) -> Report {
        let mut report = Report::new(&self.subject);
        report.check(
            "the_same_change_has_the_same_answer",
            "A predicate remembers nothing: a change that is mapped again is asked about again.",
            || {
                let kept = (self.make)();
                self.each(|change| {
                    let fresh = (self.make)().admits(change);
                    match kept.admits(change) == fresh && kept.admits(change) == fresh {
                        true => Ok(()),
                        false => Err(format!("it changed its mind about {:?}", change.entry().stamp)),
                    }
                })
            },
        );
        report.check(
            "each_kind_of_change_has_its_method",
            "Whether a change passes: asks the method of its kind.",
            || {
                let it = (self.make)();
                self.each(|change| {
                    let by_kind = match change {
                        Change::Added { new, initial } => it.added(new, *initial),
                        Change::Updated { old, new } => it.updated(old, new),
                        Change::Removed { last, observed } => it.removed(last, *observed),
                        Change::Resynced { current } => it.resynced(current),
                    };
                    match by_kind == it.admits(change) {
                        true => Ok(()),
                        false => Err(format!("admits says {}, the method {by_kind}", !by_kind)),
                    }
                })
            },
        );
        if !self.refuses_removals {
            report.check(
                "removals_pass",
                "A predicate that looks at what an object is should leave removals alone: else nobody hears of the end of an object that \
                 was let in before.",
                || {
                    let it = (self.make)();
                    self.each(|change| match change {
                        Change::Removed { last, observed } if !it.removed(last, *observed) => {
                            Err(format!("the end of {:?} is dropped", last.key))
                        }
                        _ => Ok(()),
                    })
                },
            );
        }
        report
    }

    fn each(&self, mut check: impl FnMut(&Change<Q, K>) -> Result<(), String>) -> Result<(), String> {
        for old in &self.objects {
            for new in &self.objects {
                changes(old, new).iter().try_for_each(&mut check)?;
            }
        }
        Ok(())
    }
}

impl<Q, K> fmt::Debug for PredicateSuite<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PredicateSuite")
            .field("subject", &self.subject)
            .field("objects", &self.objects.len())
            .finish_non_exhaustive()
    }
}
