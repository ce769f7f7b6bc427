//! A copy-on-write B-tree: cloning it is one pointer, and what is written afterwards copies only the nodes on its way.

use std::{cmp::Ordering, iter, mem, slice, sync::Arc};

use smallvec::SmallVec;

/// Room of a node. One place stays free: an insertion goes first, the split comes after. Larger nodes are found through faster and copied
/// slower.
pub(super) const ROOM: usize = 24;
/// Below this a node tries to join a neighbour. Fuller than empty, so that nodes do not split and join by turns.
const SPARSE: usize = ROOM / 4;

pub(crate) struct Tree<K, V> {
    pub(super) root: Node<K, V>,
    len: usize,
}

pub(super) enum Node<K, V> {
    Leaf(Arc<Leaf<K, V>>),
    Inner(Arc<Inner<K, V>>),
}

/// Keys beside their values, at the same places: a search touches keys alone, and a scan values alone.
pub(super) struct Leaf<K, V> {
    pub(super) keys: SmallVec<[K; ROOM]>,
    pub(super) values: SmallVec<[V; ROOM]>,
}

/// `keys[i]` is above every key below `children[i]`, and not above any below `children[i + 1]`.
///
/// The keys are in an allocation of their own: a write that splits and joins nothing copies the children and shares the keys.
pub(super) struct Inner<K, V> {
    pub(super) keys: Arc<[K]>,
    pub(super) children: SmallVec<[Node<K, V>; ROOM]>,
}

enum Inserted<K, V> {
    InPlaceOf(V),
    Added,
    /// The node gave its upper part, which begins at this key, to a new one.
    Split(K, Node<K, V>),
}

impl<K: Ord + Clone, V: Clone> Tree<K, V> {
    pub(crate) fn new() -> Self {
        Self {
            root: Node::empty(),
            len: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        let mut node = &self.root;
        loop {
            match node {
                Node::Inner(inner) => node = &inner.children[inner.child_of(key)],
                Node::Leaf(leaf) => {
                    let at = search(&leaf.keys, |it| it.cmp(key)).ok()?;
                    return Some(&leaf.values[at]);
                }
            }
        }
    }

    /// Puts a value in, and returns the one that was there.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.root.insert(key, value) {
            Inserted::InPlaceOf(old) => return Some(old),
            Inserted::Added => {}
            Inserted::Split(key, upper) => {
                let lower = mem::replace(&mut self.root, Node::empty());
                self.root = Node::Inner(Arc::new(Inner {
                    keys: Arc::new([key]),
                    children: SmallVec::from_iter([lower, upper]),
                }));
            }
        }
        self.len += 1;
        None
    }

    /// Takes a value out.
    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let removed = self.root.remove(key)?;
        self.len -= 1;
        loop {
            self.root = match &self.root {
                Node::Inner(inner) if inner.children.is_empty() => Node::empty(),
                Node::Inner(inner) if inner.children.len() == 1 => inner.children[0].clone(),
                _ => return Some(removed),
            };
        }
    }

    /// What is in it, in order, from the first key that is not `before`.
    pub(crate) fn range(&self, before: impl Fn(&K) -> bool) -> Iter<'_, K, V> {
        let order = |key: &K| {
            if before(key) {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        };
        let mut above = SmallVec::new();
        let mut node = &self.root;
        loop {
            match node {
                Node::Inner(inner) => {
                    let (Ok(at) | Err(at)) = search(&inner.keys, order);
                    above.push(inner.children[at + 1..].iter());
                    node = &inner.children[at];
                }
                Node::Leaf(leaf) => {
                    let (Ok(at) | Err(at)) = search(&leaf.keys, order);
                    let leaf = leaf.keys[at..].iter().zip(&leaf.values[at..]);
                    return Iter { above, leaf };
                }
            }
        }
    }

    pub(crate) fn iter(&self) -> Iter<'_, K, V> {
        self.range(|_| false)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }
}

