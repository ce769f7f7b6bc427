//! Index equals recomputation.

use std::{collections::BTreeSet, ops::ControlFlow};

use informer_core::ObjectKey;

use super::{Invariant, Verdict};
use crate::{
    thing::{Color, Thing},
    world::View,
};

#[derive(Debug)]
pub(super) struct Index;

impl Invariant for Index {
    fn name(&self) -> &'static str {
        "index"
    }

    fn sentence(&self) -> &'static str {
        "An index answers what a scan of the same snapshot with the index function would."
    }

    fn settled(&mut self, view: &View<'_>) -> Verdict {
        for member in view.members {
            let snapshot = member.store.snapshot();
            let by_color = Color::ALL.map(|color| ("color", color.as_str()));
            let by_namespace = ["a", "b"].map(|namespace| ("namespace", namespace));
            for (index, value) in by_color.into_iter().chain(by_namespace) {
                let value_of = |thing: &Thing| match index {
                    "color" => thing.color().as_str() == value,
                    _ => thing.namespace() == value,
                };
                let mut expected: BTreeSet<ObjectKey> = BTreeSet::new();
                snapshot.scan(None, &mut |entry| {
                    if value_of(&entry.object) {
                        expected.insert(entry.key.clone());
                    }
                    ControlFlow::Continue(())
                });
                let mut found = BTreeSet::new();
                let answered = snapshot.by_index(index, value, &mut |entry| {
                    found.insert(entry.key.clone());
                    ControlFlow::Continue(())
                });
                answered.map_err(|unknown| unknown.to_string())?;
                if found != expected {
                    return Err(format!(
                        "i{}: under {index}={value} there are {found:?}, not {expected:?}",
                        member.id
                    ));
                }
            }
        }
        Ok(())
    }
}
