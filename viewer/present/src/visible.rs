//! Text of strangers, made safe to look at.
//!
//! Module names, notes and metadata come from files that anyone may have written. Escaping for
//! HTML is the renderer's part; this is about what the eye sees: control characters get a picture,
//! characters that reorder or hide text get their code point.

use std::borrow::Cow;

/// Replaces characters that cannot be seen or that change how others are seen.
///
/// ```
/// use present::visible::visible;
/// assert_eq!(visible("lm_head"), "lm_head");
/// assert_eq!(visible("a\0b\n"), "a␀b␊");
/// assert_eq!(visible("x\u{202e}y"), "x⟨U+202E⟩y");
/// ```
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\0'..='\x1f' => out.extend(char::from_u32(0x2400 + c as u32)),
            '\x7f' => out.push('␡'),
            _ if hidden(c) => out.push_str(&format!("⟨U+{:04X}⟩", c as u32)),
            _ => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn hidden(c: char) -> bool {
    matches!(c,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{ad}' | '\u{61c}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The first `most` characters of [`visible`] text, with its size where it was cut.
#[must_use]
pub fn short(text: &str, most: usize) -> Cow<'_, str> {
    let Some((cut, _)) = text.char_indices().nth(most) else {
        return visible(text);
    };
    // The size in bytes is known; counting the characters of a megabyte at every look is not free.
    let head = text.get(..cut).unwrap_or(text);
    Cow::Owned(format!("{}… ({} bytes)", visible(head), text.len()))
}

/// Escapes text for HTML content and for attribute values in double quotes.
#[must_use]
pub fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_at_a_character_and_says_so() {
        let long = "模".repeat(100);
        assert_eq!(short(&long, 3), "模模模… (300 bytes)");
        assert_eq!(short("abc", 3), "abc");
    }

    #[test]
    fn markup_is_inert() {
        assert_eq!(
            html(r#"</script><img onerror="x">'&"#),
            "&lt;/script&gt;&lt;img onerror=&quot;x&quot;&gt;&#39;&amp;"
        );
    }
}
