//! What a process has used, as the system tells it (Linux only).

use std::fs;

use crate::Result;

/// Ticks of the times in `/proc/PID/stat` (`USER_HZ`, the same on all machines that matter here).
const TICKS: f64 = 100.0;

/// A process, by its id.
#[derive(Debug, Clone)]
pub struct Process(String);

/// Memory in megabytes.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// Resident now.
    pub now: f64,
    /// Resident at most, so far.
    pub peak: f64,
}

impl Process {
    /// This one.
    #[must_use]
    pub fn own() -> Self {
        Self("self".to_owned())
    }

    /// The one of this id.
    #[must_use]
    pub fn of(pid: u32) -> Self {
        Self(pid.to_string())
    }

    /// Seconds of processor that it has used, by itself and by the system for it.
    ///
    /// # Errors
    /// When it is gone.
    pub fn cpu(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0))?;
        // The second field, the name, may hold anything but ends with the last parenthesis.
        let (_, rest) = stat.rsplit_once(')').ok_or("odd /proc/PID/stat")?;
        let times: Vec<f64> = rest
            .split_whitespace()
            .skip(11)
            .take(2)
            .map(str::parse)
            .collect::<std::result::Result<_, _>>()?;
        Ok(times.iter().sum::<f64>() / TICKS)
    }

    /// Its memory.
    ///
    /// # Errors
    /// When it is gone.
    pub fn memory(&self) -> Result<Memory> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0))?;
        let line = |name: &str| -> Result<f64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kilobytes: f64 = line
                .and_then(|line| line.split_whitespace().next())
                .ok_or_else(|| format!("no {name}"))?
                .parse()?;
            Ok(kilobytes * 1024.0 / 1e6)
        };
        Ok(Memory {
            now: line("VmRSS:")?,
            peak: line("VmHWM:")?,
        })
    }

    /// Lets the peak begin anew at what is resident now (proc(5), `clear_refs`).
    ///
    /// # Errors
    /// When it is gone, or not ours.
    pub fn forget_peak(&self) -> Result {
        Ok(fs::write(format!("/proc/{}/clear_refs", self.0), "5")?)
    }
}
