//! Ages, as kubectl shows them.

use jiff::Timestamp;

/// The time between `since` and `now` in kubectl's short form: at most two units, the larger the age the coarser
/// (apimachinery `duration.HumanDuration`).
pub(crate) fn human(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - since.as_second();
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let days = hours / 24;
    match seconds {
        ..0 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => two(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

fn two(n_large: i64, large: &str, n_small: i64, small: &str) -> String {
    if n_small == 0 {
        format!("{n_large}{large}")
    } else {
        format!("{n_large}{large}{n_small}{small}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarser_the_older_it_is() {
        let now = Timestamp::from_second(1_900_000_000).unwrap();
        let check = |seconds: i64, expected: &str| {
            let since = Timestamp::from_second(1_900_000_000 - seconds).unwrap();
            assert_eq!(human(since, now), expected, "{seconds} s");
        };
        check(-5, "0s");
        check(0, "0s");
        check(119, "119s");
        check(120, "2m");
        check(200, "3m20s");
        check(3_600, "60m");
        check(4 * 3_600 + 60, "4h1m");
        check(30 * 3_600, "30h");
        check(3 * 86_400 + 3_600, "3d1h");
        check(100 * 86_400, "100d");
        check(3 * 365 * 86_400 + 86_400, "3y1d");
        check(9 * 365 * 86_400, "9y");
    }
}
