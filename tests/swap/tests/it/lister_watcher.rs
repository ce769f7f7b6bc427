//! A foreign `ListerWatcher`: no API server, no HTTP, feeds of its own.

use std::convert::Infallible;

use informer_core::{
    Cause, Classify, Decoded, FailureClass, Feed, ListRequest, Listed, ListerWatcher, WatchRequest, Watched,
};
use informer_sharedinformer::SharedInformer;
use informer_swap_tests::{Lamp, Memory, News, Program, play};
use tokio::sync::{Mutex, mpsc::UnboundedReceiver};

/// Lists the lamps of a world, and watches from its last list.
struct Eyes {
    world: Memory,
    /// The news since the last list.
    news: Mutex<Option<UnboundedReceiver<News>>>,
}

#[derive(Debug)]
struct Blind;

impl std::fmt::Display for Blind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("nothing was listed to watch from")
    }
}

impl std::error::Error for Blind {}

impl Classify for Blind {
    fn class(&self) -> FailureClass {
        FailureClass::Expired
    }
}

struct AList(std::vec::IntoIter<Listed<Lamp>>);

impl Feed for AList {
    type Event = Listed<Lamp>;
    type Error = Blind;

    async fn next(&mut self) -> Option<Result<Listed<Lamp>, Blind>> {
        self.0.next().map(Ok)
    }
}

struct AWatch(UnboundedReceiver<News>);

impl Feed for AWatch {
    type Event = Watched<Lamp>;
    type Error = Blind;

    async fn next(&mut self) -> Option<Result<Watched<Lamp>, Blind>> {
        Some(Ok(match self.0.recv().await? {
            News::Set(lamp) => Watched::Upsert(Cause::Modified, Ok(lamp)),
            News::Removed(lamp) => Watched::Delete(Ok(lamp)),
        }))
    }
}

impl ListerWatcher for Eyes {
    type Object = Lamp;
    type Error = Blind;
    type List = AList;
    type Watch = AWatch;

    async fn list(&self, _: ListRequest) -> Result<AList, Blind> {
        let (lamps, version, news) = self.world.listen();
        *self.news.lock().await = Some(news);
        let end = Listed::End {
            at: (&*version.to_string()).into(),
            token: None,
        };
        let items = lamps
            .into_iter()
            .map(|lamp: Decoded<Lamp>| Listed::Item(Ok(lamp)));
        Ok(AList(items.chain([end]).collect::<Vec<_>>().into_iter()))
    }

    async fn watch(&self, request: WatchRequest) -> Result<AWatch, Blind> {
        let news = self.news.lock().await.take().filter(|_| !request.initial_events);
        news.map(AWatch).ok_or(Blind)
    }
}

#[tokio::test(start_paused = true)]
async fn a_map_in_memory_is_the_source_of_objects() -> Result<(), Infallible> {
    let world = Memory::default();
    let eyes = Eyes {
        world: world.clone(),
        news: Mutex::new(None),
    };
    let informer = SharedInformer::builder(eyes).build().unwrap();
    play(&world, Program::new(informer, crate::name)).await;
    Ok(())
}
