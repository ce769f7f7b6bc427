//! Names that look alike.

use super::ApiResource;

/// How many are offered.
const OFFERED: usize = 3;

/// The names of kinds that look like a word, the nearest first.
pub(super) fn names(kinds: &[ApiResource], word: &str) -> Vec<String> {
    // One slip in a short word, two in a longer one.
    let tolerance = if word.chars().count() <= 4 { 1 } else { 2 };
    let mut near: Vec<(usize, String)> = Vec::new();
    for kind in kinds {
        let names = [&*kind.resource.plural, &kind.singular].into_iter();
        let names = names.chain(kind.short_names.iter().map(|name| &**name));
        let Some(distance) = names.map(|name| distance(word, name)).min() else {
            continue;
        };
        let is_beginning = word.len() >= 3 && kind.resource.plural.starts_with(word);
        let distance = if is_beginning { distance.min(1) } else { distance };
        let name = kind.resource.to_string();
        if distance <= tolerance && !near.iter().any(|(_, it)| *it == name) {
            near.push((distance, name));
        }
    }
    near.sort();
    near.into_iter().take(OFFERED).map(|(_, name)| name).collect()
}

/// How many letters have to be added, removed, changed or swapped with their neighbour.
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut rows = [Vec::new(), Vec::new(), (0..=right.len()).collect::<Vec<_>>()];
    for i in 1..=left.len() {
        rows.rotate_left(1);
        let [before, above, row] = &mut rows;
        row.clear();
        row.push(i);
        for j in 1..=right.len() {
            let changed = usize::from(left[i - 1] != right[j - 1]);
            let mut least = (above[j] + 1).min(row[j - 1] + 1).min(above[j - 1] + changed);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
    }
    rows[2][right.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distance_counts_slips() {
        for (left, right, slips) in [
            ("pods", "pods", 0),
            ("pod", "pods", 1),
            ("posd", "pods", 1),
            ("dpeloyment", "deployment", 1),
            ("", "po", 2),
            ("nodes", "pods", 2),
        ] {
            assert_eq!(distance(left, right), slips, "{left} and {right}");
            assert_eq!(distance(right, left), slips, "{right} and {left}");
        }
    }
}
