//! Second implementations of every contract of the core: small, and of no code of ours. The conformance suites are run on them and on ours.

mod diary;
mod journal;
mod keys;
mod ledger;
mod line;
mod pipe;
mod pump;
mod sections;
mod shelf;
mod tally;

pub use diary::Diary;
pub use journal::{Journal, JournalList, JournalWatch, Lost, Note};
pub use keys::{ByNumber, Initial, Numbered, SecondPart};
pub use ledger::{Book, Ledger, Numbers, Page};
pub use line::Line;
pub use pipe::{Broken, Pipe};
pub use pump::pump;
pub use sections::Sections;
pub use shelf::{Shelf, ShelfWriter, shelf};
pub use tally::{Nap, Tally};
