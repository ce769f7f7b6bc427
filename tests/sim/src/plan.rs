//! A plan: a world's parameters and all that is done to it, as text and back.

use std::{error::Error, fmt};

use informer_testkit::Rng;
use serde::Deserialize;

use crate::{
    config::{Config, pick},
    mishap::Mishap,
    op::Op,
};

/// Everything that decides what a run does. The same plan gives the same trace.
///
/// As text it is a line of JSON for the configuration and one for each operation; lines that begin with `#` are comments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub(crate) config: Config,
    pub(crate) ops: Vec<Op>,
}

impl Plan {
    /// The plan of a seed.
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        // Seeds are small numbers in a row: mixed, their worlds have nothing in common.
        let mut rng = Rng::new(Rng::new(seed).bits());
        let config = Config::draw(&mut rng);
        let n_acts = pick(&mut rng, &[(2, 15), (4, 30), (2, 60)]);
        let mut ops = Vec::new();
        for _ in 0..n_acts {
            Op::draw(&mut rng, &config, &mut ops);
        }
        if rng.chance(0.08) {
            let at = rng.index(ops.len());
            let outage = Op::Outage {
                mishap: Mishap::draw_total(&mut rng),
                seconds: 600,
            };
            ops.insert(at, outage);
        }
        Self { config, ops }
    }

    /// Reads a plan back.
    ///
    /// # Errors
    /// When a line is no configuration or operation; the error says which.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        fn read<'a, T: Deserialize<'a>>(number: usize, line: &'a str) -> Result<T, PlanError> {
            serde_json::from_str(line).map_err(|error| PlanError(format!("line {number}: {error}")))
        }
        let mut lines = (1..)
            .zip(text.lines())
            .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let (number, line) = lines
            .next()
            .ok_or_else(|| PlanError("a plan begins with a configuration".to_owned()))?;
        Ok(Self {
            config: read(number, line)?,
            ops: lines
                .map(|(number, line)| read(number, line))
                .collect::<Result<_, _>>()?,
        })
    }

    /// How many operations it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether it does nothing but to start and to end.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = |value: serde_json::Result<String>| value.map_err(|_| fmt::Error);
        writeln!(f, "{}", json(serde_json::to_string(&self.config))?)?;
        for op in &self.ops {
            writeln!(f, "{}", json(serde_json::to_string(op))?)?;
        }
        Ok(())
    }
}

/// A text that is no plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanError(String);

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for PlanError {}
