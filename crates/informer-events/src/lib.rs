//! Event recorder with series, aggregation and a spam filter.
