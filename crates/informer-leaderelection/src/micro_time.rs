//! `MicroTime`: the times of a lease, to the microsecond, as the API writes them.

use std::{error::Error, fmt, str::FromStr, time::SystemTime};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The first and the last second that can be written, in microseconds.
const FIRST: i64 = -62_167_219_200_000_000;
const LAST: i64 = 253_402_207_199_000_000;

/// A point in time to the microsecond. Written as `2026-11-29T17:32:09.000000Z`, always with six digits (apimachinery `RFC3339Micro`);
/// read with any number of digits and any offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MicroTime(i64);

impl MicroTime {
    /// So many microseconds after the beginning of 1970, UTC. What lies outside of the years 0 to 9999, which is all that RFC 3339 can write,
    /// becomes the nearest that does not.
    #[must_use]
    pub fn from_micros(micros: i64) -> Self {
        Self(micros.clamp(FIRST, LAST))
    }

    /// Microseconds since the beginning of 1970, UTC.
    #[must_use]
    pub fn as_micros(self) -> i64 {
        self.0
    }
}

impl From<SystemTime> for MicroTime {
    fn from(time: SystemTime) -> Self {
        let micros = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |micros| -micros),
        };
        Self::from_micros(micros)
    }
}

impl fmt::Display for MicroTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = Timestamp::from_microsecond(self.0).map_err(|_| fmt::Error)?;
        write!(f, "{time:.6}")
    }
}

/// A text is no time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MicroTimeError(Box<str>);

impl fmt::Display for MicroTimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no time of RFC 3339", self.0)
    }
}

impl Error for MicroTimeError {}

impl FromStr for MicroTime {
    type Err = MicroTimeError;

    fn from_str(text: &str) -> Result<Self, MicroTimeError> {
        let time: Timestamp = text.parse().map_err(|_| MicroTimeError(text.into()))?;
        Ok(Self::from_micros(time.as_microsecond()))
    }
}

impl Serialize for MicroTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MicroTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}
