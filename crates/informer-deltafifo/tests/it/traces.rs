//! Scripts: input lines, `----`, what is expected. `UPDATE_TRACES=1` writes what came instead of comparing.
//!
//! | line | does |
//! |---|---|
//! | `add a@1#u`, `mod`, `listed`, `sync` | pushes an upsert |
//! | `del a@3`, `del a@3 last` | pushes an observed delete, without or with a last state |
//! | `gone a@3` | pushes a concluded delete |
//! | `bad a@4` | pushes an unreadable state |
//! | `list a@1 b@2 ~c at 5 rewind` | pushes a list, `~` for what could not be read |
//! | `resync`, `bookmark 7`, `bookmark 7 rewind` | pushes that |
//! | `known a@1 ~b` | puts these into the store, `~` for what could not be read |
//! | `pop`, `pop 3` | takes a batch, or a key with its deltas, and prints it |
//! | `done` | commits what was taken to the store and settles it |
//! | `fail a b` | the same, but for these keys, which come back; `fail *` for all of it |
//! | `state` | prints how many wait, and whether it is synced, ready |

use std::{env, fmt::Write as _, fs, mem, path::Path};

use informer_core::{Cause, Delta, DeltaQueue, Stamp};
use informer_deltafifo::{Coalescing, DeltaFifo, InOrder, Options, Popped};

use crate::support::{K, Known, Q, delete, entry, is_ready, parts, pop, upsert};

/// Runs every script of a folder, each on a machine of its own.
fn run<M: Machine>(folder: &str, new: impl Fn() -> M) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/traces")
        .join(folder);
    let mut n_scripts = 0;
    for file in fs::read_dir(&folder).unwrap() {
        let path = file.unwrap().path();
        let script = fs::read_to_string(&path).unwrap();
        let ran = run_script(&mut new(), &script);
        if env::var_os("UPDATE_TRACES").is_some() {
            fs::write(&path, &ran).unwrap();
        } else {
            assert!(ran == script, "{} gave\n{ran}", path.display());
        }
        n_scripts += 1;
    }
    assert!(n_scripts > 0, "no scripts in {}", folder.display());
}

fn run_script(machine: &mut impl Machine, script: &str) -> String {
    let mut blocks = Vec::new();
    for block in script.trim_end().split("\n\n") {
        let input = block.split_once("\n----").map_or(block, |(input, _)| input);
        let mut out = String::new();
        for line in input.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<_> = line.split_whitespace().collect();
            if let Some(shown) = machine.line(words[0], &words[1..]) {
                writeln!(out, "{shown}").unwrap();
            }
        }
        let has_commands = input.lines().any(|line| !line.starts_with('#'));
        blocks.push(if has_commands {
            format!("{input}\n----\n{out}")
        } else {
            format!("{input}\n")
        });
    }
    blocks.join("\n")
}

trait Machine {
    /// Does what a line says, and what it prints.
    fn line(&mut self, word: &str, rest: &[&str]) -> Option<String>;
}

/// Puts an object into the store, or with `~` the key of one that cannot be read.
fn make_known(known: &Known, text: &str) {
    match text.strip_prefix('~') {
        Some(key) => known.apply(&Delta::Unreadable {
            key: key.to_owned(),
            stamp: Stamp::default(),
        }),
        None => known.put(entry(text)),
    }
}

/// The delta that a line pushes.
fn pushed(word: &str, rest: &[&str]) -> Delta<Q, K> {
    let first = rest.first().copied().unwrap_or_default();
    match word {
        "add" => upsert(first, Cause::Added),
        "mod" => upsert(first, Cause::Modified),
        "listed" => upsert(first, Cause::Listed),
        "sync" => upsert(first, Cause::Sync),
        "gone" => delete(first, false),
        "del" => {
            let mut delta = delete(first, true);
            if let Delta::Delete { last, .. } = &mut delta
                && rest.get(1) == Some(&"last")
            {
                *last = Some(entry(first).object);
            }
            delta
        }
        "bad" => {
            let (key, stamp) = parts(first);
            Delta::Unreadable { key, stamp }
        }
        "resync" => Delta::Resync,
        "bookmark" => Delta::Bookmark {
            at: first.into(),
            may_rewind: rest.contains(&"rewind"),
        },
        "list" => {
            let at = rest.iter().position(|word| *word == "at").unwrap();
            let (unreadable, items): (Vec<_>, Vec<_>) =
                rest[..at].iter().partition(|word| word.starts_with('~'));
            Delta::Replace {
                items: items.into_iter().map(entry).collect(),
                unreadable: unreadable.into_iter().map(|it| it[1..].to_owned()).collect(),
                at: rest[at + 1].into(),
                may_rewind: rest.contains(&"rewind"),
            }
        }
        _ => panic!("no such line: {word} {rest:?}"),
    }
}

/// With the last state of a delete, which its own form leaves out.
fn show(delta: &Delta<Q, K>) -> String {
    let last = matches!(delta, Delta::Delete { last: Some(_), .. });
    format!("{delta:?}{}", if last { " with last" } else { "" })
}

