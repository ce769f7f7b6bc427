//! Random scripts for a reflector.

use crate::random::Random;

const KEYS: [&str; 6] = ["a/x", "a/y", "b/x", "b/z", "c/x", "d/w"];

/// What a list may be answered; a watch and a streaming list as well.
const REFUSALS: [&str; 5] = ["429", "500", "503", "403", "refused"];
/// What says no to the version of a list.
const VERSIONS: [&str; 4] = ["410", "gone", "large", "large-old"];
/// What a watch may be answered such that both sides do the same next.
const ALIKE: [&str; 9] = [
    "410",
    "gone",
    "large",
    "large-old",
    "429",
    "500",
    "403",
    "404",
    "refused",
];

/// Makes a script. A precise one says each wait, so it stays where both wait by the same rule: ever longer, for less than two minutes in
/// all, and after the same failures.
pub(super) struct Generator<'a> {
    random: &'a mut Random,
    precise: bool,
    spread: bool,
    streams: bool,
    nostream: bool,
    internal: bool,
    /// Failures that are left to a script whose waits are said.
    failures: usize,
}

impl<'a> Generator<'a> {
    pub(super) fn new(random: &'a mut Random) -> Self {
        let how = random.weighted(&[(4, "precise"), (2, "spread"), (5, "")]);
        let streams = random.once_in(2);
        Self {
            precise: how == "precise",
            spread: how == "spread",
            streams,
            nostream: streams && random.once_in(3),
            internal: how.is_empty() && random.once_in(4),
            failures: 6,
            random,
        }
    }

    pub(super) fn ops(mut self) -> Vec<String> {
        let mut ops = Vec::new();
        for _ in 0..self.random.below(4) {
            ops.push(self.change());
        }
        ops.push(self.start());
        for _ in 0..self.random.below(14) + 3 {
            self.some(&mut ops);
        }
        ops
    }

    fn start(&mut self) -> String {
        let mut words = vec!["start".to_owned()];
        for (is, word) in [
            (self.precise, "precise"),
            (self.spread, "spread"),
            (self.streams, "stream"),
            (self.nostream, "nostream"),
            (self.random.once_in(2), "cache"),
        ] {
            words.extend(is.then(|| word.to_owned()));
        }
        if self.random.once_in(3) {
            words.push(format!("page={}", self.random.below(3) + 1));
        }
        if self.internal {
            words.push("internal=3600000".to_owned());
        }
        words.extend(self.relisted());
        words.join(" ")
    }

    fn change(&mut self) -> String {
        let key = self.random.word(&KEYS);
        match self
            .random
            .weighted(&[(4, "create"), (4, "modify"), (2, "delete"), (2, "bookmark")])
        {
            "bookmark" => "bookmark".to_owned(),
            verb => format!("{verb} {key}"),
        }
    }

    fn some(&mut self, ops: &mut Vec<String>) {
        let weights = [
            (6, "change"),
            (1, "lose"),
            (2, "wait"),
            (3, "end"),
            (4, "error"),
            (if self.tells_waits() { 0 } else { 4 }, "shaky"),
        ];
        match self.random.weighted(&weights) {
            "change" => ops.push(self.change()),
            "lose" => {
                ops.push(format!("lose {}", self.change()));
                for _ in 0..self.random.below(3) {
                    ops.push(self.change());
                }
                // Old enough not to count as very short.
                ops.push(format!("wait {}", 1_000 + self.random.below(3_000)));
                ops.push(self.rewatched("end"));
            }
            "wait" => ops.push(format!("wait {}", self.random.below(5_000))),
            "end" => {
                // One that has brought nothing is worth a look of its own.
                ops.push(self.change());
                let how = if self.random.once_in(2) { "end" } else { "cut" };
                ops.push(self.rewatched(how));
            }
            "error" => {
                let error = self.random.word(&["410", "gone", "429", "500"]);
                let error = if self.internal && error == "500" {
                    "410"
                } else {
                    error
                };
                if self.fails() {
                    let op = format!("error {error}");
                    ops.push(if error == "429" {
                        self.rewatched(&op)
                    } else {
                        self.with_relist(&op)
                    });
                }
            }
            _ => self.shaky(ops),
        }
    }

