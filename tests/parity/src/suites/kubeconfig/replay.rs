//! The table once more through client-go.

use std::{fs, io, path::Path};

use super::{case::cases, ours::ours};
use crate::oracle::{Oracle, Version};

/// Plays all cases through client-go, and says which of them it answers differently now. With `record` the files are rewritten.
///
/// # Errors
/// When the oracle or a file fails.
pub fn replay(oracles: &Path, record: bool) -> io::Result<Vec<String>> {
    let mut oracle = Oracle::start(oracles, Version::Atomic)?;
    let mut findings = Vec::new();
    for (file, case) in cases()? {
        let steps = oracle.play(&case.sequence())?;
        let answer: Vec<String> = steps.into_iter().flat_map(|step| step.said).collect();
        if record {
            let told = ours(&case);
            fs::write(&file, case.written(&answer, &told.lines, told.says.as_deref()))?;
        } else if answer != case.client_go {
            findings.push(format!(
                "{}: client-go does not answer as recorded: {answer:#?}",
                case.name
            ));
        }
    }
    Ok(findings)
}
