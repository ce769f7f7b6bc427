//! The environment variables that client-go's HTTP/2 listens to.

use std::time::Duration;

use crate::HttpVersion;

/// What a builder takes where it was told nothing (apimachinery `util/net/http.go`, `SetTransportDefaults`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Variables {
    pub(crate) version: HttpVersion,
    /// After how long without a word, and how long the answer may take.
    pub(crate) ping: Option<(Duration, Duration)>,
}

impl Variables {
    /// As they are now.
    pub(crate) fn of_process() -> Self {
        Self::read(|name| std::env::var(name).ok())
    }

    fn read(get: impl Fn(&str) -> Option<String>) -> Self {
        let is_disabled = get("DISABLE_HTTP2").is_some_and(|value| !value.is_empty());
        let seconds = |name: &str, default: u64| {
            let Some(value) = get(name).filter(|value| !value.is_empty()) else {
                return default;
            };
            value.parse().unwrap_or_else(|_| {
                tracing::warn!(
                    name,
                    value,
                    default,
                    "Environment variable is no number of seconds, taking the default"
                );
                default
            })
        };
        let idle = seconds("HTTP2_READ_IDLE_TIMEOUT_SECONDS", 30);
        // Go takes its own default, which is the same, for none.
        let answer = match seconds("HTTP2_PING_TIMEOUT_SECONDS", 15) {
            0 => 15,
            seconds => seconds,
        };
        Self {
            version: if is_disabled {
                HttpVersion::Http1
            } else {
                HttpVersion::Auto
            },
            ping: (idle > 0).then(|| (Duration::from_secs(idle), Duration::from_secs(answer))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Variables;
    use crate::HttpVersion;

    #[test]
    fn variables_say_what_they_say_to_client_go() {
        let (off, idle, answer) = (
            "DISABLE_HTTP2",
            "HTTP2_READ_IDLE_TIMEOUT_SECONDS",
            "HTTP2_PING_TIMEOUT_SECONDS",
        );
        type Case<'a> = (&'a [(&'a str, &'a str)], HttpVersion, Option<(u64, u64)>);
        let table: &[Case<'_>] = &[
            (&[], HttpVersion::Auto, Some((30, 15))),
            (
                &[(off, ""), (idle, ""), (answer, "")],
                HttpVersion::Auto,
                Some((30, 15)),
            ),
            // Any value does, as in Go.
            (&[(off, "false")], HttpVersion::Http1, Some((30, 15))),
            (&[(idle, "5"), (answer, "2")], HttpVersion::Auto, Some((5, 2))),
            (&[(idle, "5s"), (answer, "-2")], HttpVersion::Auto, Some((30, 15))),
            (&[(idle, "0")], HttpVersion::Auto, None),
            (&[(answer, "0")], HttpVersion::Auto, Some((30, 15))),
        ];
        for (set, version, ping) in table {
            let get = |name: &str| {
                let found = set.iter().find(|(set, _)| *set == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            let read = Variables::read(get);
            let seconds = read.ping.map(|(idle, answer)| (idle.as_secs(), answer.as_secs()));
            assert_eq!((read.version, seconds), (*version, *ping), "{set:?}");
        }
    }
}
