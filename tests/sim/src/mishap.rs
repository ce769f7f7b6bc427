//! Every way in which a request can go wrong, as data.

use std::time::Duration;

use informer_testkit::{ApiError, Fault, Rng, Verb};
use serde::{Deserialize, Serialize};

use crate::{config::pick, thing};

/// Which requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum On {
    Any,
    List,
    Watch,
    StreamingList,
    /// Watches that are no streaming lists.
    PlainWatch,
}

impl On {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        pick(
            rng,
            &[
                (3, Self::Any),
                (2, Self::List),
                (2, Self::Watch),
                (2, Self::StreamingList),
                (2, Self::PlainWatch),
            ],
        )
    }

    pub(crate) fn on(self) -> informer_testkit::On {
        match self {
            Self::Any => informer_testkit::On::any(),
            Self::List => informer_testkit::On::list(),
            Self::Watch => informer_testkit::On::watch(),
            Self::StreamingList => informer_testkit::On::streaming_list(),
            Self::PlainWatch => informer_testkit::On::verb(Verb::Watch),
        }
    }
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mishap", rename_all = "kebab-case")]
pub(crate) enum Mishap {
    Refused,
    HangUp,
    Silence,
    Status { code: Code },
    Delay { ms: u32 },
    Lag { revisions: u16, ms: u32 },
    CutAfter { events: u8 },
    HalfLineAfter { events: u8 },
    CutAtByte { bytes: u16 },
    EndAfter { events: u8 },
    SilenceAfter { events: u8 },
    ErrorAfter { events: u8, code: Code },
}

/// A failure that the server states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Code {
    Unauthorized,
    Forbidden,
    NotFound,
    Expired,
    Gone,
    TooMany,
    Internal,
    Unavailable,
    TooLarge,
    Timeout,
}

impl Code {
    const ALL: [(u64, Self); 10] = [
        (1, Self::Unauthorized),
        (1, Self::Forbidden),
        (1, Self::NotFound),
        (3, Self::Expired),
        (1, Self::Gone),
        (2, Self::TooMany),
        (2, Self::Internal),
        (1, Self::Unavailable),
        (2, Self::TooLarge),
        (1, Self::Timeout),
    ];

    pub(crate) fn error(self) -> ApiError {
        match self {
            Self::Unauthorized => ApiError::unauthorized(),
            Self::Forbidden => ApiError::forbidden(&thing::resource(0), "list", "sim"),
            Self::NotFound => ApiError::new(
                404,
                "NotFound",
                "the server could not find the requested resource",
            ),
            Self::Expired => ApiError::expired("too old resource version: 1 (2)"),
            Self::Gone => ApiError::gone("too old resource version: 1 (2)"),
            Self::TooMany => ApiError::too_many_requests("please try again later", 2),
            Self::Internal => ApiError::internal("etcdserver: leader changed"),
            Self::Unavailable => ApiError::unavailable("apiserver is shutting down"),
            Self::TooLarge => ApiError::version_too_large(9, 8),
            Self::Timeout => ApiError::new(
                504,
                "Timeout",
                "request did not complete within the allotted timeout",
            ),
        }
    }
}

impl Mishap {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let code = pick(rng, &Code::ALL);
        let events = pick(rng, &[(2, 0), (2, 1), (2, 3), (1, 12)]);
        let delay = pick(rng, &[(2, 300), (2, 5_000), (1, 45_000)]);
        let revisions = pick(rng, &[(1, 1), (2, 6), (2, 60)]);
        let lag = pick(rng, &[(1, 300), (2, 4_000), (1, 40_000)]);
        let bytes = u16::try_from(rng.range(0..3000)).unwrap_or_default();
        pick(
            rng,
            &[
                (2, Self::Refused),
                (2, Self::HangUp),
                (1, Self::Silence),
                (6, Self::Status { code }),
                (2, Self::Delay { ms: delay }),
                (3, Self::Lag { revisions, ms: lag }),
                (2, Self::CutAfter { events }),
                (2, Self::HalfLineAfter { events }),
                (2, Self::CutAtByte { bytes }),
                (2, Self::EndAfter { events }),
                (1, Self::SilenceAfter { events }),
                (3, Self::ErrorAfter { events, code }),
            ],
        )
    }

    /// One of which no request of any kind can succeed.
    pub(crate) fn draw_total(rng: &mut Rng) -> Self {
        let status = |code| Self::Status { code };
        pick(
            rng,
            &[
                (3, Self::Refused),
                (2, Self::HangUp),
                (1, status(Code::Unauthorized)),
                (1, status(Code::Forbidden)),
                (1, status(Code::NotFound)),
                (1, status(Code::TooMany)),
                (2, status(Code::Internal)),
                (1, status(Code::Unavailable)),
                (1, status(Code::Timeout)),
                (1, status(Code::Expired)),
                (1, status(Code::TooLarge)),
                (2, Self::CutAtByte { bytes: 0 }),
                (1, Self::Silence),
            ],
        )
    }

    pub(crate) fn fault(self) -> Fault {
        let ms = |ms: u32| Duration::from_millis(ms.into());
        match self {
            Self::Refused => Fault::Refused,
            Self::HangUp => Fault::HangUp,
            Self::Silence => Fault::Silence,
            Self::Status { code } => Fault::Status(code.error()),
            Self::Delay { ms: by } => Fault::Delay(ms(by)),
            Self::Lag { revisions, ms: by } => Fault::Lag {
                revisions: revisions.into(),
                catches_up_in: ms(by),
            },
            Self::CutAfter { events } => Fault::cut_after(events.into()),
            Self::HalfLineAfter { events } => Fault::half_line_after(events.into()),
            Self::CutAtByte { bytes } => Fault::cut_at_byte(bytes.into()),
            Self::EndAfter { events } => Fault::end_after(events.into()),
            Self::SilenceAfter { events } => Fault::silence_after(events.into()),
            Self::ErrorAfter { events, code } => Fault::error_after(events.into(), code.error()),
        }
    }
}
