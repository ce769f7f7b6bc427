//! Tests of the reflector: the machine by text traces, the driver by a scripted source and a manual clock.

mod script;
mod traces;
