//! List and watch as a pure state machine with a thin driver.
