//! Lists: whole, in pages, and what their items say.

use std::collections::BTreeMap;

use informer_core::{ListRequest, ListerWatcher, VersionMatch};

use super::{
    Rig, World,
    seen::{Page, Tested},
};
use crate::conformance::check::{Outcome, ensure};

pub(super) async fn a_list_is_whole<L: ListerWatcher, W: World>(rig: &Rig<L, W>) -> Outcome {
    let mut tested = Tested::new(rig);
    tested.whole_list().await?;
    for n in 0..5 {
        tested.set(n).await;
    }
    tested.whole_list().await?;
    tested.remove(2).await;
    tested.set(3).await;
    tested.set(6).await;
    tested.whole_list().await.map(drop)
}

pub(super) async fn identities_as_they_are<L: ListerWatcher, W: World>(rig: &Rig<L, W>) -> Outcome {
    let tested = Tested::filled(rig, 3).await;
    let page = tested.whole_list().await?;
    let nameless = page.items.iter().find(|(_, stamp)| stamp.version.is_none());
    ensure!(
        nameless.is_none() || page.items.values().all(|stamp| stamp.version.is_none()),
        "some objects of a list have a version, and {nameless:?} has none"
    );
    let again = tested.whole_list().await?;
    ensure!(
        page.items == again.items,
        "nothing happened, and of two lists one has {:?}, the other {:?}",
        page.items,
        again.items
    );
    Ok(())
}

pub(super) async fn a_stamp_for_each_state<L: ListerWatcher, W: World>(rig: &Rig<L, W>) -> Outcome {
    let mut tested = Tested::filled(rig, 2).await;
    let first = tested.whole_list().await?;
    tested.set(0).await;
    let second = tested.whole_list().await?;
    let stamps = |n: u32| (&first.items[&n], &second.items[&n]);
    let ((before, after), (still, same)) = (stamps(0), stamps(1));
    ensure!(
        before.version != after.version || before.version.is_none(),
        "an object changed, and its version is still {before:?}"
    );
    ensure!(
        before.uid == after.uid,
        "an object changed, and its uid went from {before:?} to {after:?}"
    );
    ensure!(
        still == same,
        "an object did not change, and its stamp went from {still:?} to {same:?}"
    );
    tested.remove(0).await;
    tested.set(0).await;
    let third = tested.whole_list().await?;
    let reborn = &third.items[&0];
    ensure!(
        reborn.uid != after.uid || reborn.uid.is_empty(),
        "an object was deleted and made again, and still has the stamp {reborn:?}"
    );
    ensure!(
        reborn.version != after.version || reborn.version.is_none(),
        "an object was deleted and made again, and still has the stamp {reborn:?}"
    );
    Ok(())
}

/// Pages by a token, while something happens between them. A source may give everything at once.
pub(super) async fn pages_are_one_list<L: ListerWatcher, W: World>(rig: &Rig<L, W>) -> Outcome {
    let mut tested = Tested::filled(rig, 5).await;
    let whole = tested.whole_list().await?;
    let mut request = ListRequest::default();
    request.limit = Some(2);
    let mut page = tested.list(request.clone()).await?;
    if page.token.is_none() {
        return tested.holds_all(&page);
    }
    let (at, mut items) = (page.at.clone(), BTreeMap::new());
    let mut n_pages = 0;
    loop {
        n_pages += 1;
        let Page {
            items: more,
            n_items,
            at: version,
            token,
        } = page;
        ensure!(
            n_items <= 2,
            "asked for at most two items, it gives {n_items} and a token"
        );
        ensure!(
            more.keys().all(|n| !items.contains_key(n)),
            "a page holds {more:?}, and those before it {items:?}"
        );
        ensure!(
            version == at,
            "the first page is at {at:?}, and another at {version:?}"
        );
        items.extend(more);
        let Some(token) = token else { break };
        ensure!(
            n_pages < 20,
            "after {n_pages} pages of five objects there is still a token"
        );
        // Neither is in the list that was begun.
        tested.set(n_pages % 5).await;
        tested.set(7).await;
        request.token = Some(token);
        page = tested.list(request.clone()).await?;
    }
    ensure!(
        items == whole.items,
        "one list held {:?}, and in pages, with changes between them, it holds {items:?}",
        whole.items
    );
    Ok(())
}

pub(super) async fn not_older_than<L: ListerWatcher, W: World>(rig: &Rig<L, W>) -> Outcome {
    let mut tested = Tested::filled(rig, 2).await;
    let first = tested.whole_list().await?;
    tested.set(4).await;
    let second = tested.whole_list().await?;
    if second.at.is_none() {
        return Ok(());
    }
    let mut request = ListRequest::default();
    request.version = Some(second.at.clone());
    request.version_match = Some(VersionMatch::NotOlderThan);
    let third = tested.list(request).await?;
    ensure!(
        third.items == second.items,
        "asked for a list not older than {:?} it gives {:?}, and {:?} was there (at {:?} before: {:?})",
        second.at,
        third.items,
        second.items,
        first.at,
        first.items
    );
    ensure!(
        third.at.compare(&second.at).is_ok_and(std::cmp::Ordering::is_ge)
            || third.at == second.at
            || third.at.compare(&second.at).is_err(),
        "asked for a list not older than {:?} it gives one at {:?}",
        second.at,
        third.at
    );
    Ok(())
}
