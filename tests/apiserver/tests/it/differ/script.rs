//! A script: steps that are run against a server.
//!
//! ```text
//! # A comment.
//! ### the title of a step
//! POST /api/v1/namespaces/$ns/configmaps
//! Accept: application/json
//! {"metadata": {"name": "a"}}
//! let version = /metadata/resourceVersion
//! ```
//! A step is a request (`GET`, `POST`, `PUT`, `DELETE`, `PATCH/merge`, `/json`, `/strategic`, `/apply`) or one of
//! * `WATCH name path`: a watch that goes on in the background once its head is there,
//! * `ASK name path`: a GET in the background, for answers that take their time,
//! * `END name`: waits for the end of that watch or answer, and tells its events,
//! * `WAIT status path`: gets until the status is this, and tells nothing,
//! * `COMPACT`: forgets history, `RESTART`: restarts the server.
//!
//! After a request, `let name = pointer` keeps a value of the answer as `$name`. `show pointer …` limits what is told of answers from there
//! on, `show` alone tells everything again. `$ns` is a namespace of the script's own.

use std::{collections::BTreeMap, fs, path::Path};

use http::Method;

pub(super) struct Script {
    pub(super) name: String,
    pub(super) steps: Vec<Step>,
    /// It compacts or restarts the server.
    pub(super) disturbs: bool,
}

pub(super) struct Step {
    pub(super) title: String,
    pub(super) action: Action,
    /// What of the answer is told; everything where this is empty.
    pub(super) show: Vec<String>,
    pub(super) keep: Vec<(String, String)>,
}

pub(super) enum Action {
    Send(Request),
    Watch(String, String),
    Ask(String, String),
    End(String),
    Wait(u16, String),
    Compact,
    Restart,
}

#[derive(Clone)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

const PATCHES: [(&str, &str); 4] = [
    ("PATCH/merge", "application/merge-patch+json"),
    ("PATCH/json", "application/json-patch+json"),
    ("PATCH/strategic", "application/strategic-merge-patch+json"),
    ("PATCH/apply", "application/apply-patch+yaml"),
];

impl Script {
    /// Whether a watch is so long that it gets a bookmark.
    pub(super) fn is_long(&self, watch: &str) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|step| {
            matches!(&step.action, Action::Watch(name, path) if name == watch
                && path.contains("timeoutSeconds=5") && path.contains("allowWatchBookmarks"))
        })
    }

    pub(super) fn read(path: &Path) -> Self {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(path).unwrap();
        let mut reader = Reader::default();
        for (index, line) in text.lines().enumerate() {
            let known = reader.read(line);
            assert!(known, "{name}, line {}: {line}", index + 1);
        }
        let disturbs = |step: &Step| matches!(step.action, Action::Compact | Action::Restart);
        Self {
            disturbs: reader.steps.iter().any(disturbs),
            steps: reader.steps,
            name,
        }
    }
}

#[derive(Default)]
struct Reader {
    steps: Vec<Step>,
    title: String,
    /// How many steps have had this title.
    n_titled: usize,
    show: Vec<String>,
}

impl Reader {
    fn read(&mut self, line: &str) -> bool {
        if let Some(title) = line.strip_prefix("### ") {
            title.clone_into(&mut self.title);
            self.n_titled = 0;
            return true;
        }
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return true;
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "show" => {
                self.show = rest.split_whitespace().map(str::to_owned).collect();
                return true;
            }
            "let" => return self.keep(rest),
            _ => {}
        }
        if let Some(action) = action(word, rest) {
            self.n_titled += 1;
            let title = match self.n_titled {
                1 => self.title.clone(),
                n => format!("{} ({n})", self.title),
            };
            self.steps.push(Step {
                title,
                action,
                show: self.show.clone(),
                keep: Vec::new(),
            });
            return true;
        }
        self.header_or_body(line)
    }

    fn keep(&mut self, text: &str) -> bool {
        match (self.steps.last_mut(), text.split_once(" = ")) {
            (Some(step), Some((name, pointer))) => {
                step.keep.push((name.to_owned(), pointer.to_owned()));
                true
            }
            _ => false,
        }
    }

    fn header_or_body(&mut self, line: &str) -> bool {
        let Some(Step {
            action: Action::Send(request),
            ..
        }) = self.steps.last_mut()
        else {
            return false;
        };
        match line.split_once(": ") {
            Some((name, value)) if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                request.headers.retain(|(it, _)| it != name);
                request.headers.push((name.to_owned(), value.to_owned()));
            }
            _ => {
                request.body.push_str(line);
                request.body.push('\n');
            }
        }
        true
    }
}

fn action(word: &str, rest: &str) -> Option<Action> {
    let send = |method: Method, content_type: &str| {
        Action::Send(Request {
            method,
            path: rest.to_owned(),
            headers: vec![("Content-Type".to_owned(), content_type.to_owned())],
            body: String::new(),
        })
    };
    Some(match word {
        "GET" | "POST" | "PUT" | "DELETE" => send(word.parse().ok()?, "application/json"),
        "WATCH" => {
            let (name, path) = rest.split_once(' ')?;
            Action::Watch(name.to_owned(), path.to_owned())
        }
        "ASK" => {
            let (name, path) = rest.split_once(' ')?;
            Action::Ask(name.to_owned(), path.to_owned())
        }
        "END" => Action::End(rest.to_owned()),
        "WAIT" => {
            let (status, path) = rest.split_once(' ')?;
            Action::Wait(status.parse().ok()?, path.to_owned())
        }
        "COMPACT" => Action::Compact,
        "RESTART" => Action::Restart,
        _ => {
            let (_, content_type) = PATCHES.iter().find(|(name, _)| *name == word)?;
            send(Method::PATCH, content_type)
        }
    })
}

/// Puts the values of variables into a text.
pub(super) fn fill(text: &str, values: &BTreeMap<String, String>) -> String {
    let mut filled = text.to_owned();
    // The longest first: `$version2` is not `$version` and a 2.
    let mut names: Vec<&String> = values.keys().collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    for name in names {
        filled = filled.replace(&format!("${name}"), &values[name]);
    }
    filled
}
