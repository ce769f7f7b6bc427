//! CF-07: index buckets that are empty must vanish (kubernetes#84959).

use informer_core::{Delta, Store};

use crate::support::{commit, delete, put, tagged, tagged_with, tags};

#[test]
fn cf_07_a_million_objects_of_unique_value_leave_no_buckets() {
    const ALIVE: usize = 100;
    let (mut writer, reader) = tagged();
    commit(&mut writer, [put("ns/keeper@1", &["shared"])]);
    for from in (0..1_000_000).step_by(ALIVE) {
        let mut deltas: Vec<Delta<_, _>> = Vec::with_capacity(2 * ALIVE);
        for n in from..from + ALIVE {
            if let Some(gone) = n.checked_sub(ALIVE) {
                deltas.push(delete(&format!("ns/{gone}")));
            }
            deltas.push(put(&format!("ns/{n}@{}", n + 2), &[&format!("ip-{n}")]));
        }
        commit(&mut writer, deltas);
        assert_eq!(reader.len(), ALIVE + 1);
    }
    assert_eq!(reader.index_values("tag").unwrap().len(), ALIVE + 1);
    assert_eq!(tagged_with(&reader, "shared"), r#"["ns/keeper"@1]"#);
    assert_eq!(tagged_with(&reader, "ip-5"), "[]");
}

#[test]
fn cf_07_an_object_that_moves_through_many_values_leaves_none_behind() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [put("other@1", &["0"])]);
    for n in 0..100_000 {
        commit(&mut writer, [put(&format!("a@{}", n + 2), &[&n.to_string()])]);
    }
    assert_eq!(tags(&reader), r#"["0", "99999"]"#);
    commit(&mut writer, [delete("a")]);
    assert_eq!(tags(&reader), r#"["0"]"#);
}
