//! Just enough of Rust's lexical grammar to tell code from comments and literals.

/// The text with comments and the insides of string and character literals blanked out; lines stay lines.
pub(super) fn code_only(text: &str) -> String {
    let mut left = text;
    let mut code = String::with_capacity(text.len());
    while let Some(next) = left.chars().next() {
        let skipped = blank_len(left, code.chars().next_back());
        if skipped == 0 {
            code.push(next);
            left = &left[next.len_utf8()..];
        } else {
            code.extend(
                left[..skipped]
                    .chars()
                    .map(|char| if char == '\n' { '\n' } else { ' ' }),
            );
            left = &left[skipped..];
        }
    }
    code
}

/// How many bytes at the start of `text` are a comment or a literal; `before` is the character ahead of them.
fn blank_len(text: &str, before: Option<char>) -> usize {
    let inside_word = before.is_some_and(|char| char.is_alphanumeric() || char == '_');
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return block_comment(text);
    }
    if let Some(inside) = text.strip_prefix('"') {
        return 1 + quoted(inside, '"');
    }
    if text.starts_with('\'') {
        return char_literal(text);
    }
    if !inside_word {
        for prefix in ["br", "cr", "r"] {
            if let Some(rest) = text.strip_prefix(prefix) {
                let hashes = rest.len() - rest.trim_start_matches('#').len();
                if rest[hashes..].starts_with('"') {
                    let close = format!("\"{}", "#".repeat(hashes));
                    let open = prefix.len() + hashes + 1;
                    return text[open..]
                        .find(&close)
                        .map_or(text.len(), |at| open + at + close.len());
                }
            }
        }
    }
    0
}

/// Block comments nest.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// Length up to and with the closing quote, escapes respected.
fn quoted(text: &str, close: char) -> usize {
    let mut escaped = false;
    for (at, char) in text.char_indices() {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if char == close => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// `'x'` and `'\n'` are literals, `'a` is a lifetime.
fn char_literal(text: &str) -> usize {
    let mut chars = text[1..].chars();
    match (chars.next(), chars.next()) {
        (Some('\\'), _) => 1 + quoted(&text[1..], '\''),
        (Some(char), Some('\'')) => 1 + char.len_utf8() + 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_vanish_and_code_stays() {
        for (text, kept) in [
            ("a // b", "a     "),
            ("a /* b /* c */ d */ e", "a                   e"),
            ("x(\"y // z\") w", "x(        ) w"),
            ("x(\"\\\"y\") w", "x(     ) w"),
            ("r#\"a \" b\"# c", "           c"),
            ("for_r\"a\"", "for_r   "),
            ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
            (
                "match c { '\"' => 1, '\\'' => 2 }",
                "match c {     => 1,      => 2 }",
            ),
            ("a\n/* b\nc */d", "a\n    \n    d"),
        ] {
            assert_eq!(code_only(text), kept, "{text}");
        }
    }
}
