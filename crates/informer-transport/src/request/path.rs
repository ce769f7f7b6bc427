//! Paths: names become one segment each, or are refused.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::RequestError;

/// What may stand in a path segment as it is: the unreserved characters, and the colon of role names.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b':');

/// Appends one segment. An empty name would turn a request for one object into one for all, and `..` or a slash into one for another;
/// the API allows none of them in names (apimachinery `path.IsValidPathSegmentName`), so they are refused before a byte is sent.
pub(super) fn push(path: &mut String, what: &'static str, segment: &str) -> Result<(), RequestError> {
    if segment.is_empty() || segment == "." || segment == ".." || segment.contains(['/', '%']) {
        return Err(RequestError::segment(what, segment));
    }
    path.push('/');
    path.extend(utf8_percent_encode(segment, SEGMENT));
    Ok(())
}
