//! The order of what a handler is told, where it is promised.

/// The sort of a line whose order among its like is not promised: client-go takes it from a map.
fn by_chance(line: &str) -> Option<&str> {
    match line.split(' ').next() {
        Some(word @ ("vanished" | "again")) => Some(word),
        Some("add") if line.contains(" initial") => Some("initial"),
        _ => None,
    }
}

/// The key that a line is about.
pub(super) fn key_of(line: &str) -> &str {
    let object = line.split_once(' ').map_or("", |(_, rest)| rest);
    object.split('@').next().unwrap_or_default()
}

/// Puts lines of one handler into order where none is promised.
pub(super) fn in_order(mut lines: Vec<String>, per_key: bool) -> Vec<String> {
    let mut from = 0;
    while from < lines.len() {
        let sort = by_chance(&lines[from]);
        let alike = lines[from..].iter().take_while(|line| by_chance(line) == sort);
        let to = from + if sort.is_some() { alike.count() } else { 1 };
        lines[from..to].sort();
        from = to;
    }
    if per_key {
        lines.sort_by(|left, right| key_of(left).cmp(key_of(right)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_comes_from_a_map_is_sorted() {
        let lines = [
            "add b@2#[]",
            "add a@1#[]",
            "vanished d@3#[]",
            "vanished c@4#[]",
            "add e@5#[]",
        ];
        let lines = lines.map(str::to_owned).to_vec();
        let sorted = [
            "add b@2#[]",
            "add a@1#[]",
            "vanished c@4#[]",
            "vanished d@3#[]",
            "add e@5#[]",
        ];
        assert_eq!(in_order(lines.clone(), false), sorted);
        assert_eq!(in_order(lines, true)[0], "add a@1#[]");
    }
}
