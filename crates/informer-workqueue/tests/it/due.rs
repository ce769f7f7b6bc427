//! When a delayed item that nobody waited for becomes ready.

use informer_workqueue::{AddOptions, Config, Fifo, Machine, Outcome, Shutdown};

use crate::support::{epoch, ms};

fn queue() -> Machine<&'static str> {
    Machine::new(Config::default().order(Fifo::default()))
}

/// client-go's waiting loop adds it at its time, whether or not anybody takes.
#[test]
fn what_is_due_comes_before_what_is_added_later() {
    let mut queue = queue();
    queue.add(epoch(), "delayed", AddOptions::after(ms(5)));
    assert!(queue.add(epoch() + ms(10), "later", AddOptions::default()));
    let order = [(); 2].map(|()| queue.take(epoch() + ms(10)).map(|taken| taken.item));
    assert_eq!(order, [Some("delayed"), Some("later")]);
}

#[test]
fn what_is_due_comes_before_what_was_added_again_while_in_work() {
    let mut queue = queue();
    queue.add(epoch(), "again", AddOptions::default());
    let taken = queue.take(epoch()).expect("it is ready");
    queue.add(epoch(), "again", AddOptions::default());
    queue.add(epoch(), "delayed", AddOptions::after(ms(5)));
    assert!(queue.done(epoch() + ms(10), taken.ticket, 0, Outcome::Done));
    let order = [(); 2].map(|()| queue.take(epoch() + ms(10)).map(|taken| taken.item));
    assert_eq!(order, [Some("delayed"), Some("again")]);
}

#[test]
fn what_is_due_at_shutdown_is_handed_out() {
    let mut queue = queue();
    queue.add(epoch(), "due", AddOptions::after(ms(5)));
    queue.add(epoch(), "not yet", AddOptions::after(ms(15)));
    let left = queue.shut_down(epoch() + ms(10), Shutdown::InHand);
    assert_eq!(left, ["not yet"]);
    assert_eq!(queue.take(epoch() + ms(10)).map(|taken| taken.item), Some("due"));
}

#[test]
fn the_length_counts_what_is_due() {
    let mut queue = queue();
    queue.add(epoch(), "due", AddOptions::after(ms(5)));
    assert!(!queue.handle_timeout(epoch() + ms(4)));
    assert_eq!(queue.len(), 0);
    assert!(queue.handle_timeout(epoch() + ms(5)));
    assert_eq!((queue.len(), queue.poll_timeout()), (1, None));
}
