//! How lists and watches end: read out, given up, refused, expired.

use std::{
    pin::pin,
    task::{Context, Waker},
};

use informer_core::{Classify, FailureClass, Feed, ListRequest, ListerWatcher};

use super::{
    Rig, World,
    seen::{Event, Tested, from, poll},
};
use crate::conformance::check::{Outcome, ensure};

pub(super) async fn a_list_given_up<L: ListerWatcher, W: World>(rig: &Rig<L, W>) -> Outcome {
    let tested = Tested::filled(rig, 5).await;
    // Before it is answered, and before it is read.
    {
        let mut opening = pin!(tested.source.list(ListRequest::default()));
        drop(opening.as_mut().poll(&mut Context::from_waker(Waker::noop())));
    }
    let opened = tested.open_list(ListRequest::default()).await?;
    let mut list = opened.map_err(|error| format!("a list fails, though nothing is wrong: {error}"))?;
    drop(poll(&mut list, Waker::noop()));
    drop(list);
    tested.whole_list().await.map(drop)
}

pub(super) async fn dropped_it_closes<L: ListerWatcher, W: World>(rig: &Rig<L, W>) -> Outcome {
    let mut tested = Tested::filled(rig, 1).await;
    let Some(before) = tested.world.n_open() else {
        return Ok(());
    };
    let listed = tested.whole_list().await?;
    let mut watch = tested.watch_from(&listed.at).await?;
    tested.set(0).await;
    tested.next_change(&mut watch).await?;
    drop(watch);
    let (world, patience) = (&tested.world, &tested.patience);
    ensure!(
        patience.until(|| world.n_open() == Some(before)).await,
        "{before} feeds were open; a list was read to its end, a watch was dropped, and {:?} are open",
        world.n_open()
    );
    Ok(())
}

pub(super) async fn a_quiet_watch_ends_cleanly<L: ListerWatcher, W: World>(rig: &Rig<L, W>) -> Outcome {
    let mut tested = Tested::filled(rig, 1).await;
    let listed = tested.whole_list().await?;
    let mut watch = tested.watch_from(&listed.at).await?;
    tested.set(0).await;
    let Event::Set(0, stamp) = tested.next_change(&mut watch).await? else {
        return Err("an object changed, and the watch tells of something else".to_owned());
    };
    if !tested.world.end_watches().await {
        return Ok(());
    }
    loop {
        match tested.patience.wait(watch.next()).await {
            None => return Err("the server ended the watch, and one who reads still waits".to_owned()),
            Some(None) => break,
            Some(Some(Err(error))) => {
                return Err(format!(
                    "the server ended the watch cleanly, and it fails: {error}"
                ));
            }
            Some(Some(Ok(event))) => drop(tested.read(event)?),
        }
    }
    // It goes on where it ended.
    tested.set(0).await;
    let mut watch = match tested.try_watch(from(&stamp.version)).await? {
        Ok(watch) => watch,
        Err(error) if error.class() == FailureClass::Expired => return Ok(()),
        Err(error) => return Err(format!("after a clean end a watch cannot be opened: {error}")),
    };
    match tested.next_change(&mut watch).await? {
        Event::Set(0, _) => Ok(()),
        told => Err(format!(
            "opened again after a clean end, the watch tells of {told:?}"
        )),
    }
}

pub(super) async fn an_old_version_is_expired<L: ListerWatcher, W: World>(rig: &Rig<L, W>) -> Outcome {
    let mut tested = Tested::filled(rig, 2).await;
    let listed = tested.whole_list().await?;
    if listed.at.is_none() {
        return Ok(());
    }
    tested.set(0).await;
    tested.remove(1).await;
    if !tested.world.forget().await {
        return Ok(());
    }
    // At once, or as the first word of the watch.
    let class = match tested.try_watch(from(&listed.at)).await? {
        Err(error) => error.class(),
        Ok(mut watch) => match tested.patience.wait(watch.next()).await {
            Some(Some(Err(error))) => error.class(),
            Some(Some(Ok(event))) => {
                let event = tested.read(event)?;
                return Err(format!(
                    "the past is forgotten, and a watch after {:?} tells of {event:?}",
                    listed.at
                ));
            }
            Some(None) => return Err("the past is forgotten, and a watch of it ends cleanly".to_owned()),
            None => return Err("the past is forgotten, and a watch of it waits".to_owned()),
        },
    };
    ensure!(
        class == FailureClass::Expired,
        "the past is forgotten, and a watch of it fails as {class}"
    );
    let listed = tested.whole_list().await?;
    let mut watch = tested.watch_from(&listed.at).await?;
    tested.set(3).await;
    tested.next_change(&mut watch).await.map(drop)
}

pub(super) async fn a_class_for_each_failure<L: ListerWatcher, W: World>(rig: &Rig<L, W>) -> Outcome {
    const CLASSES: [FailureClass; 10] = [
        FailureClass::Expired,
        FailureClass::VersionTooLarge,
        FailureClass::Throttled,
        FailureClass::Refused,
        FailureClass::Unauthorized,
        FailureClass::Forbidden,
        FailureClass::NotFound,
        FailureClass::Unsupported,
        FailureClass::Internal,
        FailureClass::Transient,
    ];
    let mut tested = Tested::filled(rig, 1).await;
    let listed = tested.whole_list().await?;
    for class in CLASSES {
        for watches in [false, true] {
            if !tested.world.fail_next(class).await {
                continue;
            }
            let failed = if watches {
                tested.try_watch(from(&listed.at)).await?.err()
            } else {
                tested.open_list(ListRequest::default()).await?.err()
            };
            let Some(error) = failed else {
                return Err(format!("a request was to fail as {class}, and does not"));
            };
            ensure!(
                error.class() == class,
                "a request was to fail as {class}, and fails as {}: {error}",
                error.class()
            );
            ensure!(
                !error.to_string().is_empty(),
                "an error of class {class} says nothing"
            );
            tested.whole_list().await?;
        }
    }
    Ok(())
}
