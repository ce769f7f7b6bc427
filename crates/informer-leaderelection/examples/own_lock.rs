//! Election without a cluster: a lock of one's own, here a row in memory that stands for any store with compare-and-swap.
//!
//! ```text
//! cargo run -p informer-leaderelection --example own_lock
//! ```
#![expect(clippy::print_stdout, reason = "an example tells what it does")]

use std::{error::Error, sync::Arc, time::Duration};

use informer_core::ResourceVersion;
use informer_leaderelection::{
    BoxLock, Elector, Lock, LockError, Observed, Options, Record, unique_identity,
};
use tokio::sync::Mutex;

/// A row of a table: a version and a record.
#[derive(Debug, Default)]
struct Row(Mutex<Option<(u64, Record)>>);

fn observed((version, record): &(u64, Record)) -> Observed {
    Observed {
        record: record.clone(),
        version: ResourceVersion::new(version.to_string()),
    }
}

impl Lock for Row {
    async fn get(&self) -> Result<Option<Observed>, LockError> {
        Ok(self.0.lock().await.as_ref().map(observed))
    }

    async fn create(&self, record: Record) -> Result<Observed, LockError> {
        let mut row = self.0.lock().await;
        if row.is_some() {
            return Err(LockError::conflict("there is a row already"));
        }
        Ok(observed(row.insert((1, record))))
    }

    async fn update(&self, record: Record, at: ResourceVersion) -> Result<Observed, LockError> {
        let mut row = self.0.lock().await;
        match &mut *row {
            Some(row) if row.0.to_string() == at.as_str() => {
                *row = (row.0 + 1, record);
                Ok(observed(row))
            }
            _ => Err(LockError::conflict("the row has changed")),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let lock = BoxLock::new(Arc::new(Row::default()));
    let mut options = Options::new(unique_identity());
    options.release_on_cancel = true;
    let elector = Elector::new(lock.clone(), options)?.on_event(|event| println!("{event}"));
    let leadership = elector.leadership();
    let stop = async {
        leadership.elected().await;
        println!(
            "leads: {}, in term {:?}",
            leadership.is_leader(),
            leadership.term()
        );
    };
    let end = tokio::time::timeout(Duration::from_secs(60), elector.run(stop)).await?;
    println!(
        "{end:?}; held by {:?}",
        lock.get().await?.map(|observed| observed.record.holder)
    );
    Ok(())
}
