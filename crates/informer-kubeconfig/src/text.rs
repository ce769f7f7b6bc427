//! Bytes of a file to text, and base64 as Go reads it.

use std::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD};

/// The text of a file in UTF-8 or, behind a byte order mark, UTF-16, as editors on Windows write it.
pub(crate) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, &'static str> {
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => utf8(bytes),
    }
}

/// Base64 in which white space does not count: Go skips line ends, and files are wrapped at 64 or 76 columns by many tools.
pub(crate) fn decode_base64(text: &str) -> Result<Vec<u8>, base64::DecodeError> {
    let compact: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    STANDARD.decode(compact)
}

pub(crate) fn encode_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

fn utf8(bytes: &[u8]) -> Result<Cow<'_, str>, &'static str> {
    std::str::from_utf8(bytes)
        .map(Cow::Borrowed)
        .map_err(|_| "not UTF-8 text")
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Cow<'static, str>, &'static str> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err("not UTF-16 text, although it begins with its mark");
    }
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    String::from_utf16(&units)
        .map(Cow::Owned)
        .map_err(|_| "not UTF-16 text, although it begins with its mark")
}
