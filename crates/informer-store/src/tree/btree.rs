//! A copy-on-write B-tree: cloning it is one pointer, and what is written afterwards copies only the nodes on its way.
//!
//! It holds items that know their own key, so that an object's key is stored once. An inner node keeps the keys that separate its
//! children in an allocation of their own: a write that splits or merges nothing shares them, and touches no key's count.

use std::{cmp::Ordering, mem, slice, sync::Arc};

use smallvec::SmallVec;

/// Room of a node. One place stays free: an insertion goes first, the split comes after.
pub(super) const ROOM: usize = 16;
/// Below this a node tries to join a neighbour. Fuller than empty, so that nodes do not split and join by turns.
const SPARSE: usize = ROOM / 4;

/// What stands in a tree, ordered by its key.
pub(crate) trait Item: Clone {
    type Key: Ord + Clone;

    fn key(&self) -> &Self::Key;
}

pub(super) type Leaf<T> = SmallVec<[T; ROOM]>;

pub(crate) struct Tree<T: Item> {
    pub(super) root: Node<T>,
    len: usize,
}

pub(super) enum Node<T: Item> {
    Leaf(Arc<Leaf<T>>),
    Inner(Arc<Inner<T>>),
}

/// `keys[i]` is above every key below `children[i]`, and not above any below `children[i + 1]`.
pub(super) struct Inner<T: Item> {
    pub(super) keys: Arc<[T::Key]>,
    pub(super) children: SmallVec<[Node<T>; ROOM]>,
}

enum Inserted<T: Item> {
    InPlaceOf(T),
    Added,
    /// The node gave its upper part, which begins at this key, to a new one.
    Split(T::Key, Node<T>),
}

impl<T: Item> Tree<T> {
    pub(crate) fn new() -> Self {
        Self {
            root: Node::Leaf(Arc::new(SmallVec::new())),
            len: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The item whose key compares equal; `order` says how a key stands to the one sought.
    pub(crate) fn get(&self, order: impl Fn(&T::Key) -> Ordering) -> Option<&T> {
        let mut node = &self.root;
        loop {
            match node {
                Node::Inner(inner) => {
                    node = &inner.children[inner.keys.partition_point(|key| order(key).is_le())];
                }
                Node::Leaf(leaf) => {
                    return leaf
                        .binary_search_by(|item| order(item.key()))
                        .ok()
                        .map(|at| &leaf[at]);
                }
            }
        }
    }

    /// Puts an item in, and returns the one of the same key that was there.
    pub(crate) fn insert(&mut self, item: T) -> Option<T> {
        match self.root.insert(item) {
            Inserted::InPlaceOf(old) => return Some(old),
            Inserted::Added => {}
            Inserted::Split(key, upper) => {
                let lower = mem::replace(&mut self.root, Node::Leaf(Arc::new(SmallVec::new())));
                self.root = Node::Inner(Arc::new(Inner {
                    keys: Arc::new([key]),
                    children: SmallVec::from_iter([lower, upper]),
                }));
            }
        }
        self.len += 1;
        None
    }

    /// Takes the item of this key out.
    pub(crate) fn remove(&mut self, key: &T::Key) -> Option<T> {
        let removed = self.root.remove(key)?;
        self.len -= 1;
        loop {
            self.root = match &self.root {
                Node::Inner(inner) if inner.children.is_empty() => Node::Leaf(Arc::new(SmallVec::new())),
                Node::Inner(inner) if inner.children.len() == 1 => inner.children[0].clone(),
                _ => return Some(removed),
            };
        }
    }

    /// The items in order, from the first whose key is not `before`.
    pub(crate) fn range(&self, before: impl Fn(&T::Key) -> bool) -> Iter<'_, T> {
        let mut above = SmallVec::new();
        let mut node = &self.root;
        loop {
            match node {
                Node::Inner(inner) => {
                    let at = inner.keys.partition_point(&before);
                    above.push(inner.children[at + 1..].iter());
                    node = &inner.children[at];
                }
                Node::Leaf(leaf) => {
                    let at = leaf.partition_point(|item| before(item.key()));
                    let leaf = leaf[at..].iter();
                    return Iter { above, leaf };
                }
            }
        }
    }

    pub(crate) fn iter(&self) -> Iter<'_, T> {
        self.range(|_| false)
    }
}

