//! How the suites run their checks.

use std::{
    any::Any,
    future::{Future, poll_fn},
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::Poll,
};

use super::{Finding, Report};
use crate::Rng;

/// `Err` says what was seen instead of what the rule says.
pub(super) type Outcome<T = ()> = Result<T, String>;

/// Returns from a check with what was seen, unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($seen:tt)+) => {
        if !$condition {
            return Err(format!($($seen)+));
        }
    };
}

/// Checks named as their functions. `directed` ones run once, `random` ones once for each seed.
macro_rules! checks {
    ($($kind:ident $check:ident: $rule:literal;)+) => {
        vec![$($crate::conformance::check::Check {
            name: stringify!($check),
            rule: $rule,
            run: $crate::conformance::check::$kind($check),
        }),+]
    };
}

/// The same for checks that are async.
macro_rules! async_checks {
    ($($kind:ident $check:ident: $rule:literal;)+) => {
        vec![$($crate::conformance::check::Check {
            name: stringify!($check),
            rule: $rule,
            run: async_checks!(@$kind $check),
        }),+]
    };
    (@directed $check:ident) => {
        $crate::conformance::check::asynchronous(false, |rig, _| Box::pin($check(rig)))
    };
    (@random $check:ident) => {
        $crate::conformance::check::asynchronous(true, |rig, rng| Box::pin($check(rig, rng)))
    };
}

/// The methods that every suite has.
macro_rules! scoped {
    () => {
        /// Runs the random checks with these seeds instead of the first 32.
        #[must_use]
        pub fn seeds(mut self, seeds: std::ops::Range<u64>) -> Self {
            self.scope.seeds = seeds;
            self
        }

        /// Runs the check of this name alone: to look into a finding.
        #[must_use]
        pub fn only(mut self, check: &str) -> Self {
            self.scope.only = Some(check.to_owned());
            self
        }
    };
}

/// A suite shows its subject; what it makes its subjects by cannot be shown.
macro_rules! shown {
    ([$($parameters:tt)*] $suite:ty) => {
        impl<$($parameters)*> std::fmt::Debug for $suite {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct("Suite")
                    .field("subject", &self.subject)
                    .finish_non_exhaustive()
            }
        }
    };
}

/// The methods that every suite of checks that wait has; the name is that of the contract.
macro_rules! runs_async {
    ($contract:literal) => {
        $crate::conformance::check::scoped!();

        /// Runs the checks, in the runtime that the subject needs, if it needs one.
        ///
        /// # Cancel safety
        /// Dropping it ends the run; what was found so far is lost.
        pub async fn run(&self) -> $crate::conformance::Report {
            let mut report = $crate::conformance::Report::new(&self.subject, $contract);
            $crate::conformance::check::run_async(&mut report, &self.rig, all(), &self.scope).await;
            report
        }
    };
}

/// The methods that every suite of plain checks has; the name is that of the contract.
macro_rules! runs {
    ($contract:literal) => {
        $crate::conformance::check::scoped!();

        /// Runs the checks.
        pub fn run(&self) -> $crate::conformance::Report {
            let mut report = $crate::conformance::Report::new(&self.subject, $contract);
            $crate::conformance::check::run(&mut report, &self.rig, all(), &self.scope);
            report
        }
    };
}

pub(super) use {async_checks, checks, ensure, runs, runs_async, scoped, shown};

pub(super) struct Check<Run> {
    pub(super) name: &'static str,
    pub(super) rule: &'static str,
    pub(super) run: Run,
}

pub(super) enum Plain<R: ?Sized> {
    Directed(fn(&R) -> Outcome),
    Random(fn(&R, &mut Rng) -> Outcome),
}

pub(super) fn directed<R: ?Sized>(check: fn(&R) -> Outcome) -> Plain<R> {
    Plain::Directed(check)
}

pub(super) fn random<R: ?Sized>(check: fn(&R, &mut Rng) -> Outcome) -> Plain<R> {
    Plain::Random(check)
}

type Running<'a> = Pin<Box<dyn Future<Output = Outcome> + 'a>>;
type Start<R> = Box<dyn for<'a> Fn(&'a R, Rng) -> Running<'a>>;

pub(super) struct Awaited<R> {
    random: bool,
    check: Start<R>,
}

pub(super) fn asynchronous<R>(
    random: bool,
    check: impl for<'a> Fn(&'a R, Rng) -> Running<'a> + 'static,
) -> Awaited<R> {
    Awaited {
        random,
        check: Box::new(check),
    }
}

/// Which checks run, and with which seeds.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    pub(super) seeds: Range<u64>,
    pub(super) only: Option<String>,
}

impl Default for Scope {
    fn default() -> Self {
        Self {
            seeds: 0..32,
            only: None,
        }
    }
}

impl Scope {
    fn wants(&self, name: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == name)
    }

    fn seeds_of(&self, random: bool) -> Range<u64> {
        if random { self.seeds.clone() } else { 0..1 }
    }
}

/// Runs the checks in their order, each until its first finding. A panic is a finding.
pub(super) fn run<R>(report: &mut Report, rig: &R, checks: Vec<Check<Plain<R>>>, scope: &Scope) {
    for check in checks.into_iter().filter(|check| scope.wants(check.name)) {
        report.checked(check.name, check.rule);
        let random = matches!(check.run, Plain::Random(_));
        for seed in scope.seeds_of(random) {
            let outcome = catch_unwind(AssertUnwindSafe(|| match check.run {
                Plain::Directed(run) => run(rig),
                Plain::Random(run) => run(rig, &mut Rng::new(seed)),
            }));
            if !note(report, &check, outcome, random.then_some(seed)) {
                break;
            }
        }
    }
}

/// The same for checks that are async.
pub(super) async fn run_async<R>(
    report: &mut Report,
    rig: &R,
    checks: Vec<Check<Awaited<R>>>,
    scope: &Scope,
) {
    for check in checks.into_iter().filter(|check| scope.wants(check.name)) {
        report.checked(check.name, check.rule);
        for seed in scope.seeds_of(check.run.random) {
            let mut running = (check.run.check)(rig, Rng::new(seed));
            let outcome = poll_fn(
                |cx| match catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(cx))) {
                    Ok(Poll::Pending) => Poll::Pending,
                    Ok(Poll::Ready(outcome)) => Poll::Ready(Ok(outcome)),
                    Err(panic) => Poll::Ready(Err(panic)),
                },
            )
            .await;
            if !note(report, &check, outcome, check.run.random.then_some(seed)) {
                break;
            }
        }
    }
}

/// Whether the check goes on.
fn note<Run>(
    report: &mut Report,
    check: &Check<Run>,
    outcome: Result<Outcome, Box<dyn Any + Send>>,
    seed: Option<u64>,
) -> bool {
    let detail = match outcome {
        Ok(Ok(())) => return true,
        Ok(Err(seen)) => seen,
        Err(panic) => format!("it panicked: {}", message(&*panic)),
    };
    report.found(Finding {
        check: check.name,
        rule: check.rule,
        detail,
        seed,
    });
    false
}

/// What a panic said.
pub(super) fn message(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else {
        panic
            .downcast_ref::<String>()
            .map_or("a payload that is no text", |text| text)
    }
}
