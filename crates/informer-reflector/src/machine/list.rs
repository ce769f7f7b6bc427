//! Rules of the LIST.

use std::time::Instant;

use informer_core::{FailureClass, ListRequest, ResourceVersion, VersionMatch};

use super::{Action, Failed, Input, Machine, Next, Note, State, after, concluded};
use crate::{FirstVersion, Phase, Problem, Request};

/// client-go `pager.defaultPageSize`.
const PAGE_SIZE: u32 = 500;

/// A list under way.
#[derive(Debug)]
pub(super) struct Listing {
    /// The version that the first page was asked with.
    asked: Option<ResourceVersion>,
    /// Items of a page.
    limit: Option<u32>,
    /// The page at hand continues an earlier one.
    token: Option<Box<str>>,
    /// The version of the first page, which is that of the list: later pages of an inconsistent continuation are newer, and what happened
    /// since the first is then seen again by the watch.
    at: Option<ResourceVersion>,
    items: usize,
    /// It stands in for a streaming list that was cut, or whose end never came.
    after_cut: bool,
    progress_at: Instant,
    /// When to look at `progress_at`.
    pub(super) check_at: Instant,
}

impl Machine {
    /// Begins a list.
    pub(super) fn open_list(&mut self, now: Instant, after_cut: bool) {
        let asked = self.list_version();
        let limit = self.page_size(asked.as_ref());
        self.open_first_page(now, asked, limit, after_cut);
    }

    fn open_first_page(
        &mut self,
        now: Instant,
        asked: Option<ResourceVersion>,
        limit: Option<u32>,
        after_cut: bool,
    ) {
        let mut request = ListRequest::default();
        request.version.clone_from(&asked);
        request.limit = limit;
        // Without this word a server takes the version of a list in pages as exact: it would serve the same old state again, from which
        // the watch has just expired (apiserver `storage.ValidateListOptions`). client-go sends none and is stuck until a compaction.
        let is_some_version = asked.as_ref().is_some_and(|version| version.as_str() != "0");
        request.version_match = (limit.is_some() && is_some_version).then_some(VersionMatch::NotOlderThan);
        self.state = State::Listing(Listing {
            asked,
            limit,
            token: None,
            at: None,
            items: 0,
            after_cut,
            progress_at: now,
            check_at: after(now, self.options.list_wait),
        });
        self.enter(now, Phase::Listing);
        self.ask(Request::List(request));
    }

    /// client-go `relistResourceVersion`, except that a first list asks for version 0 only by option.
    fn list_version(&self) -> Option<ResourceVersion> {
        let first = match self.options.first_version {
            FirstVersion::MostRecent => None,
            FirstVersion::Any => Some(ResourceVersion::new("0")),
        };
        if self.unavailable {
            None
        } else {
            self.seen().or(first)
        }
    }

    /// client-go `Reflector.list`: pages, unless the version lets the server answer from its cache, which it does only without a limit.
    fn page_size(&self, asked: Option<&ResourceVersion>) -> Option<u32> {
        if let Some(size) = self.options.page_size.filter(|size| *size > 0) {
            return Some(size);
        }
        let from_cache = asked.is_some_and(|version| version.as_str() != "0");
        (self.pages_always || !from_cache).then_some(PAGE_SIZE)
    }

    pub(super) fn list_input(&mut self, now: Instant, input: Input) {
        let State::Listing(listing) = &mut self.state else {
            return;
        };
        listing.progress_at = now;
        match input {
            Input::Opened => {}
            Input::Item => {
                listing.items += 1;
                self.actions.push_back(Action::Keep);
            }
            Input::ListEnd { at, token } => self.list_page_ended(now, at, token.filter(|it| !it.is_empty())),
            Input::Ended => self.list_failed(
                now,
                concluded(FailureClass::Transient, "the list ended before it was whole"),
            ),
            Input::Failed(failed) => self.list_failed(now, failed),
            Input::Event { .. }
            | Input::Bookmark { .. }
            | Input::Odd
            | Input::Relist
            | Input::Resynced
            | Input::ResyncFailed(_) => {}
        }
    }

    fn list_page_ended(&mut self, now: Instant, at: ResourceVersion, token: Option<Box<str>>) {
        let State::Listing(listing) = &mut self.state else {
            return;
        };
        let at = listing.at.get_or_insert(at).clone();
        if at.is_none() {
            // Without a version there is nothing to watch from, and a watch from nowhere would bring all of it once more, for ever.
            let message = "the list has no resource version, so this resource cannot be watched";
            self.actions.push_back(Action::Close);
            self.list_failed(now, concluded(FailureClass::Unsupported, message));
            return;
        }
        match token {
            Some(token) if listing.token.as_ref() == Some(&token) => {
                let message = "the list continues with the token that was just used";
                self.actions.push_back(Action::Close);
                self.list_failed(now, concluded(FailureClass::Transient, message));
            }
            Some(token) => {
                // A token holds the version of its list; a server refuses both at once.
                let mut request = ListRequest::default();
                request.limit = listing.limit;
                request.token = Some(token.clone());
                listing.token = Some(token);
                self.ask(Request::List(request));
            }
            None => self.list_succeeded(now, at),
        }
    }

    fn list_succeeded(&mut self, now: Instant, at: ResourceVersion) {
        let State::Listing(listing) = &self.state else {
            return;
        };
        let any = listing
            .asked
            .as_ref()
            .is_some_and(|version| version.as_str() == "0");
        if any && listing.token.is_some() {
            self.pages_always = true;
        }
        if listing.after_cut {
            // The way to the server is fine, so it is the stream that does not work.
            self.streams = false;
        }
        let objects = listing.items;
        self.publish(now, at, objects);
        self.open_watch(now);
    }

    fn list_failed(&mut self, now: Instant, failed: Failed) {
        let State::Listing(listing) = &mut self.state else {
            return;
        };
        let after_cut = listing.after_cut;
        let asked = listing.asked.take();
        let continued = listing.token.is_some();
        if listing.items > 0 {
            self.actions.push_back(Action::Forget);
        }
        match failed.class {
            // client-go `pager.FullListIfExpired`.
            FailureClass::Expired if continued => {
                self.note(Note::TokenExpired);
                self.open_first_page(now, asked, None, after_cut);
            }
            // At once, whatever wait the server asks for: the same request would be refused again, and this is another one.
            FailureClass::Expired | FailureClass::VersionTooLarge if asked.is_some() => {
                self.note(Note::VersionRefused { class: failed.class });
                self.unavailable = true;
                self.open_list(now, after_cut);
            }
            class => self.fail(now, Problem::List(class), failed, Next::Relist),
        }
    }

    pub(super) fn list_timeout(&mut self, now: Instant) {
        let State::Listing(listing) = &mut self.state else {
            return;
        };
        let gives_up_at = after(listing.progress_at, self.options.list_wait);
        if gives_up_at > now {
            listing.check_at = gives_up_at;
            return;
        }
        self.actions.push_back(Action::Close);
        self.list_failed(
            now,
            concluded(FailureClass::Transient, "the list brought nothing for too long"),
        );
    }
}
