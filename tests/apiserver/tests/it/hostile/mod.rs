//! Informers behind a network that is hostile to them, over TLS and in both versions of HTTP, before the embedded server and a real one.

mod cases;
mod chaos;
mod frames;
mod outages;
mod silence;
mod stage;
