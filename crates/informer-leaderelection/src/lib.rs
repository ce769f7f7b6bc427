//! Leader election by a Lease: a pure machine and its driver.
