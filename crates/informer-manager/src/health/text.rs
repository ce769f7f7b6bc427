//! The texts of controller-runtime's health endpoints (`pkg/healthz/healthz.go`, `serveAggregated`).

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use percent_encoding::percent_decode_str;

use crate::Reply;

/// What a request asks of all checks.
#[derive(Debug, Default)]
pub(super) struct Query {
    verbose: bool,
    exclude: BTreeSet<String>,
}

impl Query {
    pub(super) fn parse(query: &str) -> Self {
        let mut this = Self::default();
        for pair in query.split('&') {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            match decoded(key).as_str() {
                "verbose" => this.verbose = true,
                "exclude" => {
                    this.exclude.insert(decoded(value));
                }
                _ => {}
            }
        }
        this
    }

    pub(super) fn excludes(&self, name: &str) -> bool {
        self.exclude.contains(name)
    }
}

fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " "))
        .decode_utf8_lossy()
        .into_owned()
}

pub(super) fn aggregate(verdicts: &BTreeMap<String, Result<(), String>>, query: &Query) -> Reply {
    let ping = BTreeMap::from([("ping".to_owned(), Ok(()))]);
    let shown = if verdicts.is_empty() { &ping } else { verdicts };
    let excluded = |name: &str| verdicts.contains_key(name) && query.excludes(name);
    let failed = shown
        .iter()
        .any(|(name, verdict)| verdict.is_err() && !excluded(name));
    if !failed && !query.verbose {
        return Reply::text(200, "ok");
    }
    let mut text = String::new();
    for (name, verdict) in shown {
        // Writing to a string does not fail.
        let _ = if excluded(name) {
            writeln!(text, "[+]{name} excluded: ok")
        } else if verdict.is_ok() {
            writeln!(text, "[+]{name} ok")
        } else {
            // The endpoint is public; who may know more asks for the one check.
            writeln!(text, "[-]{name} failed: reason withheld")
        };
    }
    let unknown: Vec<_> = query
        .exclude
        .iter()
        .filter(|name| !verdicts.contains_key(*name))
        .map(|name| format!("{name:?}"))
        .collect();
    if !unknown.is_empty() {
        let _ = writeln!(
            text,
            "warn: some health checks cannot be excluded: no matches for {}",
            unknown.join(",")
        );
    }
    if failed {
        text.push_str("healthz check failed\n");
        Reply::text(500, text)
    } else {
        text.push_str("healthz check passed\n");
        Reply::text(200, text)
    }
}

pub(super) fn single(verdict: &Result<(), String>) -> Reply {
    match verdict {
        Ok(()) => Reply::text(200, "ok"),
        // As Go's `http.Error`, which ends the line.
        Err(why) => Reply::text(500, format!("internal server error: {why}\n")),
    }
}
