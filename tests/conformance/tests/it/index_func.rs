//! `IndexFunc`.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use conformance_tests::Initial;
use informer_core::{IndexError, IndexFunc};
use informer_testkit::conformance::index_func::Suite;

use crate::wrong::{all_catch, caught};

type Text = &'static str;
type Function = fn(&Text, &mut dyn FnMut(&str));

/// Ours is what makes an index function of a closure.
pub(crate) fn ours() -> Suite<Function, Text> {
    let words: Function = |text, emit| text.split_whitespace().for_each(emit);
    suite("a closure", words)
}

fn suite<F: IndexFunc<Text> + Clone + 'static>(name: &str, function: F) -> Suite<F, Text> {
    Suite::new(name, move || function.clone())
        .object("", [])
        .object("red", ["red"])
        .object("red blue red", ["blue", "red"])
        .object("green", ["green"])
}

#[test]
fn ours_conforms() {
    ours().run().assert_conforms();
}

#[test]
fn initials_conform() {
    let initials = Suite::new("Initial", || Initial)
        .object("red blue".to_owned(), ["r", "b"])
        .object("rot rosa".to_owned(), ["r"])
        .object(String::new(), [])
        .refused("über".to_owned());
    initials.run().assert_conforms();
}

#[derive(Clone)]
struct Fails(fn(&Text) -> Result<(), IndexError>);

impl IndexFunc<Text> for Fails {
    fn values(&self, text: &Text, emit: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
        text.split_whitespace().for_each(emit);
        (self.0)(text)
    }
}

#[test]
fn wrong_ones_are_found_out() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let whole: Function = |text, emit| emit(text);
    caught(
        "these_values",
        &suite("the whole text", whole).only("these_values").run(),
    );

    let check = "it_cannot_tell";
    for wrong in [
        Fails(|_| Ok(())),
        Fails(|text| {
            if *text == "?" {
                Err(IndexError::new(" "))
            } else {
                Ok(())
            }
        }),
    ] {
        caught(check, &suite("Fails", wrong).refused("?").only(check).run());
    }

    let check = "the_same_every_time";
    let counting: Function = |_, emit| emit(&CALLS.fetch_add(1, Relaxed).to_string());
    caught(check, &suite("counting", counting).only(check).run());

    let check = "from_any_thread";
    let threads: Function = |_, emit| emit(&format!("{:?}", std::thread::current().id()));
    caught(check, &suite("by thread", threads).only(check).run());

    all_catch(
        &ours().run(),
        &[
            "these_values",
            "it_cannot_tell",
            "the_same_every_time",
            "from_any_thread",
        ],
    );
}
