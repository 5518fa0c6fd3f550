//! The last look at the static part before it goes into a page.
//!
//! `present` escapes everything that comes from an input, and the policy of the page would stop a
//! script anyway. This is the third lock: it knows nothing of either, and refuses a page rather
//! than let something run where no policy holds (a mail client, a preview).

use super::Error;

/// Elements that the static part has no use for.
const ELEMENTS: [&str; 17] = [
    "applet",
    "audio",
    "base",
    "button",
    "embed",
    "foreignobject",
    "form",
    "frame",
    "iframe",
    "input",
    "link",
    "math",
    "meta",
    "object",
    "script",
    "template",
    "video",
];
/// Attributes that fetch or go somewhere, unless to a place in the page itself.
const PLACES: [&str; 8] = [
    "href",
    "xlink:href",
    "src",
    "srcset",
    "action",
    "formaction",
    "data",
    "background",
];

/// Checks that nothing in `fixed` runs, fetches or leads away.
///
/// # Errors
/// [`Error::Executable`] names what was found.
pub(super) fn check(fixed: &str) -> Result<(), Error> {
    let mut rest = fixed;
    while let Some((_, tag)) = rest.split_once('<') {
        let (inside, after) = cut(tag).ok_or_else(|| found("a tag without end"))?;
        let name_end = inside
            .find(|c: char| c.is_ascii_whitespace() || (c == '/' && !inside.starts_with('/')))
            .unwrap_or(inside.len());
        let (name, attributes) = inside.split_at(name_end);
        let name = name.trim_start_matches('/').to_ascii_lowercase();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Err(found("markup that is no element"));
        }
        if ELEMENTS.contains(&name.as_str()) {
            return Err(found(&format!("a {name} element")));
        }
        check_attributes(attributes)?;
        rest = after;
    }
    Ok(())
}

fn found(what: &str) -> Error {
    Error::Executable(what.to_owned())
}

/// Cuts at the tag's `>`, which may also stand in a quoted value.
fn cut(tag: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    for (i, c) in tag.char_indices() {
        match (quote, c) {
            (None, '>') => return Some((tag.get(..i)?, tag.get(i + 1..)?)),
            (None, '"' | '\'') => quote = Some(c),
            (Some(q), _) if c == q => quote = None,
            _ => {}
        }
    }
    None
}

fn check_attributes(mut rest: &str) -> Result<(), Error> {
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if rest.is_empty() {
            return Ok(());
        }
        let end = rest
            .find(|c: char| c == '=' || c.is_ascii_whitespace())
            .unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        let name = name.to_ascii_lowercase();
        let mut value = "";
        rest = behind.trim_ascii_start();
        if let Some(given) = rest.strip_prefix('=') {
            let given = given.trim_ascii_start();
            let quote = given.chars().next().filter(|c| matches!(c, '"' | '\''));
            (value, rest) = match quote {
                Some(q) => given
                    .get(1..)
                    .and_then(|g| g.split_once(q))
                    .unwrap_or((given, "")),
                None => given
                    .split_once(|c: char| c.is_ascii_whitespace())
                    .unwrap_or((given, "")),
            };
        }
        if name.starts_with("on") {
            return Err(found(&format!("the attribute {name}")));
        }
        if PLACES.contains(&name.as_str()) && !value.starts_with('#') {
            return Err(found(&format!("a {name} that leads out of the page")));
        }
    }
}
