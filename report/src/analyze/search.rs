//! Finding events by text, over all of them at once.

use crate::model::{Events, StringId, StringTable};

/// Which strings of a table contain `needle`, letter case of ASCII letters aside.
#[derive(Debug, Clone)]
pub struct Matches(Vec<bool>);

impl Matches {
    /// Looks once at every distinct string; a million events share a few hundred.
    #[must_use]
    pub fn of(strings: &StringTable, needle: &str) -> Self {
        let needle = needle.to_lowercase();
        Self(
            strings
                .iter()
                .map(|(_, text)| contains(text, &needle))
                .collect(),
        )
    }

    /// Whether the string matched.
    #[inline]
    #[must_use]
    pub fn has(&self, id: StringId) -> bool {
        self.0.get(id.0 as usize).copied().unwrap_or(false)
    }

    /// Whether the module, phase, kind or notes of an event matched.
    #[inline]
    #[must_use]
    pub fn event(&self, events: &Events, i: usize) -> bool {
        let any = |c: &[StringId]| c.get(i).is_some_and(|&id| self.has(id));
        any(&events.module) || any(&events.phase) || any(&events.kind) || any(&events.notes)
    }
}

/// Case-insensitive search; `needle` is lower-case already.
#[must_use]
pub fn contains(text: &str, needle: &str) -> bool {
    if needle.is_empty() {
        return true;
    }
    if text.is_ascii() && needle.is_ascii() {
        let (text, needle) = (text.as_bytes(), needle.as_bytes());
        return text
            .windows(needle.len())
            .any(|w| w.eq_ignore_ascii_case(needle));
    }
    text.to_lowercase().contains(needle)
}
