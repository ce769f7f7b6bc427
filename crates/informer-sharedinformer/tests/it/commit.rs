//! What the store refuses: visible, tried again, and in nobody's way.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use informer_core::{IndexError, IndexFunc};
use informer_sharedinformer::{HandlerOptions, SharedInformer, Trouble};

use crate::support::{BOTH, Log, Pod, Tap, assert_gapless, idle, key, pass, pod};

/// Refuses version 2 while it is told to.
struct Picky(Arc<AtomicBool>);

impl IndexFunc<Pod> for Picky {
    fn values(&self, pod: &Pod, emit: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
        if pod.version == 2 && self.0.load(Ordering::Relaxed) {
            return Err(IndexError::new("two is not indexed"));
        }
        emit(&pod.node);
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_object_holds_nobody_up_and_is_stored_when_it_can_be() {
    for queue in BOTH {
        let picky = Arc::new(AtomicBool::new(true));
        let troubles = Arc::new(Mutex::new(Vec::new()));
        let seen = troubles.clone();
        let tap = Tap::default();
        let informer = SharedInformer::fed_by(tap.clone())
            .queue(queue())
            .index("node", Picky(picky.clone()))
            .on_error(move |trouble: &Trouble| seen.lock().unwrap().push(trouble.to_string()))
            .build()
            .unwrap();
        let log = Log::default();
        let handler = informer
            .add_handler(log.handler(), HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        tap.list([pod("ns/a", 1), pod("ns/b", 2), pod("ns/c", 3)], 3);
        idle().await;
        assert!(informer.has_synced() && handler.has_synced());
        assert_eq!(informer.store().len(), 2);
        let status = informer.status();
        assert!(!status.healthy);
        assert_eq!(status.commit_failures, 1);
        assert!(status.last_commit_error.unwrap().contains("two is not indexed"));
        assert!(troubles.lock().unwrap()[0].contains("ns/b"));
        // Others flow on, and it is tried again now and then.
        tap.modify(pod("ns/c", 4));
        pass(Duration::from_secs(1)).await;
        assert_eq!(informer.store().get(&key("ns/c")).unwrap().object.version, 4);
        let tries = informer.status().commit_failures;
        assert!((3..=6).contains(&tries), "{tries} tries");
        picky.store(false, Ordering::Relaxed);
        pass(Duration::from_secs(20)).await;
        assert_eq!(informer.store().get(&key("ns/b")).unwrap().object.version, 2);
        assert!(informer.status().healthy);
        assert_eq!(assert_gapless(&log.changes()).len(), 3);
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_later_state_makes_a_refused_one_moot() {
    for queue in BOTH {
        let picky = Arc::new(AtomicBool::new(true));
        let tap = Tap::default();
        let informer = SharedInformer::fed_by(tap.clone())
            .queue(queue())
            .index("node", Picky(picky.clone()))
            .build()
            .unwrap();
        let log = Log::default();
        informer
            .add_handler(log.handler(), HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        tap.list([pod("ns/a", 1)], 1);
        idle().await;
        tap.modify(pod("ns/a", 2));
        idle().await;
        assert!(!informer.status().healthy);
        tap.modify(pod("ns/a", 3));
        idle().await;
        assert!(informer.status().healthy);
        tap.modify(pod("ns/a", 2));
        idle().await;
        tap.delete(pod("ns/a", 5));
        idle().await;
        picky.store(false, Ordering::Relaxed);
        pass(Duration::from_secs(30)).await;
        let expected = [
            r#"Added "ns/a"@1 initial"#,
            r#"Updated "ns/a"@1 -> "ns/a"@3"#,
            r#"Removed "ns/a"@5"#,
        ];
        assert_eq!(log.lines(), expected);
        assert!(informer.status().healthy && informer.store().is_empty());
        running.stop().await;
    }
}
