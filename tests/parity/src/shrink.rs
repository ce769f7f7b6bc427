//! Making a failing sequence short: delta debugging over its operations.

/// The operations that are left when none can go without the failure going too.
///
/// Halves are tried first, then ever smaller pieces, down to single operations (Zeller's `ddmin`, complements only).
pub fn shrink(ops: &[String], mut fails: impl FnMut(&[String]) -> bool) -> Vec<String> {
    let mut kept = ops.to_vec();
    let mut piece = kept.len().div_ceil(2).max(1);
    loop {
        let mut at = 0;
        let mut shorter = false;
        while at < kept.len() {
            let end = (at + piece).min(kept.len());
            let rest: Vec<String> = kept[..at].iter().chain(&kept[end..]).cloned().collect();
            if !rest.is_empty() && fails(&rest) {
                kept = rest;
                shorter = true;
            } else {
                at = end;
            }
        }
        if piece == 1 && !shorter {
            return kept;
        }
        piece = if shorter && piece == 1 {
            1
        } else {
            piece.div_ceil(2)
        };
        if piece > 1 || kept.len() > 1 {
            continue;
        }
        return kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_failure_needs_is_left() {
        let ops: Vec<String> = (0..50).map(|n| n.to_string()).collect();
        let mut asked = 0;
        let kept = shrink(&ops, |ops| {
            asked += 1;
            ["3", "17", "44"]
                .iter()
                .all(|needed| ops.iter().any(|op| op == needed))
        });
        assert_eq!(kept, ["3", "17", "44"]);
        assert!(asked < 200, "{asked}");
    }

    #[test]
    fn a_single_operation_stays() {
        assert_eq!(shrink(&["a".to_owned()], |_| true), ["a"]);
    }
}
