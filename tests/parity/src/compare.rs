//! Where two sides part.

use std::fmt;

use crate::sequence::Step;

/// The first step at which the two sides differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Which step, from zero.
    pub at: usize,
    /// What client-go's answer asks of ours, after the differences that are known.
    pub expected: Step,
    /// What ours did.
    pub ours: Step,
}

/// The first difference, if there is one.
#[must_use]
pub fn compare(expected: &[Step], ours: &[Step]) -> Option<Mismatch> {
    let none = Step::default();
    (0..expected.len().max(ours.len())).find_map(|at| {
        let expected = expected.get(at).unwrap_or(&none);
        let ours = ours.get(at).unwrap_or(&none);
        (expected != ours).then(|| Mismatch {
            at,
            expected: expected.clone(),
            ours: ours.clone(),
        })
    })
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "step {}:", self.at)?;
        if self.expected.said != self.ours.said {
            writeln!(f, "  client-go said {:#?}", self.expected.said)?;
            writeln!(f, "  ours said      {:#?}", self.ours.said)?;
        }
        let names = self.expected.seen.keys().chain(self.ours.seen.keys());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names.dedup();
        for name in names {
            let (expected, ours) = (self.expected.seen.get(name), self.ours.seen.get(name));
            if expected != ours {
                writeln!(f, "  {name}: client-go {expected:?}, ours {ours:?}")?;
            }
        }
        Ok(())
    }
}
