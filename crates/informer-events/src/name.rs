//! The name of an event, made of the name of its object and the time.

use informer_backoff::SplitMix64;

/// Longest name of an object, in bytes.
const NAME_LIMIT: usize = 253;

/// `object.time`, the time in nanoseconds since 1970 as hexadecimal digits; where that is no name an object can have, a random one in the
/// form of a UUID (client-go `record/util.GenerateEventName`).
pub(crate) fn event_name(object: &str, nanos: u64, random: &mut SplitMix64) -> String {
    let name = format!("{object}.{nanos:x}");
    if is_subdomain(&name) {
        return name;
    }
    let (high, low) = (random.next_u64(), random.next_u64());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        0x8000 | (low >> 48) & 0x3fff,
        low & 0xffff_ffff_ffff,
    )
}

/// Whether a name is one an object can have: a DNS subdomain (RFC 1123).
fn is_subdomain(name: &str) -> bool {
    name.len() <= NAME_LIMIT && name.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    !label.starts_with('-')
        && !label.ends_with('-')
        && !label.is_empty()
        && label.bytes().all(|byte| is_plain(byte) || byte == b'-')
}

/// Whether a controller's name is one that the server takes: up to 63 letters, digits, `-`, `_`, `.`, with a DNS subdomain and `/` before
/// it if need be (apimachinery `IsQualifiedName`).
pub(crate) fn is_qualified(name: &str) -> bool {
    let (prefix, name) = match name.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, name),
    };
    let is_end = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    prefix.is_none_or(is_subdomain)
        && name.len() <= 63
        && is_end(name.bytes().next())
        && is_end(name.bytes().last())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::{NAME_LIMIT, event_name, is_qualified, is_subdomain};
    use informer_backoff::SplitMix64;

    /// Upstream: client-go `record/util` `TestGenerateEventName`.
    #[test]
    fn a_name_that_would_not_be_one_is_replaced() {
        let nanos = 105_999_103_295_324_396;
        let mut random = SplitMix64::new(1);
        assert_eq!(
            event_name("test-pod", nanos, &mut random),
            "test-pod.178959f726d80ec"
        );
        let long = "x".repeat(300);
        for object in [
            long.as_str(),
            "test.POD",
            "test.pod/invalid!chars?",
            "--test.pod/invalid!chars?",
            "2001:db8::123",
            "",
        ] {
            let name = event_name(object, nanos, &mut random);
            assert!(is_subdomain(&name), "{name}");
            assert_eq!(name.len(), 36, "{name}");
        }
        assert!(is_subdomain(&"a".repeat(NAME_LIMIT)));
        assert!(!is_subdomain(&"a".repeat(NAME_LIMIT + 1)));
    }

    #[test]
    fn controllers_have_qualified_names() {
        for good in ["kubelet", "example.com/kube-foo", "Kube_foo.1"] {
            assert!(is_qualified(good), "{good}");
        }
        let long = "x".repeat(64);
        for bad in [
            "",
            "a/",
            "/a",
            "A/b/c",
            "-a",
            "a-",
            "Big.Prefix/a",
            "a b",
            long.as_str(),
        ] {
            assert!(!is_qualified(bad), "{bad}");
        }
    }
}
