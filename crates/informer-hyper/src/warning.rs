//! `Warning` headers: what a server wants its users to know, such as a version of an API that will go.

use std::{
    collections::{BTreeSet, VecDeque},
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use http::{HeaderMap, header::WARNING};

/// One warning of a server (RFC 7234, section 5.5).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// Its code: 299 for all that API servers send today.
    pub code: u16,
    /// Who warns; `-` for the server that was asked.
    pub agent: String,
    /// What it says.
    pub text: String,
}

/// Hears what servers warn of. Any function of a `&Warning` is one.
pub trait WarningHandler: Send + Sync {
    /// The server warned. Called once for each text, until a few hundred others have come.
    fn warned(&self, warning: &Warning);
}

impl<F: Fn(&Warning) + Send + Sync> WarningHandler for F {
    fn warned(&self, warning: &Warning) {
        self(warning);
    }
}

/// Logs warnings of code 299 that say something (client-go `rest/warnings.go`, `WarningLogger`).
#[derive(Debug)]
struct Log;

impl WarningHandler for Log {
    fn warned(&self, warning: &Warning) {
        if warning.code == 299 && !warning.text.is_empty() {
            tracing::warn!(agent = warning.agent, "The server warns: {}", warning.text);
        }
    }
}

/// So many texts are remembered. A warning may name an object, so that there is no end to them.
const MAX_REMEMBERED: usize = 256;

/// Passes on each warning once.
#[derive(Clone)]
pub(crate) struct Warnings {
    handler: Arc<dyn WarningHandler>,
    told: Arc<Mutex<Told>>,
}

#[derive(Debug, Default)]
struct Told {
    warnings: BTreeSet<(u16, String)>,
    order: VecDeque<(u16, String)>,
}

impl Told {
    /// Whether this is the first of its kind.
    fn is_new(&mut self, warning: &Warning) -> bool {
        let key = (warning.code, warning.text.clone());
        if !self.warnings.insert(key.clone()) {
            return false;
        }
        self.order.push_back(key);
        if self.order.len() > MAX_REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.warnings.remove(&oldest);
        }
        true
    }
}

impl Warnings {
    pub(crate) fn new(handler: Arc<dyn WarningHandler>) -> Self {
        Self {
            handler,
            told: Arc::default(),
        }
    }

    /// What the headers of a response warn of.
    pub(crate) fn hear(&self, headers: &HeaderMap) {
        for value in headers.get_all(WARNING) {
            // A header that is not text is not worth an error.
            let Ok(value) = std::str::from_utf8(value.as_bytes()) else {
                continue;
            };
            for warning in parse(value) {
                let is_new = self
                    .told
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .is_new(&warning);
                if is_new {
                    self.handler.warned(&warning);
                }
            }
        }
    }
}

impl Default for Warnings {
    fn default() -> Self {
        Self::new(Arc::new(Log))
    }
}

impl fmt::Debug for Warnings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Warnings").finish_non_exhaustive()
    }
}

/// The warnings of one header: `code agent "text" ["date"]`, with commas between. What follows a malformed one is not read
/// (apimachinery `util/net/http.go`, `ParseWarningHeaders`).
fn parse(header: &str) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut rest = header.trim();
    while let Some((warning, after)) = parse_one(rest) {
        warnings.push(warning);
        match after.strip_prefix(',') {
            Some(next) => rest = next.trim_start(),
            None => break,
        }
    }
    warnings
}

fn parse_one(header: &str) -> Option<(Warning, &str)> {
    let (code, rest) = header.split_once(' ')?;
    if code.len() != 3 || !code.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (agent, rest) = rest.trim_start().split_once(' ')?;
    let (text, rest) = quoted(rest.trim_start())?;
    let rest = rest.trim_start();
    // A date may follow, which nobody looks at.
    let rest = quoted(rest).map_or(rest, |(_, rest)| rest.trim_start());
    let warning = Warning {
        code: code.parse().ok()?,
        agent: agent.to_owned(),
        text,
    };
    Some((warning, rest))
}

/// A quoted string at the beginning, without its quotes, escapes and control characters, and what follows.
fn quoted(header: &str) -> Option<(String, &str)> {
    let inner = header.strip_prefix('"')?;
    let (mut text, mut is_escaped) = (String::new(), false);
    for (at, c) in inner.char_indices() {
        match c {
            '\\' if !is_escaped => is_escaped = true,
            '"' if !is_escaped => return Some((text, &inner[at + 1..])),
            _ => {
                is_escaped = false;
                if !c.is_control() {
                    text.push(c);
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use http::{HeaderMap, HeaderValue, header::WARNING};

    use super::{MAX_REMEMBERED, Warning, Warnings, parse};

    fn warning(text: &str) -> Warning {
        Warning {
            code: 299,
            agent: "-".to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn headers_are_read_as_far_as_they_are_good() {
        let table: &[(&str, &[&str])] = &[
            (r#"299 - "gone soon""#, &["gone soon"]),
            (r#"299 - "a, b", 299 - "c""#, &["a, b", "c"]),
            (
                r#"299 - "dated" "Wed, 21 Oct 2026 07:28:00 GMT" , 299 - "more""#,
                &["dated", "more"],
            ),
            (r#"299 - "say \"hi\" \\ ""#, &[r#"say "hi" \ "#]),
            ("299 - \"tab\\\there\"", &["tabhere"]),
            (r#"299 - "é ☃""#, &["é ☃"]),
            (r#"299 - """#, &[""]),
            (r#"299 - "open"#, &[]),
            (r#"29 - "short code""#, &[]),
            (r#"2999 - "long code""#, &[]),
            (r#"299 "no agent""#, &[]),
            ("", &[]),
            (r#"299 - "good", junk, 299 - "lost""#, &["good"]),
        ];
        for (header, expected) in table {
            let expected: Vec<_> = expected.iter().map(|text| warning(text)).collect();
            assert_eq!(parse(header), expected, "{header}");
        }
        let named = parse(r#"199 proxy:80 "stale""#);
        assert_eq!((named[0].code, &*named[0].agent), (199, "proxy:80"));
    }

    #[test]
    fn each_text_is_told_once_and_memory_is_bounded() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let warnings = {
            let told = Arc::clone(&told);
            Warnings::new(Arc::new(move |warning: &Warning| {
                told.lock().expect("no panic").push(warning.text.clone());
            }))
        };
        let hear = |text: &str| {
            let value = HeaderValue::from_str(&format!("299 - {text:?}")).expect("a header");
            warnings.hear(&HeaderMap::from_iter([(WARNING, value)]));
        };
        hear("first");
        hear("first");
        assert_eq!(told.lock().expect("no panic").len(), 1);
        for n in 0..MAX_REMEMBERED {
            hear(&n.to_string());
        }
        hear("first");
        let told = told.lock().expect("no panic");
        assert_eq!(told.len(), MAX_REMEMBERED + 2, "it was forgotten, and told again");
        assert_eq!(told.last().map(String::as_str), Some("first"));
    }
}
