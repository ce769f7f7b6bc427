//! Sequences that are kept, as text: each operation, and below it, indented, what client-go's answer to it was, and behind a `~` what
//! ours does where that differs on purpose.
//!
//! ```text
//! # Why it is kept.
//! suite store
//! shows applied-version
//!
//! add ns/a@5#u1[x]
//!     > what was said
//!     applied = 5
//!   ~ applied = 7
//! ```

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    difference::Difference,
    sequence::{Sequence, Step},
};

/// A sequence that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The comment at its head, without the marks.
    pub about: String,
    /// The differences that it is kept to show.
    pub shows: Vec<String>,
    /// What is done.
    pub sequence: Sequence,
    /// What client-go did.
    pub answer: Vec<Step>,
    /// What ours does, by the number of the step, where that differs. Only in a trace that shows a difference.
    pub ours: BTreeMap<usize, Step>,
}

impl Trace {
    /// Reads a trace.
    ///
    /// # Errors
    /// When a line cannot stand where it does.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut about = Vec::new();
        let mut suite = None;
        let mut shows = Vec::new();
        let mut ops = Vec::new();
        let mut answer: Vec<Step> = Vec::new();
        let mut ours: BTreeMap<usize, Step> = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(comment) = line.strip_prefix('#') {
                about.push(comment.trim());
            } else if let Some(told) = line.strip_prefix("    ") {
                let step = answer
                    .last_mut()
                    .ok_or_else(|| format!("line {number}: an answer to no operation"))?;
                read_told(step, told).map_err(|error| format!("line {number}: {error}"))?;
            } else if let Some(told) = line.strip_prefix("  ~") {
                let at = answer
                    .len()
                    .checked_sub(1)
                    .ok_or_else(|| format!("line {number}: an answer to no operation"))?;
                read_told(ours.entry(at).or_default(), told.trim_start())
                    .map_err(|error| format!("line {number}: {error}"))?;
            } else if suite.is_none() {
                if let Some(name) = line.strip_prefix("suite ") {
                    suite = Some(name.trim().to_owned());
                } else if !line.trim().is_empty() {
                    return Err(format!("line {number}: `suite NAME` comes first"));
                }
            } else if let (Some(difference), true) = (line.strip_prefix("shows "), ops.is_empty()) {
                shows.push(difference.trim().to_owned());
            } else if !line.trim().is_empty() {
                ops.push(line.trim().to_owned());
                answer.push(Step::default());
            }
        }
        let suite = suite.ok_or_else(|| "there is no `suite NAME`".to_owned())?;
        Ok(Self {
            about: about.join("\n"),
            shows,
            sequence: Sequence { suite, ops },
            answer,
            ours,
        })
    }

    /// The trace as its text.
    #[must_use]
    pub fn write(&self) -> String {
        let mut text = String::new();
        for line in self.about.lines() {
            let _ = writeln!(text, "# {line}");
        }
        let _ = writeln!(text, "suite {}", self.sequence.suite);
        for difference in &self.shows {
            let _ = writeln!(text, "shows {difference}");
        }
        text.push('\n');
        let none = Step::default();
        for (at, op) in self.sequence.ops.iter().enumerate() {
            let _ = writeln!(text, "{op}");
            let step = self.answer.get(at).unwrap_or(&none);
            write_told(&mut text, "    ", step);
            if let Some(ours) = self.ours.get(&at) {
                if *ours == none {
                    text.push_str("  ~\n");
                }
                write_told(&mut text, "  ~ ", ours);
            }
        }
        text
    }

    /// What ours does, all of it.
    #[must_use]
    pub fn all_of_ours(&self) -> Vec<Step> {
        let steps = self.answer.iter().enumerate();
        steps
            .map(|(at, step)| self.ours.get(&at).unwrap_or(step).clone())
            .collect()
    }

    /// Notes what ours does where it differs.
    pub fn note_ours(&mut self, ours: Vec<Step>) {
        let steps = ours.into_iter().enumerate();
        self.ours = steps
            .filter(|(at, step)| self.answer.get(*at) != Some(step))
            .collect();
    }

    /// Whether it is kept to show this one.
    #[must_use]
    pub fn shows(&self, difference: Difference) -> bool {
        self.shows.iter().any(|name| name == difference.name())
    }
}

fn read_told(step: &mut Step, told: &str) -> Result<(), String> {
    if let Some(said) = told.strip_prefix("> ") {
        step.said.push(said.to_owned());
    } else if let Some((name, value)) = told.split_once(" =") {
        step.seen.insert(name.to_owned(), value.trim().to_owned());
    } else if !told.is_empty() {
        return Err("neither `> said` nor `name = value`".to_owned());
    }
    Ok(())
}

fn write_told(text: &mut String, indent: &str, step: &Step) {
    for said in &step.said {
        let _ = writeln!(text, "{indent}> {said}");
    }
    for (name, value) in &step.seen {
        let _ = writeln!(text, "{indent}{}", format!("{name} = {value}").trim_end());
    }
}

/// The folder of the traces.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("traces")
}

/// All traces with their files, by name, those below `upstream` included.
///
/// # Errors
/// When one cannot be read; the error names it.
pub fn traces() -> io::Result<Vec<(PathBuf, Trace)>> {
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in [folder(), folder().join("upstream")] {
        for entry in fs::read_dir(folder)? {
            files.extend(Some(entry?.path()).filter(|path| path.is_file()));
        }
    }
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let text = fs::read_to_string(&file)?;
            let trace = Trace::read(&text)
                .map_err(|error| io::Error::other(format!("{}: {error}", file.display())))?;
            Ok((file, trace))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_read_as_it_was_written() {
        let text = "# Two lines\n# of why.\nsuite store\nshows applied-version\n\nadd a@1#[x]\n    > told\n    applied = 1\n    gone =\n  ~ applied = 7\nbookmark @2\n    x = y\n  ~\n";
        let trace = Trace::read(text).unwrap();
        assert_eq!(trace.sequence.ops, ["add a@1#[x]", "bookmark @2"]);
        assert_eq!(trace.answer[0].seen["gone"], "");
        assert!(trace.shows(Difference::AppliedVersion));
        assert_eq!(trace.ours[&0].seen["applied"], "7");
        assert_eq!(trace.ours[&1], Step::default());
        assert_eq!(trace.write(), text);
    }

    #[test]
    fn a_line_out_of_place_is_an_error() {
        for text in [
            "add a@1#[]\n",
            "suite store\n    > told\n",
            "suite s\nx\n    what\n",
            "",
        ] {
            assert!(Trace::read(text).is_err(), "{text:?}");
        }
    }
}
