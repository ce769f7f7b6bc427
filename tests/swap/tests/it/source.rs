//! A source that is no reflector: it pushes deltas itself.

use std::{future::poll_fn, sync::Arc};

use informer_core::{Cause, Decoded, Delta, DeltaSink, Entry, KeyFunc, NamespaceName, ObjectKey};
use informer_sharedinformer::{SharedInformer, Sink};
use informer_swap_tests::{Lamp, Memory, News, Program, play};

fn entry(lamp: Decoded<Lamp>) -> Entry<ObjectKey, Lamp> {
    let key = NamespaceName.key(&lamp.identity, &lamp.object).unwrap();
    Entry::new(key, lamp.identity.stamp, Arc::new(lamp.object))
}

/// Tells all lamps, then the news, and begins again when the news end.
async fn tell(world: Memory, mut sink: Sink<ObjectKey, Lamp>) {
    loop {
        let (lamps, version, mut news) = world.listen();
        sink.push(Delta::Replace {
            items: lamps.into_iter().map(entry).collect(),
            unreadable: Vec::new(),
            at: (&*version.to_string()).into(),
            may_rewind: false,
        });
        while let Some(news) = news.recv().await {
            if poll_fn(|cx| sink.poll_ready(cx)).await.is_err() {
                return;
            }
            sink.push(match news {
                News::Set(lamp) => Delta::Upsert(entry(lamp), Cause::Modified),
                News::Removed(lamp) => {
                    let entry = entry(lamp);
                    Delta::Delete {
                        key: entry.key,
                        stamp: entry.stamp,
                        last: Some(entry.object),
                        observed: true,
                    }
                }
            });
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_loop_over_a_channel_is_the_source() {
    let world = Memory::default();
    let told = world.clone();
    let informer = SharedInformer::fed_by(move |sink| tell(told, sink))
        .build()
        .unwrap();
    play(&world, Program::new(informer, crate::name)).await;
}
