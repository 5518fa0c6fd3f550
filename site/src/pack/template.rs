//! Cutting `page.html` at its `{{placeholders}}`.
//!
//! The template is cut once and each slot is written once. What is written is never looked at
//! again, so a module that is called `{{data}}` stays just that.

use super::Error;

/// A placeholder of `page.html`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Lang,
    Csp,
    Generator,
    Title,
    Style,
    Link,
    Static,
    Wasm,
    DataBytes,
    Parts,
    Chunks,
    Script,
}

impl Slot {
    /// Every placeholder with its name.
    pub(super) const ALL: [(&'static str, Self); 12] = [
        ("lang", Self::Lang),
        ("csp", Self::Csp),
        ("generator", Self::Generator),
        ("title", Self::Title),
        ("style", Self::Style),
        ("link", Self::Link),
        ("static", Self::Static),
        ("wasm", Self::Wasm),
        ("data_bytes", Self::DataBytes),
        ("parts", Self::Parts),
        ("chunks", Self::Chunks),
        ("script", Self::Script),
    ];
}

/// A piece of the template.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Written as it is.
    Text(&'a str),
    /// Filled in.
    Slot(Slot),
}

/// Cuts a template. Every placeholder must be known and stand exactly once.
///
/// # Errors
/// [`Error::Template`] names the placeholder that does not.
pub(super) fn pieces(template: &str) -> Result<Vec<Piece<'_>>, Error> {
    let mut out = Vec::new();
    let mut rest = template;
    while let Some((text, behind)) = rest.split_once("{{") {
        let (name, after) = behind
            .split_once("}}")
            .ok_or_else(|| Error::Template("a placeholder without its end".to_owned()))?;
        let &(_, slot) = Slot::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .ok_or_else(|| Error::Template(format!("the unknown placeholder {name:?}")))?;
        if out.contains(&Piece::Slot(slot)) {
            return Err(Error::Template(format!("the placeholder {name:?} twice")));
        }
        out.push(Piece::Text(text));
        out.push(Piece::Slot(slot));
        rest = after;
    }
    out.push(Piece::Text(rest));
    match Slot::ALL
        .iter()
        .find(|(_, slot)| !out.contains(&Piece::Slot(*slot)))
    {
        Some((name, _)) => Err(Error::Template(format!("no placeholder {name:?}"))),
        None => Ok(out),
    }
}
