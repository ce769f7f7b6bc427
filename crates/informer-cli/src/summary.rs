//! The closing summary, on standard error.

use std::{fmt, fs};

/// What was done, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) n_objects: usize,
    pub(crate) n_events: u64,
    pub(crate) n_lists: u64,
    pub(crate) n_watches: u64,
    pub(crate) n_relists: u64,
    /// `None` where the system does not say.
    pub(crate) peak_kib: Option<u64>,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} objects, {} events, {} lists, {} watches, {} relists",
            self.n_objects, self.n_events, self.n_lists, self.n_watches, self.n_relists
        )?;
        match self.peak_kib {
            Some(kib) => write!(f, ", peak memory {:.1} MiB", kib as f64 / 1024.0),
            None => f.write_str(", peak memory unknown here"),
        }
    }
}

/// The most memory this process ever held, in KiB: `VmHWM` of Linux.
pub(crate) fn peak_kib() -> Option<u64> {
    peak_of(&fs::read_to_string("/proc/self/status").ok()?)
}

fn peak_of(status: &str) -> Option<u64> {
    status.lines().find_map(|line| {
        line.strip_prefix("VmHWM:")?
            .trim()
            .strip_suffix("kB")?
            .trim()
            .parse()
            .ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_peak_where_linux_says_it() {
        assert_eq!(
            peak_of("Name:\tinformer\nVmHWM:\t    9216 kB\nThreads:\t3\n"),
            Some(9_216)
        );
        assert_eq!(peak_of("Name:\tinformer\n"), None);
    }

    #[test]
    fn is_one_line() {
        let summary = Summary {
            n_objects: 240,
            n_events: 1_000,
            n_lists: 1,
            n_watches: 2,
            n_relists: 0,
            peak_kib: Some(9_216),
        };
        assert_eq!(
            summary.to_string(),
            "240 objects, 1000 events, 1 lists, 2 watches, 0 relists, peak memory 9.0 MiB"
        );
    }
}
