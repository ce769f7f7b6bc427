//! The reflector as its users see it.

use std::{any::type_name, fmt, future::Future, panic::Location, sync::Arc};

use informer_core::{Clock, DeltaSink, KeyFunc, ListerWatcher};
use tracing::Instrument;

use crate::{
    Control, Metrics, Options, ReflectorError, StatusReader, Transform, driver::Driver, hooks::Hooks,
    ingest::Ingest, life::Life, metrics::Meter,
};

/// Keeps a sink in step with a source (client-go `Reflector`). See the crate documentation for the contract.
///
/// Build it, take a [`StatusReader`] if you want one, and give [`run`](Self::run) to whatever runs your futures.
pub struct Reflector<L: ListerWatcher, F, S, C: Clock> {
    source: L,
    key: F,
    sink: S,
    clock: C,
    options: Options,
    control: Control,
    transform: Option<Arc<dyn Transform<L::Object>>>,
    hooks: Hooks,
    life: Life<C>,
}

impl<L: ListerWatcher, F, S, C: Clock> fmt::Debug for Reflector<L, F, S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reflector")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl<L, F, S, C> Reflector<L, F, S, C>
where
    L: ListerWatcher,
    F: KeyFunc<L::Object>,
    S: DeltaSink<F::Key, L::Object>,
    C: Clock,
{
    /// A reflector from `source` to `sink` that names objects by `key`. Where the options name neither it nor the kind of objects, it is
    /// called after the place of this call, and the objects after their type.
    #[track_caller]
    pub fn new(source: L, key: F, sink: S, clock: C, mut options: Options) -> Self {
        if options.name.is_empty() {
            let place = Location::caller();
            options.name = format!("{}:{}", place.file(), place.line()).into();
        }
        if options.type_description.is_empty() {
            options.type_description = type_name::<L::Object>().into();
        }
        let life = Life::new(&options, clock.clone());
        Self {
            source,
            key,
            sink,
            clock,
            options,
            control: Control::default(),
            transform: None,
            hooks: Hooks::default(),
            life,
        }
    }

    /// Runs `transform` on each object before it goes on.
    #[must_use]
    pub fn transform(mut self, transform: Arc<dyn Transform<L::Object>>) -> Self {
        self.transform = Some(transform);
        self
    }

    /// Calls `hook` for each error, beside those that were given before. It is called on the reflector's own task, so it should be quick; if
    /// it panics, that is logged and the reflector goes on.
    #[must_use]
    pub fn on_error(mut self, hook: impl Fn(&ReflectorError) + Send + Sync + 'static) -> Self {
        self.hooks.on_error(hook);
        self
    }

    /// Asks `hook` whether a resync that is due is wanted (client-go `Reflector.ShouldResync`); without one it always is. Whatever it says,
    /// the time to the next counts from here. If it panics, the resync has failed.
    #[must_use]
    pub fn should_resync(mut self, hook: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.hooks.should_resync(hook);
        self
    }

    /// Tells `metrics` the numbers.
    #[must_use]
    pub fn metrics(mut self, metrics: Arc<dyn Metrics>) -> Self {
        self.hooks.meter = Some(Meter::new(metrics));
        self
    }

    /// Reads how it does, from now until after its end.
    #[must_use]
    pub fn status(&self) -> StatusReader {
        self.life.reader()
    }

    /// Tells it what to do, from now until its end.
    #[must_use]
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// Lists and watches until the sink is closed. No error ends it.
    ///
    /// # Cancel safety
    /// Dropping the future stops it at once, in whatever phase: requests are dropped, nothing is pushed any more, the status turns to
    /// [`Phase::Stopped`](crate::Phase::Stopped). It cannot be resumed; a new reflector lists anew.
    pub fn run(self) -> impl Future<Output = ()> + Send
    where
        F: Send,
    {
        let span = tracing::info_span!("reflector", name = %self.options.name);
        // Built when it is first polled, so that its waits count from there.
        let run = async move {
            let ingest = Ingest::new(self.key, self.transform);
            let driver = Driver::new(
                self.source,
                ingest,
                self.sink,
                self.clock,
                self.options,
                self.control,
                self.hooks,
                self.life,
            );
            driver.run().await;
        };
        run.instrument(span)
    }
}
