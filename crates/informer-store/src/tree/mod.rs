//! The ordered map that a view is made of: cheap to clone, and a clone stays as it was.

mod btree;
#[cfg(test)]
mod tests;

pub(crate) use btree::Tree;
