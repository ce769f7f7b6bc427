//! The LIST splitter, in protobuf.
#![no_main]

#[path = "../../tests/it/properties.rs"]
#[allow(dead_code, reason = "each target uses its own")]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::list_protobuf(data));
