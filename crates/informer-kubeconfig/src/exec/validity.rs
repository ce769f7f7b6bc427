//! From when until when a certificate is valid: as much of X.509 as that takes. Pure.

use std::time::SystemTime;

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use rustls_pki_types::{CertificateDer, pem::PemObject};

const SEQUENCE: u8 = 0x30;
/// `[0]`, explicit: the version, which a certificate of version 1 does not have.
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// The beginning and the end, of the first certificate of a PEM text.
pub(super) fn of_pem(pem: &[u8]) -> Option<(SystemTime, SystemTime)> {
    let mut sections = CertificateDer::pem_slice_iter(pem);
    of_der(&sections.find_map(Result::ok)?)
}

/// RFC 5280, section 4.1: version, serial number, algorithm and issuer come before the validity.
fn of_der(der: &[u8]) -> Option<(SystemTime, SystemTime)> {
    let certificate = Reader(der).expect(SEQUENCE)?;
    let mut fields = Reader(Reader(certificate).expect(SEQUENCE)?);
    if fields.0.first() == Some(&VERSION) {
        fields.next()?;
    }
    for _ in 0..3 {
        fields.next()?;
    }
    let mut validity = Reader(fields.expect(SEQUENCE)?);
    Some((validity.time()?, validity.time()?))
}

/// The rest of some DER.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// The next element: its tag and its content.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (len, rest) = match first {
            first if first < 0x80 => (usize::from(first), rest),
            0x81..=0x84 => {
                let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                let len = digits.iter().try_fold(0_usize, |len, digit| {
                    Some(len.checked_mul(256)? + usize::from(*digit))
                })?;
                (len, rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(len)?;
        self.0 = rest;
        Some((tag, content))
    }

    fn expect(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next()
            .filter(|(found, _)| *found == tag)
            .map(|(_, content)| content)
    }

    /// `YYMMDDHHMMSSZ` of 1950 to 2049, or `YYYYMMDDHHMMSSZ`.
    fn time(&mut self) -> Option<SystemTime> {
        let (tag, content) = self.next()?;
        let text = std::str::from_utf8(content).ok()?.strip_suffix('Z')?;
        let text = match tag {
            UTC_TIME if text.len() == 12 => {
                let century = if text.get(..2)? < "50" { "20" } else { "19" };
                format!("{century}{text}")
            }
            GENERALIZED_TIME if text.len() == 14 => text.to_owned(),
            _ => return None,
        };
        let number = |from: usize, to: usize| text.get(from..to)?.parse::<i8>().ok();
        let time = DateTime::new(
            text.get(..4)?.parse().ok()?,
            number(4, 6)?,
            number(6, 8)?,
            number(8, 10)?,
            number(10, 12)?,
            number(12, 14)?,
            0,
        );
        let zoned = time.ok()?.to_zoned(TimeZone::UTC).ok()?;
        Some(SystemTime::from(Timestamp::from(zoned)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use proptest::prelude::*;

    use super::{of_der, of_pem};

    fn certificate(from: i32, until: i32) -> rcgen::Certificate {
        let key = rcgen::KeyPair::generate().expect("a key");
        let mut parameters = rcgen::CertificateParams::new(["a name".to_owned()]).expect("a name");
        parameters.not_before = rcgen::date_time_ymd(from, 1, 2);
        parameters.not_after = rcgen::date_time_ymd(until, 12, 31);
        parameters.self_signed(&key).expect("a certificate")
    }

    fn at(text: &str) -> SystemTime {
        text.parse::<jiff::Timestamp>().expect("a time").into()
    }

    #[test]
    fn both_ways_to_write_a_year() {
        for (from, until) in [(2024, 2026), (1975, 2049), (2001, 2050), (2060, 4096)] {
            let found = of_pem(certificate(from, until).pem().as_bytes());
            let expected = (
                at(&format!("{from}-01-02T00:00:00Z")),
                at(&format!("{until}-12-31T00:00:00Z")),
            );
            assert_eq!(found, Some(expected), "{from} to {until}");
        }
        assert_eq!(of_pem(b"no PEM"), None);
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(at in 0_usize..400, byte: u8, len in 0_usize..400) {
            let mut der = certificate(2024, 2026).der().to_vec();
            let n = der.len();
            der[at % n] = byte;
            der.truncate(len.max(1));
            let (first, again) = (of_der(&der), of_der(&der));
            prop_assert_eq!(first, again);
        }
    }
}
