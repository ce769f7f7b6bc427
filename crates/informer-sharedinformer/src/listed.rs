//! The usual source: a lister and watcher behind a reflector.

use std::{fmt, sync::Arc};

use informer_core::{Key, KeyFunc, ListerWatcher};
use informer_reflector::{Options, Phase, Reflector, ReflectorError, StatusReader, Transform};

use crate::{
    error::Trouble,
    source::{Connected, Sink, Source, SourceContext},
    status::SourceStatus,
};

/// A lister and watcher whose objects are named by `F`: what [`SharedInformer::builder`](crate::SharedInformer::builder) begins with.
pub struct Listed<L: ListerWatcher, F> {
    source: L,
    key: F,
    pub(crate) transform: Option<Arc<dyn Transform<L::Object>>>,
    pub(crate) options: Options,
}

impl<L: ListerWatcher, F> Listed<L, F> {
    pub(crate) fn new(source: L, key: F) -> Self {
        Self {
            source,
            key,
            transform: None,
            options: Options::default(),
        }
    }

    pub(crate) fn keyed<F2>(self, key: F2) -> Listed<L, F2> {
        Listed {
            source: self.source,
            key,
            transform: self.transform,
            options: self.options,
        }
    }
}

impl<L, F> Source<F::Key, L::Object> for Listed<L, F>
where
    L: ListerWatcher + 'static,
    F: KeyFunc<L::Object> + 'static,
    F::Key: Key,
{
    fn connect(self, sink: Sink<F::Key, L::Object>, context: SourceContext) -> Connected {
        let mut options = self.options;
        options.name = context.name.clone();
        let mut reflector = Reflector::new(self.source, self.key, sink, context.clock.clone(), options);
        if let Some(transform) = self.transform {
            reflector = reflector.transform(transform);
        }
        if let Some(metrics) = context.metrics.clone() {
            reflector = reflector.metrics(metrics);
        }
        let reflector = reflector.on_error(move |error: &ReflectorError| {
            context.report(Trouble::Source {
                class: error.class(),
                error: error.to_string().into(),
            });
        });
        let (status, control) = (reflector.status(), reflector.control());
        Connected::new(reflector.run())
            .with_status(move || summary(&status))
            .with_relist(move || control.relist())
    }
}

fn summary(reader: &StatusReader) -> SourceStatus {
    let status = reader.get();
    // An error that was made good is history.
    let error = status.last_error.as_ref().filter(|_| status.failures > 0);
    SourceStatus {
        phase: Some(word(status.phase).into()),
        class: error.and_then(|error| error.problem.class()),
        error: error.map(|error| error.message.clone()),
        reflector: Some(status),
    }
}

fn word(phase: Phase) -> &'static str {
    match phase {
        Phase::Starting => "not started",
        Phase::Listing | Phase::Streaming => "listing",
        Phase::Watching => "watching",
        Phase::BackingOff => "waiting to try again",
        Phase::Stopped => "stopped",
        _ => "busy",
    }
}

impl<L: ListerWatcher, F> fmt::Debug for Listed<L, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listed")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