impl<T: Item> Node<T> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Leaf(leaf) => leaf.len(),
            Self::Inner(inner) => inner.children.len(),
        }
    }

    fn insert(&mut self, item: T) -> Inserted<T> {
        match self {
            Self::Leaf(leaf) => {
                let leaf = Arc::make_mut(leaf);
                let at = match leaf.binary_search_by(|it| it.key().cmp(item.key())) {
                    Ok(at) => return Inserted::InPlaceOf(mem::replace(&mut leaf[at], item)),
                    Err(at) => at,
                };
                leaf.insert(at, item);
                if leaf.len() < ROOM {
                    return Inserted::Added;
                }
                let upper: Leaf<T> = leaf.drain(split_at(at)..).collect();
                Inserted::Split(upper[0].key().clone(), Self::Leaf(Arc::new(upper)))
            }
            Self::Inner(inner) => {
                let inner = Arc::make_mut(inner);
                let at = inner.keys.partition_point(|key| key <= item.key());
                match inner.children[at].insert(item) {
                    Inserted::Split(key, upper) => inner.insert_child(at, key, upper),
                    done => done,
                }
            }
        }
    }

    fn remove(&mut self, key: &T::Key) -> Option<T> {
        match self {
            Self::Leaf(leaf) => {
                let at = leaf.binary_search_by(|it| it.key().cmp(key)).ok()?;
                Some(Arc::make_mut(leaf).remove(at))
            }
            Self::Inner(inner) => {
                let inner = Arc::make_mut(inner);
                let at = inner.keys.partition_point(|it| it <= key);
                let removed = inner.children[at].remove(key)?;
                inner.tend(at);
                Some(removed)
            }
        }
    }
}

impl<T: Item> Inner<T> {
    fn insert_child(&mut self, at: usize, key: T::Key, upper: Node<T>) -> Inserted<T> {
        let mut keys: Vec<T::Key> = Vec::with_capacity(ROOM);
        keys.extend_from_slice(&self.keys);
        keys.insert(at, key);
        self.children.insert(at + 1, upper);
        if self.children.len() < ROOM {
            self.keys = keys.into();
            return Inserted::Added;
        }
        let mid = split_at(at + 1);
        let upper = Self {
            keys: keys.split_off(mid).into(),
            children: self.children.drain(mid..).collect(),
        };
        let between = keys
            .pop()
            .expect("a full node has a key on either side of each child but the ends");
        self.keys = keys.into();
        Inserted::Split(between, Node::Inner(Arc::new(upper)))
    }

    /// Drops a child that became empty, or joins a sparse one with a neighbour where both fit into one node.
    fn tend(&mut self, at: usize) {
        let n = self.children[at].len();
        if n == 0 {
            self.children.remove(at);
            self.remove_key(at.saturating_sub(1));
        } else if n < SPARSE {
            let fits = |lower: usize| {
                lower + 1 < self.children.len()
                    && self.children[lower].len() + self.children[lower + 1].len() < ROOM
            };
            if at > 0 && fits(at - 1) {
                self.join(at - 1);
            } else if fits(at) {
                self.join(at);
            }
        }
    }

    /// Moves everything of the child behind `at` into the one at `at`.
    fn join(&mut self, at: usize) {
        let upper = self.children.remove(at + 1);
        match (&mut self.children[at], upper) {
            (Node::Leaf(lower), Node::Leaf(upper)) => {
                Arc::make_mut(lower).extend(upper.iter().cloned());
            }
            (Node::Inner(lower), Node::Inner(upper)) => {
                let lower = Arc::make_mut(lower);
                let keys = lower.keys.iter().chain([&self.keys[at]]).chain(&*upper.keys);
                lower.keys = keys.cloned().collect();
                lower.children.extend(upper.children.iter().cloned());
            }
            _ => unreachable!("all leaves are at one depth"),
        }
        self.remove_key(at);
    }

    fn remove_key(&mut self, at: usize) {
        if at < self.keys.len() {
            self.keys = self.keys[..at]
                .iter()
                .chain(&self.keys[at + 1..])
                .cloned()
                .collect();
        }
    }
}

/// Where a full node is split: in the middle, but behind an append, so that a sorted list fills its nodes.
fn split_at(inserted: usize) -> usize {
    if inserted == ROOM - 1 { ROOM - 1 } else { ROOM / 2 }
}

impl<T: Item> Clone for Tree<T> {
    fn clone(&self) -> Self {
        Self {
            root: self.root.clone(),
            len: self.len,
        }
    }
}

impl<T: Item> Clone for Node<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Leaf(leaf) => Self::Leaf(leaf.clone()),
            Self::Inner(inner) => Self::Inner(inner.clone()),
        }
    }
}

impl<T: Item> Clone for Inner<T> {
    fn clone(&self) -> Self {
        Self {
            keys: self.keys.clone(),
            children: self.children.clone(),
        }
    }
}

pub(crate) struct Iter<'a, T: Item> {
    above: SmallVec<[slice::Iter<'a, Node<T>>; 8]>,
    leaf: slice::Iter<'a, T>,
}

impl<'a, T: Item> Iterator for Iter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        loop {
            if let Some(item) = self.leaf.next() {
                return Some(item);
            }
            match self.above.last_mut()?.next() {
                None => {
                    self.above.pop();
                }
                Some(Node::Leaf(leaf)) => self.leaf = leaf.iter(),
                Some(Node::Inner(inner)) => self.above.push(inner.children.iter()),
            }
        }
    }
}
