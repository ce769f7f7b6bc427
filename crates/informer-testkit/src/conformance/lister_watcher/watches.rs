//! Watches: from where, everything, in order, and to whoever waits.

use std::{
    collections::BTreeMap,
    pin::pin,
    task::{Context, Poll, Waker},
};

use informer_core::{Classify, FailureClass, Feed, ListerWatcher, Stamp, WatchRequest};

use super::{
    Rig, World,
    seen::{Event, Tested, fold, from, is_unserved, poll},
};
use crate::{
    Rng,
    conformance::{
        check::{Outcome, ensure},
        probe::Wakes,
    },
};

pub(super) async fn a_watch_goes_on_from_a_list<L: ListerWatcher, W: World>(rig: &Rig<L, W>) -> Outcome {
    let mut tested = Tested::filled(rig, 3).await;
    let listed = tested.whole_list().await?;
    // What happens before the watch is opened is not lost.
    tested.set(0).await;
    tested.remove(1).await;
    tested.set(4).await;
    let mut watch = tested.watch_from(&listed.at).await?;
    tested.set(5).await;
    let mut known = listed.items.clone();
    let there = tested.whole_list().await?.items;
    tested.follow(&mut watch, &mut known, &there).await?;
    tested.nothing_more(&mut watch).await
}

pub(super) async fn every_change_is_told<L: ListerWatcher, W: World>(rig: &Rig<L, W>) -> Outcome {
    let mut tested = Tested::filled(rig, 1).await;
    let listed = tested.whole_list().await?;
    let mut watch = tested.watch_from(&listed.at).await?;
    let mut stamp = listed.items[&0].clone();
    for _ in 0..3 {
        tested.set(0).await;
        let told = tested.next_change(&mut watch).await?;
        let Event::Set(0, next) = &told else {
            return Err(format!("an object changed, and the watch tells of {told:?}"));
        };
        ensure!(
            next.uid == stamp.uid && goes_on(&stamp, next),
            "an object of stamp {stamp:?} changed, and the watch tells of {next:?}"
        );
        stamp = next.clone();
    }
    tested.remove(0).await;
    let told = tested.next_change(&mut watch).await?;
    let Event::Removed(0, end) = &told else {
        return Err(format!("an object was deleted, and the watch tells of {told:?}"));
    };
    ensure!(
        end.uid == stamp.uid && goes_on(&stamp, end),
        "an object of stamp {stamp:?} was deleted, and the watch tells of an end at {end:?}"
    );
    tested.set(0).await;
    let told = tested.next_change(&mut watch).await?;
    let Event::Set(0, reborn) = &told else {
        return Err(format!(
            "an object was made again, and the watch tells of {told:?}"
        ));
    };
    ensure!(
        goes_on(end, reborn) && (reborn.uid != stamp.uid || stamp.uid.is_empty()),
        "an object of stamp {stamp:?} ended at {end:?} and was made again, and the watch tells of {reborn:?}"
    );
    tested.nothing_more(&mut watch).await
}

/// Whether the second stamp may follow the first.
pub(super) fn goes_on(before: &Stamp, after: &Stamp) -> bool {
    match before.version.compare(&after.version) {
        Ok(order) => order.is_lt(),
        Err(_) => before.version != after.version || before.version.is_none(),
    }
}

pub(super) async fn nothing_before_its_version<L: ListerWatcher, W: World>(rig: &Rig<L, W>) -> Outcome {
    let mut tested = Tested::filled(rig, 3).await;
    tested.set(0).await;
    tested.remove(2).await;
    let listed = tested.whole_list().await?;
    if listed.at.is_none() {
        return Ok(());
    }
    let mut watch = tested.watch_from(&listed.at).await?;
    tested.nothing_more(&mut watch).await?;
    tested.set(1).await;
    match tested.next_change(&mut watch).await? {
        Event::Set(1, _) => tested.nothing_more(&mut watch).await,
        told => Err(format!("one object changed, and the watch tells of {told:?}")),
    }
}

