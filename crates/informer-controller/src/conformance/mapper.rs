//! The suite for [`Mapper`].

use std::{collections::BTreeSet, fmt};

use informer_core::{Change, Entry, Key};

use super::{Report, changes};
use crate::{Mapper, Request};

/// Checks a mapper on states of objects that it is shown.
pub struct MapperSuite<Q, K, R> {
    subject: String,
    make: Box<dyn Fn() -> Box<dyn Mapper<Q, K, R>>>,
    objects: Vec<Entry<Q, K>>,
}

impl<Q: Key, K: Send + Sync + 'static, R: Request> MapperSuite<Q, K, R> {
    /// For the mapper that this makes.
    pub fn new<M: Mapper<Q, K, R> + 'static>(subject: &str, make: impl Fn() -> M + 'static) -> Self {
        Self {
            subject: subject.to_owned(),
            make: Box::new(move || Box::new(make())),
            objects: Vec::new(),
        }
    }

    /// States of one object, of which the mapper is to name requests: at least two that lead to different ones, where there are.
    #[must_use]
    pub fn objects(mut self, objects: impl IntoIterator<Item = Entry<Q, K>>) -> Self {
        self.objects.extend(objects);
        self
    }

    /// Runs all checks.
    pub fn run(&self) -> Report {
        let mut report = Report::new(&self.subject);
        report.check(
            "the_same_change_names_the_same_requests",
            "What a change is about does not depend on when it is asked: a mapping that failed is tried again later.",
            || self.each(|change| same(&self.map(change)?, &self.map(change)?)),
        );
        report.check(
            "an_update_names_those_of_both_states",
            "Of an update, the requests of the old and of the new state: whoever the object points away from hears of it, too.",
            || {
                self.pairs(|old, new| {
                    let updated = self.map(&Change::Updated {
                        old: old.clone(),
                        new: new.clone(),
                    })?;
                    let mut both = self.added(old)?;
                    both.extend(self.added(new)?);
                    same(&updated, &both)
                })
            },
        );
        report.check(
            "a_removal_names_what_the_object_was_about",
            "The end of an object is about the same requests as its beginning, observed or not.",
            || {
                self.pairs(|_, new| {
                    for observed in [true, false] {
                        let last = new.clone();
                        same(&self.map(&Change::Removed { last, observed })?, &self.added(new)?)?;
                    }
                    Ok(())
                })
            },
        );
        report.check(
            "a_resync_names_what_the_object_is_about",
            "A resync is about the same requests as the object's beginning.",
            || {
                self.pairs(|_, new| {
                    let current = new.clone();
                    same(&self.map(&Change::Resynced { current })?, &self.added(new)?)
                })
            },
        );
        report
    }

    fn map(&self, change: &Change<Q, K>) -> Result<Vec<R>, String> {
        let mut requests = Vec::new();
        (self.make)()
            .map(change, &mut |request| requests.push(request))
            .map_err(|error| error.to_string())?;
        Ok(requests)
    }

    fn added(&self, entry: &Entry<Q, K>) -> Result<Vec<R>, String> {
        self.map(&Change::Added {
            new: entry.clone(),
            initial: false,
        })
    }

    fn pairs(
        &self,
        mut check: impl FnMut(&Entry<Q, K>, &Entry<Q, K>) -> Result<(), String>,
    ) -> Result<(), String> {
        for old in &self.objects {
            for new in &self.objects {
                check(old, new)?;
            }
        }
        Ok(())
    }

    fn each(&self, mut check: impl FnMut(&Change<Q, K>) -> Result<(), String>) -> Result<(), String> {
        self.pairs(|old, new| changes(old, new).iter().try_for_each(&mut check))
    }
}

/// Whether both name the same requests, in whatever order and however often.
fn same<R: Request>(one: &[R], other: &[R]) -> Result<(), String> {
    let texts = |all: &[R]| all.iter().map(|it| format!("{it:?}")).collect::<BTreeSet<_>>();
    if one.iter().all(|it| other.contains(it)) && other.iter().all(|it| one.contains(it)) {
        Ok(())
    } else {
        Err(format!("{:?} instead of {:?}", texts(one), texts(other)))
    }
}

impl<Q, K, R> fmt::Debug for MapperSuite<Q, K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MapperSuite")
            .field("subject", &self.subject)
            .field("objects", &self.objects.len())
            .finish_non_exhaustive()
    }
}
