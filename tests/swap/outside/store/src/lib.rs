//! An indexed cache in a program that has neither queues nor a runtime.

use std::sync::Arc;

use informer_core::{Batch, Cause, Delta, Entry, Stamp, Store, StoreWriter};
use informer_store::{Indexers, indexed};

/// A book under its number, found by its author.
#[derive(Debug, PartialEq, Eq)]
pub struct Book {
    /// Who wrote it.
    pub author: String,
}

/// Stores books, and says the numbers of those by an author, and what changed.
///
/// # Errors
/// When the store refuses.
pub fn by_author(
    books: &[(u32, &str)],
    author: &str,
) -> Result<(Vec<u32>, usize), Box<dyn std::error::Error>> {
    let indexers = Indexers::new().with("author", |book: &Book, emit: &mut dyn FnMut(&str)| {
        emit(&book.author)
    });
    let (mut writer, reader) = indexed::<u32, Book>(indexers)?;
    let mut changes = Vec::new();
    for (number, author) in books {
        let book = Arc::new(Book {
            author: (*author).to_owned(),
        });
        let entry = Entry::new(*number, Stamp::default(), book);
        writer.commit(
            &mut Batch::of(Delta::Upsert(entry, Cause::Modified), false),
            &mut changes,
        )?;
    }
    let found = reader.by_index("author", author)?;
    Ok((found.iter().map(|entry| entry.key).collect(), changes.len()))
}

#[test]
fn books_are_found_by_their_author() {
    let books = [(3, "Ada"), (1, "Ada"), (2, "Grace"), (3, "Grace")];
    assert_eq!(by_author(&books, "Ada").unwrap(), (vec![1], 4));
    assert_eq!(by_author(&books, "Grace").unwrap(), (vec![2, 3], 4));
}
