//! The pump with its one handler, against client-go's controller (`NewIndexerInformer`), over the same source.
//!
//! The operations are explained in `tests/reference/oracle/common/pump.go`.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use informer_core::{BoxFuture, Change, ObjectKey};
use informer_sharedinformer::{Ended, PumpHandle};
use informer_store::Reader;
use tokio::task::JoinHandle;

use super::{
    bench::{begin, line_of, pass, paused, play_source, setting},
    generate::Generator,
    lines::in_order,
    source::Source,
    translate::Told,
};
use crate::{
    difference::Differences,
    object::{By, Thing},
    oracle::Version,
    random::Random,
    sequence::{Op, Step},
    suites::Suite,
    view::View,
};

/// See the module.
#[derive(Debug)]
pub(in crate::suites) struct Pump(pub(in crate::suites) Version);

impl Suite for Pump {
    fn name(&self) -> &'static str {
        match self.0 {
            Version::Old => "pump-old",
            _ => "pump",
        }
    }

    fn version(&self) -> Version {
        self.0
    }

    fn share(&self) -> u64 {
        2
    }

    fn generate(&self, random: &mut Random) -> Vec<String> {
        Generator::new(random).of_one_handler().ops()
    }

    fn ours(&self, ops: &[String]) -> Vec<Step> {
        paused(async {
            let mut ours = Ours::new(self.0, ops);
            let mut view = View::default();
            let mut steps = Vec::with_capacity(ops.len());
            for op in ops {
                let mut said = Vec::new();
                ours.play(Op::read(op), &mut said).await;
                ours.look(&mut view);
                steps.push(Step {
                    said,
                    seen: view.changes(),
                });
            }
            ours.end().await;
            steps
        })
    }

    fn translate(&self, ops: &[String], answer: &[Step], met: &mut Differences) -> Vec<Step> {
        let resyncs = setting(ops, "new").is_some();
        let mut told = Told::new(resyncs, self.0 == Version::Old);
        answer.iter().map(|step| told.translate(step, met)).collect()
    }
}

struct Ours {
    version: Version,
    source: Source,
    handle: PumpHandle<ObjectKey, Thing>,
    reader: Reader<ObjectKey, Thing>,
    run: Option<BoxFuture<'static, Ended>>,
    running: Option<JoinHandle<Ended>>,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Ours {
    fn new(version: Version, ops: &[String]) -> Self {
        let source = Source::default();
        let (builder, reader) = begin(version, ops, &source);
        let lines = Arc::new(Mutex::new(Vec::new()));
        let told = lines.clone();
        let handler = move |change: &Change<ObjectKey, Thing>| {
            told.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(line_of(change));
        };
        let pump = builder.build_pump(handler).expect("the parts fit");
        Self {
            version,
            source,
            handle: pump.handle(),
            reader,
            run: Some(Box::pin(pump.run())),
            running: None,
            lines,
        }
    }

    async fn play(&mut self, op: Op<'_>, said: &mut Vec<String>) {
        match op.verb {
            "new" => {}
            "start" => self.start(),
            "stop" => self.end().await,
            "index" => {
                if self.reader.add_index(op.arg(), By::name(op.arg())).is_err() {
                    said.push(format!("there is an index {}", op.arg()));
                }
            }
            _ => play_source(&self.source, op).await,
        }
        pass(Duration::from_millis(1)).await;
        let lines = mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner));
        let lines = in_order(lines, self.version == Version::Old);
        said.extend(lines.iter().map(|line| format!("h1 {line}")));
    }

    #[expect(clippy::disallowed_methods, reason = "`end` waits for the task")]
    fn start(&mut self) {
        if let Some(run) = self.run.take() {
            self.running = Some(tokio::spawn(run));
        }
    }

    async fn end(&mut self) {
        if let Some(running) = self.running.take() {
            self.handle.stop();
            running.await.expect("the run does not panic");
        }
    }

    fn look(&self, view: &mut View) {
        if self.handle.has_synced() {
            view.put("synced", "yes");
        }
        view.put_store(&self.reader.view());
        if self.version != Version::Atomic {
            // client-go tells it with atomic events only.
            view.forget("applied");
        }
    }
}
