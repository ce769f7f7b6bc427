//! Random scripts for a candidate.

use crate::random::Random;

/// Makes scripts in which no moment that chance decides is decisive: waits are either shorter than what it takes to lose or take a lease,
/// together, or longer than all of it.
pub(super) struct Generator<'a> {
    random: &'a mut Random,
    ops: Vec<String>,
    release: bool,
    running: bool,
    leads: bool,
    /// Nobody else holds the lease.
    is_free: bool,
}

impl<'a> Generator<'a> {
    pub(super) fn new(random: &'a mut Random) -> Self {
        let release = random.once_in(2);
        Self {
            random,
            ops: Vec::new(),
            release,
            running: false,
            leads: false,
            is_free: true,
        }
    }

    pub(super) fn ops(mut self) -> Vec<String> {
        if self.random.once_in(2) {
            self.take("o1");
        }
        for _ in 0..self.random.below(8) + 2 {
            if self.running && self.leads {
                self.leading();
            } else if self.running {
                self.waiting();
            } else {
                self.running = true;
                let how = if self.release { "start release" } else { "start" };
                self.ops.push(how.to_owned());
                self.short();
                self.leads = self.is_free;
            }
        }
        self.ops
    }

    fn take(&mut self, who: &str) {
        self.ops.push(format!("take {who}"));
        self.is_free = false;
    }

    /// So long that whoever runs leads.
    fn acquire(&mut self) {
        self.long();
        self.leads = true;
        self.is_free = true;
    }

    /// As a candidate that does not lead.
    fn waiting(&mut self) {
        match self.random.below(6) {
            0 => {
                self.take("o2");
                self.short();
                self.ops.push("renew".to_owned());
                self.short();
            }
            1 => {
                self.take("o1");
                self.short();
                self.ops.push("free".to_owned());
                // Long enough to acquire it, and to renew it once more.
                let time = 7_000 + self.random.below(1_000);
                self.ops.push(format!("wait {time}"));
                self.leads = true;
                self.is_free = true;
            }
            2 if !self.release => {
                let calls = self
                    .random
                    .word(&["get", "create", "update", "get create update"]);
                self.take("o3");
                self.ops.push(format!("fail {calls}"));
                self.short();
                self.ops.push("heal".to_owned());
                self.acquire();
            }
            3 => {
                self.take("o3");
                self.ops.push("stop".to_owned());
                self.running = false;
            }
            _ => self.acquire(),
        }
    }

    fn leading(&mut self) {
        match self.random.below(8) {
            0 => {
                self.ops.push("stop".to_owned());
                self.ends();
            }
            1 | 2 => {
                let who = self.random.word(&["o1", "o2"]);
                self.take(who);
                self.long();
                self.ends();
            }
            3 if !self.release => {
                self.ops.push("fail get create update".to_owned());
                self.long();
                self.ends();
                self.ops.push("heal".to_owned());
            }
            4 if !self.release => {
                let calls = self.random.word(&["get update", "update", "get"]);
                self.ops.push(format!("fail {calls}"));
                self.short();
                self.ops.push("heal".to_owned());
                self.short();
            }
            5 | 6 => {
                let answer = self.random.word(&["conflict", "fail", "unheard"]);
                self.ops.push(format!("once update={answer}"));
                self.short();
            }
            _ => self.short(),
        }
    }

    fn ends(&mut self) {
        self.running = false;
        self.leads = false;
    }

    /// Longer than the longest time between two attempts.
    fn short(&mut self) {
        let time = 4_500 + self.random.below(1_000);
        self.ops.push(format!("wait {time}"));
    }

    /// Longer than a lease and all attempts around it.
    fn long(&mut self) {
        let time = 30_000 + self.random.below(5_000);
        self.ops.push(format!("wait {time}"));
    }
}
