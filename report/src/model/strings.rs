//! Interned strings: each distinct text is stored once.

use std::hash::Hasher as _;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// A string of one [`StringTable`]. Id 0 is always the empty string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct StringId(pub u32);

impl StringId {
    /// The empty string.
    pub const EMPTY: Self = Self(0);
}

/// All strings of one rank, end to end in one buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StringTable {
    pub(crate) text: String,
    /// End of string `i` in `text`; its start is the end of `i - 1`.
    pub(crate) ends: Vec<u32>,
}

impl Default for StringTable {
    fn default() -> Self {
        Self {
            text: String::new(),
            ends: vec![0],
        }
    }
}

impl StringTable {
    /// The text of `id`; the empty string for an id of another table that is out of range.
    #[must_use]
    pub fn get(&self, id: StringId) -> &str {
        let i = id.0 as usize;
        let start = i
            .checked_sub(1)
            .and_then(|p| self.ends.get(p))
            .copied()
            .unwrap_or(0);
        let end = self.ends.get(i).copied().unwrap_or(start);
        self.text.get(start as usize..end as usize).unwrap_or("")
    }

    /// Number of distinct strings, the empty one included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Never true: the empty string is always there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Every string with its id, in id order.
    pub fn iter(&self) -> impl Iterator<Item = (StringId, &str)> + '_ {
        (0..self.ends.len() as u32).map(|i| (StringId(i), self.get(StringId(i))))
    }

    /// The id of `text`, if it is in the table. Linear; for tests and single look-ups.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<StringId> {
        self.iter().find(|(_, t)| *t == text).map(|(id, _)| id)
    }
}

/// Fills a [`StringTable`].
#[derive(Debug)]
pub struct Interner {
    table: StringTable,
    index: HashTable<u32>,
}

impl Default for Interner {
    fn default() -> Self {
        let mut this = Self {
            table: StringTable::default(),
            index: HashTable::new(),
        };
        this.index.insert_unique(hash(b""), 0, |_| hash(b""));
        this
    }
}

impl Interner {
    /// Goes on with a finished table: its ids stay.
    #[must_use]
    pub fn of(table: StringTable) -> Self {
        let mut index = HashTable::with_capacity(table.len());
        for (id, text) in table.iter() {
            index.insert_unique(hash(text.as_bytes()), id.0, |&id| {
                hash(table.get(StringId(id)).as_bytes())
            });
        }
        Self { table, index }
    }

    /// The largest total of distinct text that a table takes, in bytes.
    ///
    /// A container takes no more, and a page could not hold it.
    pub const MAX_TEXT: usize = 1 << 30;

    /// The id of `text`, new or known. `None` when the table is full ([`Self::MAX_TEXT`]).
    pub fn intern(&mut self, text: &str) -> Option<StringId> {
        if let Some(id) = self.find(text.as_bytes()) {
            return Some(id);
        }
        let h = hash(text.as_bytes());
        let end = Some(self.table.text.len() + text.len()).filter(|&end| end <= Self::MAX_TEXT)?;
        let end = u32::try_from(end).ok()?;
        let id = u32::try_from(self.table.ends.len()).ok()?;
        self.table.text.push_str(text);
        self.table.ends.push(end);
        let table = &self.table;
        self.index
            .insert_unique(h, id, |&id| hash(table.get(StringId(id)).as_bytes()));
        Some(StringId(id))
    }

    /// The id of a text that is known already. The bytes need not be UTF-8: those that are not
    /// equal no text. So a reader checks the UTF-8 of each distinct text once.
    #[must_use]
    pub fn find(&self, text: &[u8]) -> Option<StringId> {
        let table = &self.table;
        self.index
            .find(hash(text), |&id| table.get(StringId(id)).as_bytes() == text)
            .map(|&id| StringId(id))
    }

    /// The table so far.
    #[must_use]
    pub fn table(&self) -> &StringTable {
        &self.table
    }

    /// The finished table.
    #[must_use]
    pub fn finish(self) -> StringTable {
        self.table
    }
}

fn hash(text: &[u8]) -> u64 {
    let mut h = FxHasher::default();
    h.write(text);
    h.finish()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_an_id_and_the_empty_text_is_zero() {
        let mut i = Interner::default();
        let a = i.intern("lm_head").unwrap();
        assert_eq!(i.intern("").unwrap(), StringId::EMPTY);
        let b = i.intern("模型.层").unwrap();
        assert_eq!(i.intern("lm_head").unwrap(), a);
        let table = i.finish();
        assert_eq!((table.get(a), table.get(b)), ("lm_head", "模型.层"));
        assert_eq!(table.len(), 3);
        assert_eq!(table.get(StringId(99)), "", "an id out of range is empty");
    }
}
