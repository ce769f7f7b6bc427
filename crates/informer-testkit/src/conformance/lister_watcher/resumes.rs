//! Watches that go on where something else ended: another watch, a streaming list, a bookmark.

use std::collections::BTreeMap;

use informer_core::{Feed, ListerWatcher, ResourceVersion, Stamp, WatchRequest};

use super::{
    Rig, World,
    seen::{Event, Tested, fold, from},
    watches::{goes_on, may_refuse, something},
};
use crate::{
    Rng,
    conformance::check::{Outcome, ensure},
};

/// Opened again at any version that was seen: of an event, or a bookmark. A source may say that it is too old.
pub(super) async fn a_resumed_watch<L: ListerWatcher, W: World>(rig: &Rig<L, W>, mut rng: Rng) -> Outcome {
    let mut tested = Tested::filled(rig, 3).await;
    let listed = tested.whole_list().await?;
    // What there was at each version that was seen.
    let mut seen = vec![(listed.at.clone(), listed.items.clone())];
    let mut known = listed.items;
    let mut watch = tested.watch_from(&listed.at).await?;
    for _ in 0..8 {
        something(&mut tested, &mut rng).await;
        loop {
            let event = tested.next(&mut watch).await?;
            let version = match &event {
                Event::Set(_, stamp) | Event::Removed(_, stamp) => stamp.version.clone(),
                Event::Mark(at, _) => at.clone(),
            };
            let is_mark = matches!(event, Event::Mark(..));
            fold(&mut known, event);
            seen.push((version, known.clone()));
            if !is_mark {
                break;
            }
        }
    }
    drop(watch);
    for _ in 0..rng.index(3) {
        something(&mut tested, &mut rng).await;
    }
    // The last word: what was told when it comes is everything.
    tested.set(6).await;
    let there = tested.whole_list().await?.items;
    let (at, mut known) = seen.swap_remove(rng.index(seen.len()));
    if at.is_none() {
        return Ok(());
    }
    let mut watch = match tested.try_watch(from(&at)).await? {
        Ok(watch) => watch,
        Err(error) if may_refuse(&error) => return Ok(()),
        Err(error) => return Err(format!("a watch after {at:?}, which was seen, fails: {error}")),
    };
    let resumed = tested.follow(&mut watch, &mut known, &there).await;
    resumed.map_err(|seen| format!("after {at:?}: {seen}"))?;
    let more = tested.nothing_more(&mut watch).await;
    more.map_err(|seen| format!("after {at:?}, and all that came since: {seen}"))
}

pub(super) async fn it_may_stream_the_list<L: ListerWatcher, W: World>(rig: &Rig<L, W>) -> Outcome {
    let mut tested = Tested::filled(rig, 3).await;
    let mut request = WatchRequest::default();
    (request.bookmarks, request.initial_events) = (true, true);
    // Whatever it says if it does not: the reflector lists then.
    let Ok(mut watch) = tested.try_watch(request).await? else {
        return Ok(());
    };
    let there = tested.whole_list().await?.items;
    let (mut known, mut n_told) = (BTreeMap::new(), 0);
    let at = loop {
        match tested.patience.wait(watch.next()).await {
            None => {
                return Err(format!(
                    "a streaming list stands still after {known:?}, without an end marker"
                ));
            }
            Some(None) => {
                return Err(format!(
                    "a streaming list ends after {known:?}, without an end marker"
                ));
            }
            Some(Some(Err(error))) if n_told == 0 && may_refuse(&error) => return Ok(()),
            Some(Some(Err(error))) => return Err(format!("a streaming list fails: {error}")),
            Some(Some(Ok(event))) => match tested.read(event)? {
                Event::Mark(at, true) => break at,
                Event::Mark(at, false) => {
                    return Err(format!(
                        "before the end marker of a streaming list there is a bookmark {at:?}"
                    ));
                }
                Event::Removed(n, _) => {
                    return Err(format!("a streaming list tells that object {n} was deleted"));
                }
                event @ Event::Set(..) => {
                    n_told += 1;
                    fold(&mut known, event);
                }
            },
        }
    };
    ensure!(
        known == there && n_told == there.len(),
        "up to its end marker a streaming list holds {known:?}, in {n_told} events, and there is {there:?}"
    );
    tested.set(0).await;
    tested.remove(2).await;
    let there = tested.whole_list().await?.items;
    tested.follow(&mut watch, &mut known, &there).await?;
    resumes(&tested, &at, 2).await
}

