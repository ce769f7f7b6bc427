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

/// The seconds that a short form stands for; `None` for what is none, such as `<unknown>`.
pub(crate) fn seconds(text: &str) -> Option<i64> {
    let (mut total, mut number) = (0_i64, None);
    for c in text.chars() {
        if let Some(digit) = c.to_digit(10) {
            let before = number.unwrap_or(0_i64);
            number = Some(before.checked_mul(10)?.checked_add(i64::from(digit))?);
            continue;
        }
        let unit = match c {
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            'y' => 365 * 86_400,
            _ => return None,
        };
        total = total.checked_add(number.take()?.checked_mul(unit)?)?;
    }
    (number.is_none() && !text.is_empty()).then_some(total)
}

/// Since when something is that was so old, in words, when it was `read`.
///
/// Where `created` fits the words it is that time, which is exact; else the words are counted on from.
pub(crate) fn since(text: &str, created: Option<Timestamp>, read: Timestamp) -> Option<Timestamp> {
    /// Between the clock of the server, the answer, and the clock here.
    const SLACK: std::ops::RangeInclusive<i64> = -2..=2;
    let age = seconds(text)?;
    let at = |second: i64| Timestamp::from_second(second).ok();
    let fits = |created: &Timestamp| {
        SLACK
            .filter_map(|by| at(read.as_second() + by))
            .any(|now| human(*created, now) == text)
    };
    created
        .filter(fits)
        .or_else(|| at(read.as_second().checked_sub(age)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_forms_are_read_back() {
        for (text, expected) in [
            ("0s", Some(0)),
            ("119s", Some(119)),
            ("3m20s", Some(200)),
            ("4h1m", Some(14_460)),
            ("3d1h", Some(262_800)),
            ("3y1d", Some(94_694_400)),
            ("<unknown>", None),
            ("<invalid>", None),
            ("", None),
            ("12", None),
            ("s", None),
            ("99999999999999999999y", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }

    #[test]
    fn an_age_is_that_of_the_object_where_it_fits_and_counted_on_where_not() {
        let time = |second| Timestamp::from_second(second).unwrap();
        let (created, read) = (time(1_000), time(1_000 + 905));
        assert_eq!(
            since("15m", Some(created), read),
            Some(created),
            "exact to the second"
        );
        assert_eq!(since("15m", None, read), Some(time(1_005)));
        assert_eq!(
            since("30s", Some(created), read),
            Some(time(1_875)),
            "of something else, or by another clock"
        );
        assert_eq!(since("<unknown>", Some(created), read), None);
    }

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
