//! The tree against `BTreeMap`, and its shape after churn.

use std::collections::BTreeMap;

use proptest::{collection::vec, prelude::*};

use super::btree::{Inner, Leaf, Node, ROOM, Tree};

#[derive(Debug, Clone)]
enum Op {
    Insert(u32),
    Remove(u32),
    RemoveBetween(u32, u32),
    Keep,
}

fn op(keys: u32) -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => (0..keys).prop_map(Op::Insert),
        6 => (0..keys).prop_map(Op::Remove),
        1 => (0..keys, 0..keys / 4).prop_map(|(from, n)| Op::RemoveBetween(from, from + n)),
        1 => Just(Op::Keep),
    ]
}

/// Checks the shape below a node and returns its depth, its items, and its nodes.
fn check(node: &Node<u32, u32>, low: Option<u32>, high: Option<u32>) -> (usize, usize, usize) {
    match node {
        Node::Leaf(leaf) => {
            let Leaf { keys, values } = &**leaf;
            assert!(keys.len() < ROOM, "an overfull leaf");
            assert_eq!(keys.len(), values.len());
            assert!(!keys.spilled() && !values.spilled());
            assert!(keys.is_sorted_by(|a, b| a < b), "unsorted");
            for key in keys {
                assert!(low.is_none_or(|low| low <= *key) && high.is_none_or(|high| *key < high));
            }
            (1, keys.len(), 1)
        }
        Node::Inner(inner) => {
            let Inner { keys, children } = &**inner;
            assert!(!children.is_empty() && children.len() < ROOM);
            assert_eq!(keys.len() + 1, children.len());
            let (mut depth, mut n_items, mut n_nodes) = (None, 0, 1);
            for (at, child) in children.iter().enumerate() {
                assert!(child.len() > 0, "an empty child");
                let low = at.checked_sub(1).map(|at| keys[at]).or(low);
                let (d, items, nodes) = check(child, low, keys.get(at).copied().or(high));
                assert_eq!(*depth.get_or_insert(d), d, "leaves at two depths");
                n_items += items;
                n_nodes += nodes;
            }
            (depth.unwrap_or(0) + 1, n_items, n_nodes)
        }
    }
}

fn check_tree(tree: &Tree<u32, u32>) -> usize {
    let (_, n_items, n_nodes) = check(&tree.root, None, None);
    assert_eq!(n_items, tree.len());
    n_nodes
}

fn assert_same(tree: &Tree<u32, u32>, model: &BTreeMap<u32, u32>, keys: u32) {
    check_tree(tree);
    let items: Vec<_> = tree.iter().map(|(&key, &mark)| (key, mark)).collect();
    let expected: Vec<_> = model.iter().map(|(&key, &mark)| (key, mark)).collect();
    assert_eq!(items, expected);
    for key in 0..=keys {
        assert_eq!(tree.get(&key), model.get(&key));
        let from = tree.range(|it| *it < key).next().map(|it| *it.0);
        assert_eq!(from, model.range(key..).next().map(|(&key, _)| key));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn behaves_as_a_sorted_map_and_clones_stay_as_they_were(
        (keys, ops) in prop_oneof![
            (Just(40), vec(op(40), 0..200)),
            (Just(3000), vec(op(3000), 0..6000)),
        ]
    ) {
        let (mut tree, mut model) = (Tree::new(), BTreeMap::new());
        let mut kept = Vec::new();
        for (mark, op) in (0..).zip(ops) {
            match op {
                Op::Insert(key) => {
                    prop_assert_eq!(tree.insert(key, mark), model.insert(key, mark));
                }
                Op::Remove(key) => {
                    prop_assert_eq!(tree.remove(&key), model.remove(&key));
                }
                Op::RemoveBetween(from, to) => {
                    for key in from..to {
                        prop_assert_eq!(tree.remove(&key).is_some(), model.remove(&key).is_some());
                    }
                }
                Op::Keep if kept.len() < 8 => kept.push((tree.clone(), model.clone())),
                Op::Keep => {}
            }
        }
        assert_same(&tree, &model, keys);
        for (tree, model) in kept {
            assert_same(&tree, &model, keys);
        }
    }
}

#[test]
fn a_sorted_list_fills_its_nodes() {
    let mut tree = Tree::new();
    for key in 0..10_000 {
        tree.insert(key, 0);
    }
    let n_nodes = check_tree(&tree);
    assert!(n_nodes <= 10_000 / (ROOM - 1) * 5 / 4, "{n_nodes} nodes");
}

#[test]
fn churn_leaves_no_empty_nodes_behind() {
    let mut tree = Tree::new();
    for key in 0..100_000_u32 {
        tree.insert(key.wrapping_mul(2_654_435_761), key);
        if let Some(gone) = key.checked_sub(100) {
            assert!(tree.remove(&gone.wrapping_mul(2_654_435_761)).is_some());
        }
    }
    assert_eq!(tree.len(), 100);
    assert!(
        check_tree(&tree) < 60,
        "{} nodes for 100 items",
        check_tree(&tree)
    );
    for key in 99_900..100_000_u32 {
        tree.remove(&key.wrapping_mul(2_654_435_761));
    }
    assert_eq!((tree.len(), check_tree(&tree)), (0, 1));
}

#[test]
fn a_write_shares_all_but_its_way() {
    let mut tree = Tree::new();
    for key in 0..10_000 {
        tree.insert(key, 0);
    }
    let before = tree.clone();
    tree.insert(5_000, 1);
    let shared = before
        .iter()
        .zip(tree.iter())
        .filter(|(a, b)| std::ptr::eq(a.1, b.1))
        .count();
    assert!(shared > 10_000 - ROOM, "only {shared} places are shared");
}
