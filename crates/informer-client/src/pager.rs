//! `Pager`: the pages of a list as one, the next ones fetched while the first is read.

use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    mem,
    sync::Arc,
    task::{Context, Poll},
};

use informer_core::{BoxFuture, Feed, ListRequest, Listed, ListerWatcher};

/// Items a page, and pages ahead, as client-go's pager has them (`tools/pager`, `defaultPageSize`, `defaultPageBufferSize`).
const PAGE_SIZE: u32 = 500;
const PAGES_AHEAD: usize = 5;

/// All pages of a list, item by item. While its reader works on one page the next are fetched, as many as are allowed to wait.
///
/// It is a [`Feed`] like that of one page, and ends with one [`Listed::End`], which has the version of the last page and no token. A token
/// that expired meanwhile is an error: what was handed out cannot be taken back, so the list has to be begun anew.
///
/// Pages are fetched in [`next`](Feed::next) alone: nothing runs behind the reader's back.
pub struct Pager<L: ListerWatcher> {
    source: Arc<L>,
    n_ahead: usize,
    pages: VecDeque<VecDeque<Listed<L::Object>>>,
    step: Step<L>,
}

type Page<L> = (VecDeque<Listed<<L as ListerWatcher>::Object>>, ListRequest, bool);

type Next<L> = Result<Listed<<L as ListerWatcher>::Object>, <L as ListerWatcher>::Error>;

enum Step<L: ListerWatcher> {
    Ask(ListRequest),
    Asking(BoxFuture<'static, Result<Page<L>, L::Error>>),
    /// What ends the feed, behind the pages that wait.
    Failed(L::Error),
    Done,
}

impl<L: ListerWatcher + 'static> Pager<L> {
    /// The list of this source, in pages of 500 of which five may wait.
    pub fn new(source: L) -> Self {
        let mut request = ListRequest::default();
        request.limit = Some(PAGE_SIZE);
        Self {
            source: Arc::new(source),
            n_ahead: PAGES_AHEAD,
            pages: VecDeque::new(),
            step: Step::Ask(request),
        }
    }

    /// The same, in pages of so many items. Of use before the first item is asked for.
    #[must_use]
    pub fn page_size(mut self, n_items: u32) -> Self {
        if let Step::Ask(request) = &mut self.step {
            request.limit = Some(n_items);
        }
        self
    }

    /// The same, with so many pages waiting at most, at least one.
    #[must_use]
    pub fn pages_ahead(mut self, n_pages: usize) -> Self {
        self.n_ahead = n_pages.max(1);
        self
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Next<L>>> {
        while self.pages.len() <= self.n_ahead && self.fetch(cx) {}
        while let Some(page) = self.pages.front_mut() {
            match page.pop_front() {
                Some(listed) => return Poll::Ready(Some(Ok(listed))),
                None => {
                    self.pages.pop_front();
                }
            }
        }
        match mem::replace(&mut self.step, Step::Done) {
            Step::Failed(error) => Poll::Ready(Some(Err(error))),
            Step::Done => Poll::Ready(None),
            going @ (Step::Ask(_) | Step::Asking(_)) => {
                self.step = going;
                Poll::Pending
            }
        }
    }

    /// Goes on with the page that is fetched. Whether a whole one came.
    fn fetch(&mut self, cx: &mut Context<'_>) -> bool {
        if let Step::Ask(request) = &self.step {
            self.step = Step::Asking(Box::pin(page(self.source.clone(), request.clone())));
        }
        let Step::Asking(asking) = &mut self.step else {
            return false;
        };
        let Poll::Ready(result) = asking.as_mut().poll(cx) else {
            return false;
        };
        match result {
            Ok((items, next, is_last)) => {
                self.pages.push_back(items);
                self.step = if is_last { Step::Done } else { Step::Ask(next) };
            }
            Err(error) => self.step = Step::Failed(error),
        }
        true
    }
}

/// One page, and what to ask for the next.
async fn page<L: ListerWatcher>(source: Arc<L>, mut request: ListRequest) -> Result<Page<L>, L::Error> {
    let mut feed = source.list(request.clone()).await?;
    let mut items = VecDeque::new();
    while let Some(listed) = feed.next().await {
        match listed? {
            Listed::End {
                token: Some(token), ..
            } => {
                request.token = Some(token);
                return Ok((items, request, false));
            }
            end @ Listed::End { .. } => {
                items.push_back(end);
                return Ok((items, request, true));
            }
            item => items.push_back(item),
        }
    }
    // A feed that ends without an end was cut, and has said so.
    Ok((items, request, true))
}

impl<L: ListerWatcher + 'static> Feed for Pager<L> {
    type Event = Listed<L::Object>;
    type Error = L::Error;

    /// # Cancel safety
    /// Dropping the future loses nothing: what was fetched is kept.
    async fn next(&mut self) -> Option<Result<Listed<L::Object>, L::Error>> {
        poll_fn(|cx| self.poll_next(cx)).await
    }
}

impl<L: ListerWatcher> fmt::Debug for Pager<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pager")
            .field("waiting", &self.pages.len())
            .field("n_ahead", &self.n_ahead)
            .finish_non_exhaustive()
    }
}