struct Queue<D> {
    queue: D,
    known: Known,
    in_hand: Vec<Delta<Q, K>>,
}

impl<D: DeltaQueue<Q, K>> Queue<D> {
    fn settle(&mut self, fails: impl Fn(&Delta<Q, K>) -> bool) {
        let (failed, done): (Vec<_>, Vec<_>) = mem::take(&mut self.in_hand).into_iter().partition(fails);
        done.iter().for_each(|delta| self.known.apply(delta));
        self.queue.settle(failed);
    }
}

impl<D: DeltaQueue<Q, K>> Machine for Queue<D> {
    fn line(&mut self, word: &str, rest: &[&str]) -> Option<String> {
        match word {
            "known" => rest.iter().for_each(|it| make_known(&self.known, it)),
            "pop" => {
                let max = rest.first().map_or(usize::MAX, |max| max.parse().unwrap());
                let Some(batch) = pop(&mut self.queue, max) else {
                    return Some("nothing".to_owned());
                };
                let when = if batch.initial { "initial" } else { "later" };
                let shown: Vec<_> = batch.deltas.iter().map(show).collect();
                self.in_hand.extend(batch.deltas);
                return Some(format!("{when}: {}", shown.join(", ")));
            }
            "done" => self.settle(|_| false),
            "fail" => {
                let of = |delta: &Delta<Q, K>| delta.key().map_or("-", |key| key.as_str()).to_owned();
                self.settle(|delta| rest == ["*"] || rest.contains(&of(delta).as_str()));
            }
            "state" => {
                let synced = if self.queue.has_synced() {
                    "synced"
                } else {
                    "not synced"
                };
                let ready = if is_ready(&mut self.queue) {
                    "ready"
                } else {
                    "not ready"
                };
                let known = self.known.show();
                return Some(format!(
                    "{} wait, {synced}, {ready}, known {known}",
                    self.queue.len()
                ));
            }
            _ => self.queue.push(pushed(word, rest)),
        }
        None
    }
}

struct Fifo {
    fifo: DeltaFifo<Q, K>,
    known: Known,
    in_hand: Option<Popped<Q, K>>,
}

impl Machine for Fifo {
    fn line(&mut self, word: &str, rest: &[&str]) -> Option<String> {
        match word {
            "known" => rest.iter().for_each(|it| make_known(&self.known, it)),
            "pop" => {
                let Some(popped) = self.fifo.pop() else {
                    return Some("nothing".to_owned());
                };
                let when = if popped.initial { "initial" } else { "later" };
                let kinds: Vec<_> = popped.deltas.kinds().collect();
                let deltas: Vec<_> = popped.deltas.iter().map(show).collect();
                let shown = format!("{when} {} {kinds:?}: {}", popped.key, deltas.join(", "));
                self.in_hand = Some(popped);
                return Some(shown);
            }
            "done" => {
                let popped = self.in_hand.take().unwrap();
                popped.deltas.iter().for_each(|delta| self.known.apply(delta));
                self.fifo.done(&popped.key);
            }
            "fail" => self.fifo.requeue(self.in_hand.take().unwrap()),
            "state" => {
                let synced = if self.fifo.has_synced() {
                    "synced"
                } else {
                    "not synced"
                };
                return Some(format!(
                    "{} wait, {synced}, known {}",
                    self.fifo.len(),
                    self.known.show()
                ));
            }
            _ => match pushed(word, rest) {
                Delta::Upsert(entry, Cause::Added) => self.fifo.add(entry),
                Delta::Upsert(entry, Cause::Modified) => self.fifo.update(entry),
                Delta::Upsert(entry, cause) => self.fifo.upsert(entry, cause),
                Delta::Delete {
                    key,
                    stamp,
                    last,
                    observed,
                } => self.fifo.delete(key, stamp, last, observed),
                Delta::Unreadable { key, stamp } => self.fifo.unreadable(key, stamp),
                Delta::Replace {
                    items, unreadable, ..
                } => self.fifo.replace(items, unreadable),
                Delta::Resync => self.fifo.resync(),
                Delta::Bookmark { .. } => panic!("this queue has no bookmarks"),
            },
        }
        None
    }
}

#[test]
fn in_order_follows_its_scripts() {
    run("in_order", || Queue {
        queue: InOrder::new(Options::new(4, 8)),
        known: Known::default(),
        in_hand: Vec::new(),
    });
}

#[test]
fn coalescing_follows_its_scripts() {
    run("coalescing", || {
        let known = Known::default();
        Queue {
            queue: Coalescing::new(known.shared(), Options::new(4, 8)),
            known,
            in_hand: Vec::new(),
        }
    });
}

#[test]
fn delta_fifo_follows_its_scripts() {
    run("delta_fifo", || {
        let known = Known::default();
        Fifo {
            fifo: DeltaFifo::new(known.shared()),
            known,
            in_hand: None,
        }
    });
}
