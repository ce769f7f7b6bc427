//! A strict reader of the text format, written from its description and not from what writes it.

use std::collections::{BTreeMap, BTreeSet};

use informer_prometheus::Registry;

/// What a scraper would store.
#[derive(Debug, Default)]
pub(crate) struct Scrape {
    /// Type by family.
    pub(crate) types: BTreeMap<String, String>,
    pub(crate) helps: BTreeMap<String, String>,
    pub(crate) samples: Vec<Sample>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) value: f64,
}

impl Scrape {
    pub(crate) fn of(registry: &Registry) -> Self {
        Self::read(&registry.render())
    }

    /// Reads a text; panics where it is not as it must be.
    pub(crate) fn read(text: &str) -> Self {
        assert!(
            text.is_empty() || text.ends_with('\n'),
            "the last line does not end"
        );
        let mut scrape = Self::default();
        let mut family = String::new();
        let mut seen = BTreeSet::new();
        for line in text.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                let (name, help) = help.split_once(' ').expect("a help has a text");
                let before = scrape.helps.insert(name.to_owned(), help.to_owned());
                assert!(before.is_none(), "{name} is told twice");
            } else if let Some(kind) = line.strip_prefix("# TYPE ") {
                let (name, kind) = kind.split_once(' ').expect("a type has a name");
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                let before = scrape.types.insert(name.to_owned(), kind.to_owned());
                assert!(before.is_none(), "{name} has two types");
                name.clone_into(&mut family);
            } else {
                let sample = read_sample(line);
                let suffix = sample.name.strip_prefix(&family).expect("it is in its family");
                match &*scrape.types[&family] {
                    "histogram" => assert!(["_bucket", "_sum", "_count"].contains(&suffix), "{line}"),
                    _ => assert_eq!(suffix, "", "{line}"),
                }
                let is_new = seen.insert((sample.name.clone(), sample.labels.clone()));
                assert!(is_new, "twice: {line}");
                scrape.samples.push(sample);
            }
        }
        scrape
    }

    /// The one value of a name under these labels, given as `a=b c=d`; others do not matter.
    pub(crate) fn value(&self, name: &str, labels: &str) -> Option<f64> {
        let found = self.find(name, labels);
        assert!(found.len() <= 1, "{name} {labels}: {found:?}");
        found.first().map(|sample| sample.value)
    }

    pub(crate) fn find(&self, name: &str, labels: &str) -> Vec<&Sample> {
        let wanted: Vec<_> = labels
            .split_whitespace()
            .map(|label| label.split_once('=').unwrap())
            .collect();
        let fits = |sample: &&Sample| {
            sample.name == name
                && wanted
                    .iter()
                    .all(|(label, value)| sample.labels.get(*label).map(String::as_str) == Some(*value))
        };
        self.samples.iter().filter(fits).collect()
    }

    /// Upper bounds of a histogram, without the infinite one, and what is in each of them alone.
    pub(crate) fn buckets(&self, name: &str, labels: &str) -> Vec<(String, f64)> {
        let mut below = 0.0;
        let mut buckets: Vec<_> = self
            .find(&format!("{name}_bucket"), labels)
            .into_iter()
            .map(|sample| {
                let own = sample.value - below;
                assert!(own >= 0.0, "buckets are sums: {sample:?}");
                below = sample.value;
                (sample.labels["le"].clone(), own)
            })
            .collect();
        assert_eq!(buckets.pop().unwrap().0, "+Inf");
        assert_eq!(self.value(&format!("{name}_count"), labels), Some(below));
        buckets
    }
}

/// `name{label="value",...} number`
fn read_sample(line: &str) -> Sample {
    let end = line.find(['{', ' ']).expect("a sample has a value");
    let (name, mut rest) = line.split_at(end);
    assert!(is_name(name), "{line}");
    let mut labels = BTreeMap::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        while !rest.starts_with('}') {
            let (label, after) = rest.split_once("=\"").expect("a label has a quoted value");
            assert!(is_name(label) && !label.contains(':'), "{line}");
            let (value, after) = read_quoted(after);
            let before = labels.insert(label.to_owned(), value);
            assert!(before.is_none(), "a label twice: {line}");
            rest = after.strip_prefix(',').unwrap_or(after);
        }
        rest = &rest[1..];
    }
    let value = rest.strip_prefix(' ').expect("a space is before the value");
    Sample {
        name: name.to_owned(),
        labels,
        value: value.parse().expect("the value is a number"),
    }
}

fn is_name(name: &str) -> bool {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':');
    !name.is_empty() && name.bytes().all(is_good) && !name.as_bytes()[0].is_ascii_digit()
}

/// Text up to a quote that is not escaped.
fn read_quoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (value, &text[at + 1..]),
            '\\' => value.push(match letters.next().expect("something is escaped").1 {
                'n' => '\n',
                letter @ ('"' | '\\') => letter,
                letter => panic!("nobody escapes {letter}"),
            }),
            letter => value.push(letter),
        }
    }
    panic!("a value does not end: {text}");
}

#[test]
fn the_reader_reads_what_the_format_says() {
    let text = "# HELP a Of \\n two.\n# TYPE a counter\na{b=\"c\\\\d\\\"e\\nf\",g=\"\"} 3\na 1.5e-7\n";
    let scrape = Scrape::read(text);
    assert_eq!(scrape.helps["a"], "Of \\n two.");
    assert_eq!(scrape.value("a", "g="), Some(3.0));
    assert_eq!(scrape.samples[0].labels["b"], "c\\d\"e\nf");
    assert_eq!(scrape.samples[1].value, 1.5e-7);
}

#[test]
#[should_panic(expected = "twice")]
fn the_reader_refuses_a_series_that_comes_twice() {
    Scrape::read("# TYPE a gauge\na{b=\"c\"} 1\na{b=\"c\"} 2\n");
}

#[test]
#[should_panic(expected = "it is in its family")]
fn the_reader_refuses_a_sample_out_of_place() {
    Scrape::read("# TYPE a gauge\nb 1\n");
}
