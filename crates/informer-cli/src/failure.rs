//! What the program ends with when it cannot go on: one sentence.

use std::{error::Error, fmt};

/// A sentence that names the file, field or server.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }

    /// A failure at `place`, with all that the error and its causes say.
    pub(crate) fn at(place: &str, error: &dyn Error) -> Self {
        let said = chain(error);
        if said.contains(place) {
            Self(said)
        } else {
            Self(format!("{place}: {said}"))
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An error and its causes in one line, each said once.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !said.contains(&text) {
            said.push_str(": ");
            said.push_str(&text);
        }
        cause = error.source();
    }
    said.replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn sentence_names_the_place_once() {
        let refused = io::Error::other("refused by https://a:1");
        assert_eq!(
            Failure::at("https://a:1", &refused).to_string(),
            "refused by https://a:1"
        );
        assert_eq!(
            Failure::at("https://b:1", &refused).to_string(),
            "https://b:1: refused by https://a:1"
        );
    }
}