    /// What ours answers by another watch, and client-go by a list.
    fn shaky(&mut self, ops: &mut Vec<String>) {
        let op = match self.random.below(6) {
            0 => self.random.word(&["end", "cut"]).to_owned(),
            1 => "error 503".to_owned(),
            2 if self.internal => {
                ops.push(self.change());
                self.random
                    .word(&["error 500", "end watch=500", "end watch=e500"])
                    .to_owned()
            }
            _ => {
                ops.push(self.change());
                let answers = ["503", "401", "short", "e503", "eof", "timeout", "429-3"];
                let first = self.random.word(&answers);
                let is_retried_beneath = matches!(first, "eof" | "timeout" | "429-3");
                let mut op = format!("end watch={first}");
                // Where both ask for a streaming list instead, what waits for the watch is not asked for.
                if !self.streams && !is_retried_beneath && self.random.once_in(2) {
                    for _ in 0..self.random.below(5) {
                        let answer = self.random.word(&["503", "401", "short", "e503"]);
                        op = format!("{op},{answer}");
                    }
                }
                op
            }
        };
        ops.push(op);
        // client-go counts the age of a watch from before its REST client asked again.
        ops.push(self.change());
    }

    /// The watch is asked for again, and then perhaps the whole state.
    fn rewatched(&mut self, op: &str) -> String {
        if !self.random.once_in(2) || !self.fails() {
            return op.to_owned();
        }
        let answer = self.random.word(&ALIKE);
        let answer = if self.internal && answer == "500" {
            "403"
        } else {
            answer
        };
        let op = format!("{op} watch={answer}");
        if matches!(answer, "429" | "refused") {
            return op;
        }
        self.with_relist(&op)
    }

    fn with_relist(&mut self, op: &str) -> String {
        let mut words = vec![op.to_owned()];
        words.extend(self.relisted());
        words.join(" ")
    }

    /// How the whole state is refused, or not.
    fn relisted(&mut self) -> Vec<String> {
        let mut words = Vec::new();
        if self.streams && !self.nostream && self.random.once_in(2) {
            words.push(format!("stream={}", self.streamed()));
        }
        if self.random.once_in(2) {
            let n = self.random.below(3) + 1;
            let answers: Vec<&str> = (0..n).map(|_| self.listed()).collect();
            words.push(format!("list={}", answers.join(",")));
        }
        words
    }

    fn listed(&mut self) -> &'static str {
        match self.random.below(8) {
            0..=2 => self.random.word(&VERSIONS),
            3 | 4 if self.fails() => self.random.word(&REFUSALS),
            5 if self.fails() => self.random.word(&["401", "404", "timeout"]),
            // client-go's REST client asks again by itself, whatever the reflector would do next.
            6 if !self.tells_waits() && (!self.streams || self.nostream) => {
                self.random.word(&["429-2", "eof"])
            }
            _ => "ok",
        }
    }

    fn streamed(&mut self) -> &'static str {
        match self.random.below(8) {
            0 | 1 => self.random.word(&VERSIONS),
            2 => "e410",
            3 => "cut",
            4 if self.fails() => self.random.word(&["429", "e429", "refused"]),
            5 | 6 => self.random.word(&["403", "401", "404", "500", "503", "e500"]),
            _ => "ok",
        }
    }

    fn tells_waits(&self) -> bool {
        self.precise || self.spread
    }

    /// Whether another failure may follow.
    fn fails(&mut self) -> bool {
        if self.tells_waits() {
            let left = self.failures > 0;
            self.failures = self.failures.saturating_sub(1);
            return left;
        }
        true
    }
}
