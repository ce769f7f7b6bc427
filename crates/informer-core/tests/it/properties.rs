//! What holds of resource versions, whatever their text. The fuzz target and the test that replays its corpus share it.

use std::cmp::Ordering;

use informer_core::ResourceVersion;

/// Three texts, parted by bars: where they have an order it is one, and that of numbers.
pub(super) fn versions(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut parts = text.splitn(3, '|').map(ResourceVersion::from);
    let mut next = || parts.next().unwrap_or_default();
    let (a, b, c) = (next(), next(), next());
    for version in [&a, &b, &c] {
        assert_eq!(ResourceVersion::new(version.as_str()), *version);
        let number = !version.as_str().starts_with('0')
            && !version.is_none()
            && version.as_str().chars().all(|digit| digit.is_ascii_digit());
        assert_eq!(version.compare(version).ok(), number.then_some(Ordering::Equal));
    }
    let forth = a.compare(&b);
    assert_eq!(forth.clone().ok(), b.compare(&a).ok().map(Ordering::reverse));
    if let (Ok(one), Ok(two)) = (a.as_str().parse::<u128>(), b.as_str().parse::<u128>())
        && let Ok(order) = forth
    {
        assert_eq!(order, one.cmp(&two));
    }
    if let (Ok(one), Ok(two)) = (a.compare(&b), b.compare(&c))
        && one == two
    {
        assert_eq!(a.compare(&c), Ok(one));
    }
    match a.compare(&b) {
        Ok(order) => assert_eq!(order.is_eq(), a == b),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
