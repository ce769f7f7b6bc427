//! Text scripts for the machine: inputs, `----`, and what it is to do.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use informer_core::{Clock, TokioClock};
use informer_manager::{
    Group,
    machine::{Action, Grace, Id, Input, Late, Machine, Options},
};

/// Runs a script and returns it with what the machine really did.
pub(crate) fn run(script: &str) -> String {
    let mut world = World::new();
    let blocks: Vec<String> = script
        .trim_end()
        .split("\n\n")
        .map(|block| world.block(block))
        .collect();
    blocks.join("\n\n") + "\n"
}

struct World {
    start: Instant,
    now: Instant,
    options: Options,
    machine: Option<Machine>,
    names: Vec<(String, Id)>,
}

impl World {
    fn new() -> Self {
        let start = TokioClock.now();
        Self {
            start,
            now: start,
            options: Options::default(),
            machine: None,
            names: Vec::new(),
        }
    }

    fn block(&mut self, block: &str) -> String {
        let (inputs, _) = block.split_once("----").unwrap_or((block, ""));
        let mut told = String::new();
        for line in inputs.lines().filter(|line| !line.starts_with('#')) {
            self.input(line, &mut told);
            self.drain(&mut told);
        }
        let mut text = inputs.to_owned();
        if block.contains("----") {
            writeln!(text, "----").unwrap();
            text.push_str(&told);
        } else {
            assert_eq!(told, "", "this does something: {block}");
        }
        text.trim_end().to_owned()
    }

    fn machine(&mut self) -> &mut Machine {
        let options = self.options;
        self.machine.get_or_insert_with(|| Machine::new(options))
    }

    fn input(&mut self, line: &str, told: &mut String) {
        let words: Vec<_> = line.split_whitespace().collect();
        let now = self.now;
        let input = match *words.as_slice() {
            ["election"] => return self.options.election = true,
            ["grace", "forever"] => return self.options.grace = Grace::Forever,
            ["grace", grace] => return self.options.grace = Grace::For(seconds(grace)),
            ["ready-within", "ever"] => return self.options.ready_within = None,
            ["ready-within", limit] => return self.options.ready_within = Some(seconds(limit)),
            ["late", "fail"] => return self.options.late = Late::Fail,
            ["add", group, name] => return self.add(group, name, told),
            ["remove", name] => {
                let id = self.id(name);
                return self.machine().remove(now, id);
            }
            ["after", time] => {
                self.now += seconds(time);
                let now = self.now;
                return self.machine().handle_timeout(now);
            }
            ["timeout"] => return self.timeout(told),
            ["start"] => Input::Start,
            ["stop"] => Input::Stop,
            ["force"] => Input::Force,
            ["elected"] => Input::Elected,
            ["lost"] => Input::Lost,
            ["candidate", "ended"] => Input::ElectionEnded { failed: false },
            ["candidate", "failed"] => Input::ElectionEnded { failed: true },
            ["ready", name] => Input::Ready(self.id(name)),
            ["ended", name] => Input::Ended {
                id: self.id(name),
                failed: false,
            },
            ["failed", name] => Input::Ended {
                id: self.id(name),
                failed: true,
            },
            _ => panic!("no such input: {line}"),
        };
        self.machine().handle_input(now, input);
    }

    fn add(&mut self, group: &str, name: &str, told: &mut String) {
        let group = Group::START.into_iter().find(|it| it.as_str() == group).unwrap();
        match self.machine().add(group) {
            Ok(id) => self.names.push((name.to_owned(), id)),
            Err(_) => writeln!(told, "{name} refused").unwrap(),
        }
    }

    fn timeout(&mut self, told: &mut String) {
        let at = self.machine().poll_timeout().expect("nothing is waited for");
        writeln!(told, "(at {:?})", at - self.start).unwrap();
        self.now = at;
        self.machine().handle_timeout(at);
    }

    fn drain(&mut self, told: &mut String) {
        let Some(mut machine) = self.machine.take() else {
            return;
        };
        while let Some(action) = machine.poll_action() {
            let line = match action {
                Action::Launch(id) => format!("launch {}", self.name(id)),
                Action::Stop(id) => format!("stop {}", self.name(id)),
                Action::Cut(id) => format!("cut {}", self.name(id)),
                Action::Late(id) => format!("late {}", self.name(id)),
                Action::Stopping(reason) => format!("stopping: {reason:?}"),
                Action::Finish => {
                    for cut in machine.cut().to_vec() {
                        let (asked, stuck) = (cut.asked, cut.stuck);
                        writeln!(
                            told,
                            "unfinished {}, asked {asked}, stuck {stuck}",
                            self.name(cut.id)
                        )
                        .unwrap();
                    }
                    format!("finish, {:?} after {:?}", machine.reason(), self.now - self.start)
                }
                other => format!("{other:?}").to_lowercase(),
            };
            writeln!(told, "{line}").unwrap();
        }
        self.machine = Some(machine);
    }

    fn name(&self, id: Id) -> &str {
        &self.names.iter().find(|(_, it)| *it == id).unwrap().0
    }

    fn id(&self, name: &str) -> Id {
        let mut names = self.names.iter().rev();
        names
            .find(|(it, _)| it == name)
            .unwrap_or_else(|| panic!("no {name}"))
            .1
    }
}

fn seconds(text: &str) -> Duration {
    Duration::from_secs_f64(text.trim_end_matches('s').parse().unwrap())
}