impl<K: Ord + Clone, V: Clone> Node<K, V> {
    fn empty() -> Self {
        Self::Leaf(Arc::new(Leaf {
            keys: SmallVec::new(),
            values: SmallVec::new(),
        }))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Leaf(leaf) => leaf.keys.len(),
            Self::Inner(inner) => inner.children.len(),
        }
    }

    fn insert(&mut self, key: K, value: V) -> Inserted<K, V> {
        match self {
            Self::Leaf(leaf) => {
                let leaf = Arc::make_mut(leaf);
                match search(&leaf.keys, |it| it.cmp(&key)) {
                    Ok(at) => Inserted::InPlaceOf(mem::replace(&mut leaf.values[at], value)),
                    Err(at) => leaf.insert(at, key, value),
                }
            }
            Self::Inner(inner) => {
                let inner = Arc::make_mut(inner);
                let at = inner.child_of(&key);
                match inner.children[at].insert(key, value) {
                    Inserted::Split(key, upper) => inner.insert_child(at, key, upper),
                    done => done,
                }
            }
        }
    }

    fn remove(&mut self, key: &K) -> Option<V> {
        match self {
            Self::Leaf(leaf) => {
                let at = search(&leaf.keys, |it| it.cmp(key)).ok()?;
                let leaf = Arc::make_mut(leaf);
                leaf.keys.remove(at);
                Some(leaf.values.remove(at))
            }
            Self::Inner(inner) => {
                let inner = Arc::make_mut(inner);
                let at = inner.child_of(key);
                let removed = inner.children[at].remove(key)?;
                inner.tend(at);
                Some(removed)
            }
        }
    }
}

impl<K: Clone, V> Leaf<K, V> {
    fn insert(&mut self, at: usize, key: K, value: V) -> Inserted<K, V> {
        self.keys.insert(at, key);
        self.values.insert(at, value);
        if self.keys.len() < ROOM {
            return Inserted::Added;
        }
        let mid = split_at(at);
        let upper = Self {
            keys: self.keys.drain(mid..).collect(),
            values: self.values.drain(mid..).collect(),
        };
        Inserted::Split(upper.keys[0].clone(), Node::Leaf(Arc::new(upper)))
    }
}

impl<K: Ord + Clone, V: Clone> Inner<K, V> {
    /// Which child a key belongs to.
    fn child_of(&self, key: &K) -> usize {
        match search(&self.keys, |it| it.cmp(key)) {
            Ok(at) => at + 1,
            Err(at) => at,
        }
    }

    fn insert_child(&mut self, at: usize, key: K, upper: Node<K, V>) -> Inserted<K, V> {
        let mut keys: Vec<K> = Vec::with_capacity(ROOM);
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
            .expect("a full node has a key between each two children");
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
                let lower = Arc::make_mut(lower);
                lower.keys.extend(upper.keys.iter().cloned());
                lower.values.extend(upper.values.iter().cloned());
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
            let rest = self.keys[..at].iter().chain(&self.keys[at + 1..]);
            self.keys = rest.cloned().collect();
        }
    }
}

/// Where a full node is split: in the middle, but behind an append, so that a sorted list fills its nodes.
fn split_at(inserted: usize) -> usize {
    if inserted == ROOM - 1 { ROOM - 1 } else { ROOM / 2 }
}

/// A binary search with branches: comparing keys waits for memory, and a guess that loads the next one early beats the branchless search
/// of the standard library by half.
fn search<K>(keys: &[K], order: impl Fn(&K) -> Ordering) -> Result<usize, usize> {
    let (mut low, mut high) = (0, keys.len());
    while low < high {
        let mid = low + (high - low) / 2;
        match order(&keys[mid]) {
            Ordering::Less => low = mid + 1,
            Ordering::Greater => high = mid,
            Ordering::Equal => return Ok(mid),
        }
    }
    Err(low)
}

impl<K, V> Clone for Tree<K, V> {
    fn clone(&self) -> Self {
        Self {
            root: self.root.clone(),
            len: self.len,
        }
    }
}

impl<K, V> Clone for Node<K, V> {
    fn clone(&self) -> Self {
        match self {
            Self::Leaf(leaf) => Self::Leaf(leaf.clone()),
            Self::Inner(inner) => Self::Inner(inner.clone()),
        }
    }
}

impl<K: Clone, V: Clone> Clone for Leaf<K, V> {
    fn clone(&self) -> Self {
        Self {
            keys: self.keys.clone(),
            values: self.values.clone(),
        }
    }
}

impl<K, V> Clone for Inner<K, V> {
    fn clone(&self) -> Self {
        Self {
            keys: self.keys.clone(),
            children: self.children.clone(),
        }
    }
}

pub(crate) struct Iter<'a, K, V> {
    /// Of each node above, the children that were not visited.
    above: SmallVec<[slice::Iter<'a, Node<K, V>>; 8]>,
    leaf: iter::Zip<slice::Iter<'a, K>, slice::Iter<'a, V>>,
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(pair) = self.leaf.next() {
                return Some(pair);
            }
            match self.above.last_mut()?.next() {
                None => {
                    self.above.pop();
                }
                Some(Node::Leaf(leaf)) => self.leaf = leaf.keys.iter().zip(&leaf.values),
                Some(Node::Inner(inner)) => self.above.push(inner.children.iter()),
            }
        }
    }
}
