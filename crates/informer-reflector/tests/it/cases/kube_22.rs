//! kube-rs case B22: who read while a cache was being filled anew read half of it.

use std::time::Duration;

use informer_core::{Clock, Listed, SourceError, WatchRequest, Watched};
use informer_reflector::{ListWatch, Start, feed};

use crate::rig::{Rig, error, object};

/// A relist of a hundred objects in ten pages, a second each: nothing of it is handed over before the whole.
#[test]
fn kube_22_a_relist_is_handed_over_as_a_whole() {
    let mut rig = Rig::new();
    rig.options.start = Start::List;
    rig.options.page_size = Some(10);
    let clock = rig.clock.clone();
    let source = ListWatch::new(
        move |request: informer_core::ListRequest| {
            let clock = clock.clone();
            async move {
                clock.sleep_until(clock.now() + Duration::from_secs(1)).await;
                let page: u32 = request.token.map_or(0, |token| token.parse().unwrap());
                let items = (page * 10..page * 10 + 10).map(|n| Listed::Item(Ok(object(&format!("o{n}@1")))));
                let end = Listed::End {
                    at: "5".into(),
                    token: (page < 9).then(|| (page + 1).to_string().into()),
                };
                Ok::<_, SourceError>(feed::from_iter(items.chain([end]).collect::<Vec<_>>()))
            }
        },
        |_: WatchRequest| async {
            Err::<feed::IterFeed<std::vec::IntoIter<Watched<String>>>, _>(error(
                informer_core::FailureClass::Expired,
            ))
        },
    );
    rig.start_from(source);
    rig.pass(60.0);
    let sizes = rig.sink.with(|deltas| {
        deltas
            .iter()
            .map(|delta| match delta {
                informer_core::Delta::Replace { items, .. } => items.len(),
                _ => 0,
            })
            .collect::<Vec<_>>()
    });
    assert!(sizes.len() > 2 && sizes.iter().all(|n| *n == 100), "{sizes:?}");
}
