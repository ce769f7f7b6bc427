//! Every state that objects went through, as watches told it, and what an election may have done to them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use apiserver_tests::wait;
use informer_client::{Api, DynamicObject, Selectors};
use informer_core::{Feed as _, ListerWatcher as _, Resource, ResourceVersion, WatchRequest, Watched};
use informer_hyper::HyperTransport;
use informer_leaderelection::{Lease, Term};
use informer_transport::DynamicCodec;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::support::TestClient;

pub(crate) type DynamicApi = Api<HyperTransport, DynamicObject, DynamicCodec>;

/// One state of one object, or its end.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) kind: Arc<str>,
    pub(crate) uid: Arc<str>,
    pub(crate) version: u64,
    pub(crate) gone: bool,
    pub(crate) object: Value,
}

impl State {
    pub(crate) fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// The term that it was last claimed in.
    pub(crate) fn term(&self, annotation: &str) -> Option<Term> {
        let text = self.object["metadata"]["annotations"][annotation].as_str()?;
        Some(text.parse().unwrap())
    }

    /// What users write: its spec, by the generation, and its end.
    fn wish(&self) -> (&Value, bool) {
        let metadata = &self.object["metadata"];
        (&metadata["generation"], metadata["deletionTimestamp"].is_string())
    }
}

/// A time of leading, by what was written in the lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reign {
    pub(crate) term: Term,
    pub(crate) holder: String,
    /// The one before had given the lease back.
    pub(crate) was_free: bool,
}

/// Watches the objects of some kinds in one namespace until it is dropped.
pub(crate) struct History {
    states: Arc<Mutex<Vec<State>>>,
    _watches: JoinSet<()>,
}

impl History {
    /// From the states of now on. Beside these kinds it watches the leases.
    pub(crate) fn new(client: &TestClient, namespace: &str, kinds: &[Resource]) -> Self {
        let states = Arc::default();
        let mut watches = JoinSet::new();
        for kind in kinds.iter().chain([&Lease::resource()]) {
            let api = client.dynamic(kind.clone()).in_namespace(namespace);
            watches.spawn(follow(api, kind.kind.clone(), Arc::clone(&states)));
        }
        Self {
            states,
            _watches: watches,
        }
    }

    /// All states so far, in the order in which they were stored.
    pub(crate) fn states(&self) -> Vec<State> {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner).clone();
        states.sort_by_key(|state| state.version);
        states
    }

    /// Who led, one after the other.
    pub(crate) fn reigns(&self) -> Vec<Reign> {
        let mut reigns = Vec::new();
        let mut before = String::new();
        let states = self.states();
        for lease in states.iter().filter(|state| &*state.kind == "Lease") {
            let spec = &lease.object["spec"];
            let holder = spec["holderIdentity"].as_str().unwrap_or_default().to_owned();
            if !holder.is_empty() && holder != before {
                let transitions = spec["leaseTransitions"].as_u64().unwrap_or_default();
                reigns.push(Reign {
                    term: Term {
                        transitions: u32::try_from(transitions).unwrap(),
                        version: ResourceVersion::new(lease.version.to_string()),
                    },
                    holder: holder.clone(),
                    was_free: before.is_empty(),
                });
            }
            before = holder;
        }
        reigns
    }

    /// Whether anything was written in this term.
    pub(crate) fn has_writes(&self, term: &Term, annotation: &str) -> bool {
        let states = self.states();
        states
            .iter()
            .any(|state| state.term(annotation).as_ref() == Some(term))
    }

    /// Fails if a write of an old term was accepted: if the terms of an object went backward, or if the controller wrote to an object that
    /// says a term after the next one had begun. Returns how many of the controller's writes there were in each term.
    pub(crate) fn assert_fenced(&self, annotation: &str) -> BTreeMap<String, usize> {
        let reigns = self.reigns();
        let begins: Vec<u64> = reigns.iter().map(|reign| version(&reign.term)).collect();
        let mut last: BTreeMap<Arc<str>, State> = BTreeMap::new();
        let mut counts = BTreeMap::new();
        let states = self.states();
        for state in states.iter().filter(|state| &*state.kind != "Lease") {
            let before = last.insert(state.uid.clone(), state.clone());
            let term = state.term(annotation);
            let earlier = before.as_ref().and_then(|before| before.term(annotation));
            if let Some(earlier) = &earlier {
                let is_backward = term.as_ref().is_none_or(|term| earlier.is_after(term));
                assert!(!is_backward, "a term went backward: {before:?} then {state:?}");
            }
            // The last state of what was deleted is from before.
            let Some(term) = term.filter(|_| !state.gone) else {
                continue;
            };
            let at = reigns.iter().position(|reign| reign.term == term);
            let at = at.unwrap_or_else(|| panic!("nobody ever led in {term}: {state:?}"));
            let is_users = before.is_some_and(|before| before.wish() != state.wish());
            if is_users {
                continue;
            }
            *counts.entry(reigns[at].holder.clone()).or_default() += 1;
            assert!(
                state.version > begins[at],
                "written before {term} began: {state:?}"
            );
            let next = begins.get(at + 1);
            assert!(
                next.is_none_or(|&next| state.version < next),
                "a write of {term} was accepted after {:?} had begun: {state:?}",
                reigns.get(at + 1)
            );
        }
        counts
    }

    /// How many objects of a kind were deleted and made again under the same name.
    pub(crate) fn n_reborn(&self, kind: &str) -> usize {
        let states = self.states();
        let of_kind = || states.iter().filter(|state| &*state.kind == kind);
        let uids: BTreeSet<_> = of_kind().map(|state| &state.uid).collect();
        let names: BTreeSet<_> = of_kind().map(State::name).collect();
        uids.len() - names.len()
    }
}

fn version(term: &Term) -> u64 {
    term.version.as_str().parse().unwrap()
}

async fn follow(api: DynamicApi, kind: Arc<str>, states: Arc<Mutex<Vec<State>>>) {
    let source = api.source(Selectors::all());
    let mut request = WatchRequest::default();
    loop {
        if let Ok(mut feed) = source.watch(request.clone()).await {
            while let Some(Ok(event)) = feed.next().await {
                let (gone, decoded) = match event {
                    Watched::Upsert(_, decoded) => (false, decoded.unwrap()),
                    Watched::Delete(decoded) => (true, decoded.unwrap()),
                    _ => continue,
                };
                let stamp = decoded.identity.stamp;
                let state = State {
                    kind: kind.clone(),
                    uid: stamp.uid,
                    version: stamp.version.as_str().parse().unwrap(),
                    gone,
                    object: decoded.object.into_value(),
                };
                states.lock().unwrap_or_else(PoisonError::into_inner).push(state);
                request.version = Some(stamp.version);
            }
        }
        wait::pace(Duration::from_millis(50)).await;
    }
}
