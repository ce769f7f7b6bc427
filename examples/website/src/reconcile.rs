//! What is done for a website.

use informer::{
    cache::{CacheError, ReadYourWrites},
    client::{
        DeleteOptions, Error, Outcome, OwnerObject, ReadClientExt, WriteClientExt, WriteOptions,
        add_finalizer, create_or_update, remove_finalizer, resource_of,
    },
    leaderelection::Leadership,
    prelude::*,
};
use k8s_openapi::api::core::v1::ConfigMap;

use crate::api::{Website, WebsiteStatus};

/// Holds a website back until its page is gone.
const FINALIZER: &str = "example.com/page";
/// Says in a page how often the lease had changed hands when it was written.
const TERM: &str = "example.com/term";

pub(crate) struct Websites {
    pub(crate) client: ReadYourWrites,
    pub(crate) events: Recorder,
    pub(crate) leadership: Leadership,
}

impl Reconciler<ObjectKey> for Websites {
    type Error = CacheError;

    async fn reconcile(&self, key: ObjectKey, _: Attempt) -> Result<Action, CacheError> {
        let kind = resource_of::<Website>();
        let Some(site) = self.client.find::<Website>(&key).await? else {
            return Ok(Action::Done);
        };
        self.term()?;
        if site.metadata.deletion_timestamp.is_some() {
            match self
                .client
                .delete::<ConfigMap>(&key, &DeleteOptions::default())
                .await
            {
                Err(error) if !error.is_not_found() => return Err(error.into()),
                _ => self.tell(&site, "Removed", "deleted the page"),
            }
            remove_finalizer(&self.client, &kind, &key, FINALIZER).await?;
        } else {
            add_finalizer(&self.client, &kind, &key, FINALIZER).await?;
            let site = self.client.get::<Website>(&key).await?;
            self.write_page(&site).await?;
            let status = Some(WebsiteStatus {
                observed_generation: site.metadata.generation,
                page: site.metadata.name.clone(),
            });
            if site.status != status {
                let site = Website {
                    status,
                    ..(*site).clone()
                };
                self.client.update_status(&site, &WriteOptions::default()).await?;
            }
        }
        Ok(Action::Done)
    }
}

impl Websites {
    async fn write_page(&self, site: &Website) -> Result<(), CacheError> {
        let term = self.term()?;
        let owner = OwnerObject::of(resource_of::<Website>(), site).map_err(refused)?;
        let mut page = ConfigMap::default();
        page.metadata.namespace.clone_from(&site.metadata.namespace);
        page.metadata.name.clone_from(&site.metadata.name);
        let mutate = |page: &mut ConfigMap| {
            let annotations = page.metadata.annotations.get_or_insert_default();
            // A later leader was here. One that comes between this look and the write makes the write a conflict.
            if annotations.get(TERM).and_then(|term| term.parse().ok()) > Some(term) {
                return Err(refused("another replica leads"));
            }
            let data = [("index.html".to_owned(), site.spec.html.clone())].into();
            if page.data.as_ref() != Some(&data) {
                annotations.insert(TERM.to_owned(), term.to_string());
                page.data = Some(data);
            }
            owner.control(page).map_err(refused)
        };
        match create_or_update(&self.client, page, mutate, &WriteOptions::default()).await? {
            (Outcome::Unchanged, _) => {}
            _ => self.tell(site, "Published", "wrote the page"),
        }
        Ok(())
    }

    fn tell(&self, site: &Website, reason: &str, note: &str) {
        let site = ObjectReference::typed(site);
        self.events
            .event(&site, None, EventKind::Normal, reason, "Reconciling", note);
    }

    /// How often the lease had changed hands when this replica got it, if it still has it.
    fn term(&self) -> Result<u32, Error> {
        let term = self.leadership.term();
        term.map(|term| term.transitions)
            .ok_or_else(|| refused("this replica does not lead"))
    }
}

fn refused(error: impl ToString) -> Error {
    Error::refused(error.to_string())
}
