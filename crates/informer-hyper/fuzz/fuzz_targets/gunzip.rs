//! The gzip decoder.
#![no_main]

// The decoder alone, so that neither a runtime nor TLS is built with instrumentation.
#[path = "../../src/body/gunzip.rs"]
mod gunzip;
#[path = "../../src/body/properties.rs"]
mod properties;

use gunzip::Gunzip;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::gunzip(data));
