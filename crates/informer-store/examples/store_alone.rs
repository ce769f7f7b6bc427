//! The store alone, as an indexed cache in a program without Kubernetes: books by author.
//!
//! `cargo run -p informer-store --example store_alone`

#![expect(clippy::print_stdout, reason = "an example that shows what it does")]

use std::{error::Error, sync::Arc};

use informer_core::{Batch, Cause, Delta, Entry, ResourceVersion, Stamp, Store, StoreWriter};
use informer_store::{Indexers, Reader, indexed};

struct Book {
    title: &'static str,
    authors: &'static [&'static str],
}

/// Any ordered type is a key: here the shelf mark.
type Shelf = (u16, u16);

fn main() -> Result<(), Box<dyn Error>> {
    let by_author = |book: &Book, emit: &mut dyn FnMut(&str)| {
        book.authors.iter().for_each(|author| emit(author));
    };
    let (mut writer, reader) = indexed::<Shelf, Book>(Indexers::new().with("author", by_author))?;

    let mut deliver = |deltas: Vec<Delta<Shelf, Book>>| -> Result<(), Box<dyn Error>> {
        let mut batch = Batch {
            deltas,
            ..Batch::default()
        };
        let mut changes = Vec::new();
        writer.commit(&mut batch, &mut changes)?;
        for change in changes {
            println!("  {change:?}");
        }
        Ok(())
    };

    println!("three books come in one step:");
    deliver(vec![
        book(
            (2, 1),
            "1",
            "The C Programming Language",
            &["Kernighan", "Ritchie"],
        ),
        book((1, 7), "2", "The Practice of Programming", &["Kernighan", "Pike"]),
        book((9, 3), "3", "Lisp in Small Pieces", &["Queinnec"]),
    ])?;
    show(&reader, "Kernighan")?;

    // A view stays as it is, whatever is written meanwhile.
    let earlier = reader.view();

    println!("one is corrected, one is lost:");
    deliver(vec![
        book(
            (1, 7),
            "4",
            "The Practice of Programming, 2nd printing",
            &["Kernighan", "Pike"],
        ),
        Delta::Delete {
            key: (2, 1),
            stamp: Stamp::new("5", ""),
            last: None,
            observed: true,
        },
    ])?;
    show(&reader, "Kernighan")?;
    println!("authors on the shelves: {:?}", reader.index_values("author")?);

    assert_eq!((earlier.len(), reader.len()), (3, 2));
    assert_eq!(earlier.index_keys("author", "Ritchie")?, [(2, 1)]);
    assert!(reader.index_keys("author", "Ritchie")?.is_empty());
    assert_eq!(reader.view().applied(), &ResourceVersion::new("5"));
    println!("a view from before still holds {} books", earlier.len());
    Ok(())
}

fn book(
    shelf: Shelf,
    version: &str,
    title: &'static str,
    authors: &'static [&'static str],
) -> Delta<Shelf, Book> {
    let stamp = Stamp::new(version, "");
    Delta::Upsert(
        Entry::new(shelf, stamp, Arc::new(Book { title, authors })),
        Cause::Modified,
    )
}

fn show(reader: &Reader<Shelf, Book>, author: &str) -> Result<(), Box<dyn Error>> {
    println!("by {author}:");
    for entry in reader.by_index("author", author)? {
        println!("  shelf {:?}: {}", entry.key, entry.object.title);
    }
    Ok(())
}