/// Without a version: whatever it tells of at first, what happens from then on is told.
pub(super) async fn from_the_most_recent<L: ListerWatcher, W: World>(rig: &Rig<L, W>) -> Outcome {
    let mut tested = Tested::filled(rig, 3).await;
    let mut watch = match tested.try_watch(WatchRequest::default()).await? {
        Ok(watch) => watch,
        Err(error) if may_refuse(&error) => return Ok(()),
        Err(error) => return Err(format!("a watch of the most recent state fails: {error}")),
    };
    let listed = tested.whole_list().await?.items;
    let mut known = BTreeMap::new();
    while let Some(event) = tested.patience.glance(watch.next()).await {
        match event {
            Some(Ok(event)) => fold(&mut known, tested.read(event)?),
            Some(Err(error)) => return Err(format!("a watch of the most recent state fails: {error}")),
            None => return Err("a watch of the most recent state ends".to_owned()),
        }
    }
    ensure!(
        known.is_empty() || known == listed,
        "a watch of the most recent state begins with {known:?}, and there is {listed:?}"
    );
    known = listed;
    tested.set(0).await;
    tested.remove(1).await;
    let there = tested.whole_list().await?.items;
    tested.follow(&mut watch, &mut known, &there).await
}

/// A source that cannot begin there says that it must be listed.
pub(super) fn may_refuse(error: &impl Classify) -> bool {
    is_unserved(error) || error.class() == FailureClass::Expired
}

/// One thing happens.
pub(super) async fn something<L: ListerWatcher, W: World>(tested: &mut Tested<L, W>, rng: &mut Rng) {
    let n = u32::try_from(rng.range(0..5)).unwrap_or(0);
    if tested.truth.contains_key(&n) && rng.chance(0.4) {
        tested.remove(n).await;
    } else {
        tested.set(n).await;
    }
}

pub(super) async fn each_watch_for_itself<L: ListerWatcher, W: World>(rig: &Rig<L, W>) -> Outcome {
    let mut tested = Tested::filled(rig, 2).await;
    let listed = tested.whole_list().await?;
    let mut first = tested.watch_from(&listed.at).await?;
    // One that can be watched once for each list is listed again.
    let again = tested.whole_list().await?;
    let mut second = tested.watch_from(&again.at).await?;
    let third = tested.try_watch(from(&again.at)).await?.ok();
    tested.set(0).await;
    let there = tested.whole_list().await?.items;
    drop(third);
    for watch in [&mut second, &mut first] {
        let mut known = listed.items.clone();
        tested.follow(watch, &mut known, &there).await?;
        tested.nothing_more(watch).await?;
    }
    drop(second);
    tested.set(1).await;
    match tested.next_change(&mut first).await? {
        Event::Set(1, _) => Ok(()),
        told => Err(format!(
            "one watch ended, then an object changed, and the other tells of {told:?}"
        )),
    }
}

pub(super) async fn whoever_waits_is_woken<L: ListerWatcher, W: World>(rig: &Rig<L, W>) -> Outcome {
    let mut tested = Tested::filled(rig, 1).await;
    let listed = tested.whole_list().await?;
    let mut watch = tested.watch_from(&listed.at).await?;
    tested.nothing_more(&mut watch).await?;
    let (wakes, waker) = Wakes::new();
    let mut event = {
        let mut next = pin!(watch.next());
        let early = next.as_mut().poll(&mut Context::from_waker(&waker));
        ensure!(
            early.is_pending(),
            "nothing happened, and the watch does not wait"
        );
        tested.set(0).await;
        ensure!(
            tested.patience.until(|| wakes.count() > 0).await,
            "an object changed, and one who waited for it was not woken"
        );
        tested.patience.wait(next).await.flatten()
    };
    while let Some(Ok(told)) = event {
        if matches!(tested.read(told)?, Event::Set(0, _)) {
            return Ok(());
        }
        event = tested.patience.wait(watch.next()).await.flatten();
    }
    Err("an object changed, and one who waited for it is not told".to_owned())
}

/// Asks and gives up, again and again, while things happen.
pub(super) async fn a_next_given_up<L: ListerWatcher, W: World>(rig: &Rig<L, W>, mut rng: Rng) -> Outcome {
    let mut tested = Tested::filled(rig, 3).await;
    let listed = tested.whole_list().await?;
    let mut watch = tested.watch_from(&listed.at).await?;
    let mut known = listed.items;
    for _ in 0..40 {
        if rng.chance(0.3) {
            something(&mut tested, &mut rng).await;
        }
        match poll(&mut watch, Waker::noop()) {
            Poll::Pending => {}
            Poll::Ready(Some(Ok(event))) => fold(&mut known, tested.read(event)?),
            Poll::Ready(Some(Err(error))) => {
                return Err(format!("nothing is wrong, and the watch fails: {error}"));
            }
            Poll::Ready(None) => return Err("nothing is wrong, and the watch ends".to_owned()),
        }
    }
    tested.set(6).await;
    let there = tested.whole_list().await?.items;
    let rest = tested.follow(&mut watch, &mut known, &there).await;
    rest.map_err(|seen| format!("after some futures of `next` that were dropped: {seen}"))?;
    tested.nothing_more(&mut watch).await
}
