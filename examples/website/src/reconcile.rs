//! What is done for a website.

use informer::{
    cache::{CacheError, ReadYourWrites},
    client::{
        Error, Outcome, OwnerObject, ReadClientExt, WriteClientExt, WriteOptions, controller_of,
        create_or_update, insert_finalizer, resource_of, take_finalizer,
    },
    leaderelection::Fenced,
    prelude::*,
};
use k8s_openapi::api::core::v1::ConfigMap;

use crate::api::{Website, WebsiteStatus};

/// Holds a website back until its page is gone.
const FINALIZER: &str = "example.com/page";

pub(crate) struct Websites {
    pub(crate) client: Fenced<ReadYourWrites>,
    pub(crate) events: Recorder,
}

impl Reconciler<ObjectKey> for Websites {
    type Error = CacheError;

    async fn reconcile(&self, key: ObjectKey, _: Attempt) -> Result<Action, CacheError> {
        let site = self.client.find::<Website>(&key).await?;
        match site.map(|site| (*site).clone()) {
            Some(site) if site.metadata.deletion_timestamp.is_none() => self.publish(site).await?,
            site => {
                self.remove_page(&key, site.as_ref()).await?;
                if let Some(mut site) = site
                    && take_finalizer(&mut site, FINALIZER)?
                {
                    self.client.update(&site, &WriteOptions::default()).await?;
                }
            }
        }
        Ok(Action::Done)
    }
}

impl Websites {
    async fn publish(&self, mut site: Website) -> Result<(), CacheError> {
        let (fence, options) = (self.client.fence(), WriteOptions::default());
        // Claimed for the term of this leader before anything is decided: what an earlier one has read is out of date from here on.
        if fence.stamp(&mut site)? | insert_finalizer(&mut site, FINALIZER)? {
            site = self.client.update(&site, &options).await?;
        }
        let owner = OwnerObject::of(resource_of::<Website>(), &site).map_err(refused)?;
        let mut page = ConfigMap::default();
        page.metadata.namespace.clone_from(&site.metadata.namespace);
        page.metadata.name.clone_from(&site.metadata.name);
        let mutate = |page: &mut ConfigMap| {
            fence.stamp(page)?;
            page.data = Some([("index.html".to_owned(), site.spec.html.clone())].into());
            owner.control(page).map_err(refused)
        };
        match create_or_update(&self.client, page, mutate, &options).await? {
            (Outcome::Unchanged, _) => {}
            _ => self.tell(&site, "Published", "wrote the page"),
        }
        let status = Some(WebsiteStatus {
            observed_generation: site.metadata.generation,
            page: site.metadata.name.clone(),
        });
        if site.status != status {
            site.status = status;
            self.client.update_status(&site, &options).await?;
        }
        Ok(())
    }

    /// Also when the website is gone already: a page may have come late.
    async fn remove_page(&self, key: &ObjectKey, site: Option<&Website>) -> Result<(), CacheError> {
        let Some(page) = self.client.find::<ConfigMap>(key).await? else {
            return Ok(());
        };
        let owner = controller_of(&*page).map_err(refused)?;
        if owner.is_some_and(|owner| owner.kind == "Website") {
            let options = self.client.fence().only_this(&*page)?;
            self.client.delete::<ConfigMap>(key, &options).await?;
            site.inspect(|site| self.tell(site, "Removed", "deleted the page"));
        }
        Ok(())
    }

    fn tell(&self, site: &Website, reason: &str, note: &str) {
        let site = ObjectReference::typed(site);
        self.events
            .event(&site, None, EventKind::Normal, reason, "Reconciling", note);
    }
}

fn refused(error: impl ToString) -> Error {
    Error::refused(error.to_string())
}
