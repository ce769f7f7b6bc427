//! `MicroTime`: wall time as the API writes it, to the microsecond.

use std::{fmt, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A point of wall time, in microseconds since 1970 (apimachinery `MicroTime`).
///
/// ```
/// use informer_events::MicroTime;
/// use std::time::Duration;
///
/// let time = MicroTime::since_epoch(Duration::new(1_700_000_000, 123_456_789));
/// assert_eq!(time.to_string(), "2023-11-14T22:13:20.123456Z");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MicroTime {
    micros: i64,
}

impl MicroTime {
    /// So long after the beginning of 1970.
    #[must_use]
    pub fn since_epoch(duration: Duration) -> Self {
        Self {
            micros: i64::try_from(duration.as_micros()).unwrap_or(i64::MAX),
        }
    }

    /// Microseconds since the beginning of 1970.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.micros
    }
}

impl fmt::Display for MicroTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Beyond the year 9999 nothing can be written: the latest time that can be stands in.
        let time = jiff::Timestamp::from_microsecond(self.micros).unwrap_or(jiff::Timestamp::MAX);
        write!(f, "{time:.6}")
    }
}

impl Serialize for MicroTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MicroTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Some(text) = Option::<String>::deserialize(deserializer)? else {
            return Ok(Self::default());
        };
        let time: jiff::Timestamp = text.parse().map_err(de::Error::custom)?;
        Ok(Self {
            micros: time.as_microsecond(),
        })
    }
}
