//! Running many sequences, and those that are kept.

use std::{
    collections::{BTreeMap, VecDeque},
    fs, io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use crate::{
    compare::{Mismatch, compare},
    difference::{Difference, Differences},
    oracle::Oracle,
    random::Random,
    sequence::{Sequence, Step},
    shrink::shrink,
    suites::Suite,
    trace::{Trace, folder, traces},
};

/// Sequences under way: enough that neither side waits, few enough to fit the pipes.
const UNDER_WAY: usize = 4;

/// At this many failures a campaign ends.
const ENOUGH: usize = 5;

/// What came of a campaign.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Sequences that were compared.
    pub n_sequences: u64,
    /// Operations in them.
    pub n_ops: u64,
    /// The differences that were met, all of them known.
    pub differences: Differences,
    /// Sequences that failed, shrunk, with where they do.
    pub failures: Vec<(Trace, Mismatch)>,
}

/// Plays our side of a sequence and compares it with client-go's answer. A panic of ours is a difference like any other.
#[must_use]
pub fn check(suite: &dyn Suite, ops: &[String], answer: &[Step], met: &mut Differences) -> Option<Mismatch> {
    let expected = suite.translate(ops, answer, met);
    match catch_unwind(AssertUnwindSafe(|| suite.ours(ops))) {
        Ok(ours) => compare(&expected, &ours),
        Err(_) => Some(Mismatch {
            at: 0,
            expected: Step::default(),
            ours: Step {
                said: vec!["a panic, which standard error tells of".to_owned()],
                ..Step::default()
            },
        }),
    }
}

/// Plays random sequences of one suite. Those that fail are shrunk.
///
/// # Errors
/// When the oracle fails.
pub fn campaign(suite: &dyn Suite, oracles: &Path, seed: u64, cases: u64) -> io::Result<Report> {
    let mut oracle = Oracle::start(oracles, suite.version())?;
    let mut report = Report::default();
    let mut under_way: VecDeque<Sequence> = VecDeque::new();
    let mut case = 0;
    while (case < cases || !under_way.is_empty()) && report.failures.len() < ENOUGH {
        while case < cases && under_way.len() < UNDER_WAY {
            let sequence = Sequence {
                suite: suite.name().to_owned(),
                ops: suite.generate(&mut Random::new(seed, suite.name(), case)),
            };
            oracle.ask(&sequence)?;
            under_way.push_back(sequence);
            case += 1;
        }
        let Some(sequence) = under_way.pop_front() else {
            break;
        };
        let answer = oracle.answer()?;
        report.n_sequences += 1;
        report.n_ops += sequence.ops.len() as u64;
        if check(suite, &sequence.ops, &answer, &mut report.differences).is_some() {
            let mut fresh = Oracle::start(oracles, suite.version())?;
            report.failures.push(shrunk(suite, &mut fresh, &sequence)?);
        }
    }
    Ok(report)
}

/// The shortest part of a failing sequence that fails.
fn shrunk(suite: &dyn Suite, oracle: &mut Oracle, sequence: &Sequence) -> io::Result<(Trace, Mismatch)> {
    let mut broken = None;
    let mut play = |ops: &[String]| {
        let sequence = Sequence {
            suite: sequence.suite.clone(),
            ops: ops.to_vec(),
        };
        oracle.play(&sequence).map(|answer| {
            let mismatch = check(suite, ops, &answer, &mut Differences::default());
            (answer, mismatch)
        })
    };
    let ops = shrink(&sequence.ops, |ops| match play(ops) {
        Ok((_, mismatch)) => mismatch.is_some(),
        Err(error) => {
            broken = Some(error);
            false
        }
    });
    if let Some(error) = broken {
        return Err(error);
    }
    let (answer, mismatch) = play(&ops)?;
    let mismatch = mismatch
        .ok_or_else(|| io::Error::other(format!("a sequence fails only sometimes: {:#?}", sequence.ops)))?;
    let trace = Trace {
        about: format!(
            "Found by chance: {}",
            mismatch.to_string().lines().next().unwrap_or_default()
        ),
        shows: Vec::new(),
        sequence: Sequence {
            suite: sequence.suite.clone(),
            ops,
        },
        answer,
        ours: BTreeMap::new(),
    };
    Ok((trace, mismatch))
}

/// Plays the traces once more through client-go, and says which of them it answers differently now. With `record` they are rewritten,
/// with what ours does in those that show a difference.
///
/// # Errors
/// When an oracle or a file fails.
pub fn replay(oracles: &Path, record: bool) -> io::Result<Vec<String>> {
    let mut findings = Vec::new();
    for (file, mut trace) in traces()? {
        let shown = file.strip_prefix(folder()).unwrap_or(&file).display().to_string();
        let Some(suite) = crate::suites::named(&trace.sequence.suite) else {
            findings.push(format!("{shown}: there is no suite {}", trace.sequence.suite));
            continue;
        };
        let answer = Oracle::start(oracles, suite.version())?.play(&trace.sequence)?;
        if record {
            trace.answer = answer;
            if !trace.shows.is_empty() {
                trace.note_ours(suite.ours(&trace.sequence.ops));
            }
            fs::write(&file, trace.write())?;
        } else if let Some(mismatch) = compare(&trace.answer, &answer) {
            findings.push(format!(
                "{shown}: client-go does not answer as recorded: {mismatch}"
            ));
        }
    }
    Ok(findings)
}

/// Whether a trace holds on our side: as recorded, which is as client-go does but for the differences that it is kept to show.
///
/// # Errors
/// A sentence that says what does not hold.
pub fn holds(trace: &Trace) -> Result<(), String> {
    let suite = crate::suites::named(&trace.sequence.suite)
        .ok_or_else(|| format!("there is no suite {}", trace.sequence.suite))?;
    let ops = &trace.sequence.ops;
    if let Some(mismatch) = compare(&trace.all_of_ours(), &suite.ours(ops)) {
        if trace.shows.is_empty() {
            // The known differences may explain it.
            return check(suite, ops, &trace.answer, &mut Differences::default())
                .map_or(Ok(()), |mismatch| Err(mismatch.to_string()));
        }
        return Err(format!("not as recorded: {mismatch}"));
    }
    if trace.shows.is_empty() {
        return Ok(());
    }
    if trace.ours.is_empty() {
        return Err("ours answers as client-go does: there is no difference".to_owned());
    }
    let shown: Vec<Difference> = Difference::ALL
        .into_iter()
        .filter(|it| trace.shows(*it))
        .collect();
    if shown.len() != trace.shows.len() {
        return Err(format!("{:?}: not all of these are differences", trace.shows));
    }
    // What random sequences meet must be explained by its rule, too.
    let mut met = Differences::default();
    if shown.iter().all(|it| it.is_by_chance()) {
        if let Some(mismatch) = check(suite, ops, &trace.answer, &mut met) {
            return Err(format!("not by the rule: {mismatch}"));
        }
        if let Some(missing) = shown.iter().find(|it| !met.has(**it)) {
            return Err(format!("{missing} is not met"));
        }
    }
    Ok(())
}
