//! Ages in a few letters (apimachinery `duration.HumanDuration`).

use serde_json::Value;

/// How long ago a time of an object is; `<unknown>` where there is none.
pub(super) fn since(time: Option<&Value>, now: u64) -> String {
    let time = time
        .and_then(Value::as_str)
        .and_then(|text| text.parse::<jiff::Timestamp>().ok());
    match time {
        None => "<unknown>".to_owned(),
        Some(time) => human(
            i64::try_from(now)
                .unwrap_or(i64::MAX)
                .saturating_sub(time.as_second()),
        ),
    }
}

fn human(seconds: i64) -> String {
    let two = |large: i64, unit: &str, small: i64, of: &str| match small {
        0 => format!("{large}{unit}"),
        _ => format!("{large}{unit}{small}{of}"),
    };
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    match seconds {
        ..=-2 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..=119 => format!("{seconds}s"),
        120..=599 => two(minutes, "m", seconds % 60, "s"),
        600..=10_799 => format!("{minutes}m"),
        10_800..=28_799 => two(hours, "h", minutes % 60, "m"),
        28_800..=172_799 => format!("{hours}h"),
        172_800..=691_199 => two(hours / 24, "d", hours % 24, "h"),
        691_200..=63_071_999 => format!("{}d", hours / 24),
        63_072_000..=252_287_999 => two(hours / 24 / 365, "y", hours / 24 % 365, "d"),
        _ => format!("{}y", hours / 24 / 365),
    }
}

#[test]
fn ages_have_at_most_two_units() {
    for (seconds, text) in [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (125, "2m5s"),
        (600, "10m"),
        (10_799, "179m"),
        (10_800, "3h"),
        (11_000, "3h3m"),
        (86_400, "24h"),
        (172_800, "2d"),
        (180_000, "2d2h"),
        (864_000, "10d"),
        (63_072_000, "2y"),
        (63_158_400, "2y1d"),
        (315_360_000, "10y"),
    ] {
        assert_eq!(human(seconds), text, "{seconds}");
    }
}
