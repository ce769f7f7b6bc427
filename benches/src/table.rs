//! Several runs as one cell of a table.

/// The median of the runs, with the least and the most.
pub fn spread(values: impl Iterator<Item = f64>, digits: usize) -> String {
    let mut values: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
    values.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (values.first(), values.last()) else {
        return "–".to_owned();
    };
    let median = values[values.len() / 2];
    format!("{median:.digits$} ({least:.digits$}–{most:.digits$})")
}
