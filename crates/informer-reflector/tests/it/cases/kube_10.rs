//! kube-rs case A10: watches that began together ended together.

use informer_core::ResourceVersion;
use informer_reflector::{
    Options, Start,
    machine::{Action, Input, Machine},
};

use crate::script::epoch;

#[test]
fn kube_10_watches_that_begin_together_do_not_end_together() {
    let now = epoch();
    let mut per_ten_seconds = [0_u32; 30];
    for seed in 0..1000 {
        let mut options = Options::default();
        options.start = Start::List;
        let mut machine = Machine::new(options, seed, now);
        machine.handle_input(now, Input::Opened);
        let at = ResourceVersion::new("1");
        machine.handle_input(now, Input::ListEnd { at, token: None });
        let timeout = std::iter::from_fn(|| machine.poll_action()).find_map(|action| match action {
            Action::OpenWatch(request) => request.timeout,
            _ => None,
        });
        let seconds = usize::try_from(timeout.unwrap().as_secs()).unwrap();
        per_ten_seconds[(seconds - 300) / 10] += 1;
    }
    // A thirtieth of them each would be even.
    assert!(
        per_ten_seconds.iter().all(|it| (10..70).contains(it)),
        "{per_ten_seconds:?}"
    );
}