/// Whether a watch after a version tells of so many changes, and no more.
async fn resumes<L: ListerWatcher, W: World>(
    tested: &Tested<L, W>,
    at: &ResourceVersion,
    n_changes: usize,
) -> Outcome {
    let mut watch = match tested.try_watch(from(at)).await? {
        Ok(watch) => watch,
        Err(error) if may_refuse(&error) => return Ok(()),
        Err(error) => return Err(format!("a watch after a bookmark {at:?} fails: {error}")),
    };
    for told in 0..n_changes {
        let event = tested.next_change(&mut watch).await;
        event.map_err(|seen| {
            format!("after a bookmark {at:?} there were {n_changes} changes, {told} were told: {seen}")
        })?;
    }
    let more = tested.nothing_more(&mut watch).await;
    more.map_err(|seen| format!("after a bookmark {at:?}, and all {n_changes} changes since: {seen}"))
}

pub(super) async fn a_bookmark_skips_nothing<L: ListerWatcher, W: World>(rig: &Rig<L, W>) -> Outcome {
    let mut tested = Tested::filled(rig, 2).await;
    let listed = tested.whole_list().await?;
    let mut watch = tested.watch_from(&listed.at).await?;
    let mut known = listed.items.clone();
    tested.set(0).await;
    if !tested.world.bookmark().await {
        return Ok(());
    }
    let there = tested.whole_list().await?.items;
    // What happened before it comes before it.
    let at = loop {
        match tested.next(&mut watch).await? {
            Event::Mark(at, _) => {
                if known == there {
                    break at;
                }
                ensure!(
                    at == listed.at || at.compare(&listed.at).is_ok_and(std::cmp::Ordering::is_le),
                    "a bookmark {at:?} comes when it had told of {known:?}, and there is {there:?}"
                );
            }
            event => fold(&mut known, event),
        }
    };
    tested.set(1).await;
    tested.set(3).await;
    let there = tested.whole_list().await?.items;
    tested.follow(&mut watch, &mut known, &there).await?;
    resumes(&tested, &at, 2).await
}

/// List, then watch, and list again when it ends: what a reflector does, against what there is.
pub(super) async fn the_store_would_follow<L: ListerWatcher, W: World>(
    rig: &Rig<L, W>,
    mut rng: Rng,
) -> Outcome {
    let mut tested = Tested::filled(rig, 2).await;
    for _ in 0..4 {
        let listed = tested.whole_list().await?;
        let mut known = listed.items.clone();
        for _ in 0..rng.index(3) {
            something(&mut tested, &mut rng).await;
        }
        let mut watch = tested.watch_from(&listed.at).await?;
        let mut stamps: BTreeMap<u32, Stamp> = known.clone();
        for _ in 0..6 {
            something(&mut tested, &mut rng).await;
            if rng.chance(0.5) {
                let there = tested.whole_list().await?.items;
                while known != there {
                    let event = tested.next_change(&mut watch).await;
                    let event = event
                        .map_err(|seen| format!("{seen}; it led to {known:?}, and there is {there:?}"))?;
                    if let Event::Set(n, stamp) | Event::Removed(n, stamp) = &event {
                        let before = stamps.insert(*n, stamp.clone());
                        ensure!(
                            before.as_ref().is_none_or(|before| goes_on(before, stamp)),
                            "of object {n} a watch tells {stamp:?} after {before:?}"
                        );
                    }
                    fold(&mut known, event);
                }
            }
        }
    }
    Ok(())
}
