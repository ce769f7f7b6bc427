//! The embedded server and the real one, compared: scripts of requests are run against both, and what they answer must be the same, but
//! for the differences that `DIFFERENCES.md` lists. A listed difference that is none any more is a failure, too.
//!
//! With `INFORMER_DIFFER_OUT` the transcripts of both are written into a folder.

mod known;
mod normal;
mod script;
mod server;

use std::{collections::BTreeMap, env, fmt::Write as _, fs, path::Path};

use known::Known;
use normal::Transcript;
use script::Script;
use server::{Record, Server};

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

fn scripts() -> Vec<Script> {
    let mut paths: Vec<_> = fs::read_dir(Path::new(FOLDER).join("scripts"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    // What disturbs others comes last.
    let mut scripts: Vec<Script> = paths.iter().map(|path| Script::read(path)).collect();
    scripts.sort_by_key(|script| script.disturbs);
    scripts
}

/// All scripts on one server, one after the other.
async fn run(server: Server, scripts: &[Script]) -> Vec<Transcript> {
    let mut transcripts = Vec::new();
    for script in scripts {
        let records: Vec<Record> = server.run(script).await;
        transcripts.push(Transcript::of(script, &records));
    }
    server.end().await;
    transcripts
}

/// What differs between two transcripts of a script: `step: field` to both values.
fn differences(real: &Transcript, embedded: &Transcript) -> BTreeMap<String, (String, String)> {
    let mut found = BTreeMap::new();
    for (real, embedded) in real.steps.iter().zip(&embedded.steps) {
        let none = String::from("(nothing)");
        // Where one is a refusal and the other is not, there is no use in field by field.
        if real.answer() != embedded.answer() {
            found.insert(
                format!("{}: answer", real.title),
                (real.summary(), embedded.summary()),
            );
            continue;
        }
        for field in real.fields.keys().chain(embedded.fields.keys()) {
            let told = |step: &normal::Step| step.fields.get(field).unwrap_or(&none).clone();
            let both = (told(real), told(embedded));
            if both.0 != both.1 {
                found.insert(format!("{}: {field}", real.title), both);
            }
        }
    }
    found
}

/// All transcripts as text: for whoever writes a script.
fn told(scripts: &[Script], transcripts: &[Transcript]) -> String {
    let mut text = String::new();
    for (script, transcript) in scripts.iter().zip(transcripts) {
        for step in &transcript.steps {
            writeln!(text, "{}: {}", script.name, step.title).unwrap();
            for (field, value) in &step.fields {
                writeln!(text, "    {field} = {value}").unwrap();
            }
        }
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn both_servers_answer_alike() {
    let scripts = scripts();
    assert!(!scripts.is_empty());
    let (real, embedded) = tokio::join!(async { run(Server::real().await, &scripts).await }, async {
        run(Server::embedded().await, &scripts).await
    },);
    if let Some(folder) = env::var_os("INFORMER_DIFFER_OUT") {
        for (name, transcripts) in [("real", &real), ("embedded", &embedded)] {
            fs::write(Path::new(&folder).join(name), told(&scripts, transcripts)).unwrap();
        }
    }
    let mut known = Known::read(&Path::new(FOLDER).join("DIFFERENCES.md"));
    let mut report = String::new();
    let mut n_compared = 0;
    for ((script, real), embedded) in scripts.iter().zip(&real).zip(&embedded) {
        n_compared += real.steps.iter().map(|step| step.fields.len()).sum::<usize>();
        for (place, (real, embedded)) in differences(real, embedded) {
            let place = format!("{}: {place}", script.name);
            if !known.covers(&place) {
                writeln!(report, "{place}\n    real:     {real}\n    embedded: {embedded}").unwrap();
            }
        }
    }
    assert!(report.is_empty(), "unknown differences:\n{report}");
    assert_eq!(
        known.unused(),
        Vec::<&str>::new(),
        "these differences have gone: take them from the list"
    );
    // A script that fails at once on both sides would compare nothing.
    assert!(n_compared > 1000, "only {n_compared} fields were compared");
}
