//! Test kit for informers: the API server as a pure model, manual clock, scripted sources, conformance suites.
