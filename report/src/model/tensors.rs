//! Tensor descriptions (`inputs`, `outputs`, `grads`) and the lists that events refer to.
//!
//! A training loop repeats the same shapes in every step, so both the descriptions and the lists
//! are interned: a million events need a few hundred of each.

use std::hash::Hasher as _;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::StringId;

/// A row of [`Tensors`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorId(pub u32);

/// A list of tensors. List 0 is always the empty one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TensorListId(pub u32);

impl TensorListId {
    /// The list without tensors.
    pub const EMPTY: Self = Self(0);
}

/// One tensor as the source describes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Tensor {
    /// Its name in the source, often empty.
    pub name: StringId,
    /// Sizes of its dimensions, outermost first; empty for a scalar.
    pub shape: Vec<i64>,
    /// `bfloat16`, `float32`, ... as the source writes it.
    pub dtype: StringId,
    /// `cuda:0`, `cpu`, ... as the source writes it.
    pub device: StringId,
    /// Whether autograd tracks it.
    pub requires_grad: Option<bool>,
    /// Its size in bytes (elements times element size; not rounded to allocator blocks).
    pub bytes: Option<u64>,
}

/// The distinct tensors of a rank and the lists made of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensors {
    pub(crate) rows: Vec<Tensor>,
    /// End of list `i` in `items`; its start is the end of `i - 1`.
    pub(crate) list_ends: Vec<u32>,
    pub(crate) items: Vec<TensorId>,
}

impl Default for Tensors {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            list_ends: vec![0],
            items: Vec::new(),
        }
    }
}

impl Tensors {
    /// The description of `id`.
    #[must_use]
    pub fn get(&self, id: TensorId) -> Option<&Tensor> {
        self.rows.get(id.0 as usize)
    }

    /// The tensors of a list, in the source's order.
    #[must_use]
    pub fn list(&self, id: TensorListId) -> &[TensorId] {
        let i = id.0 as usize;
        let start = i
            .checked_sub(1)
            .and_then(|p| self.list_ends.get(p))
            .copied()
            .unwrap_or(0);
        let end = self.list_ends.get(i).copied().unwrap_or(start);
        self.items
            .get(start as usize..end as usize)
            .unwrap_or_default()
    }

    /// Sum of the known sizes of a list, in bytes.
    #[must_use]
    pub fn list_bytes(&self, id: TensorListId) -> u64 {
        self.list(id)
            .iter()
            .filter_map(|&t| self.get(t)?.bytes)
            .fold(0, u64::saturating_add)
    }

    /// Number of distinct tensors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether no event named a tensor.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of distinct lists, the empty one included.
    #[must_use]
    pub fn lists(&self) -> usize {
        self.list_ends.len()
    }
}

/// Fills [`Tensors`].
#[derive(Debug, Default)]
pub struct TensorInterner {
    tensors: Tensors,
    index: HashTable<u32>,
    lists: HashTable<u32>,
}

impl TensorInterner {
    /// The id of a tensor with this description. `None` when 2^32 are there already.
    pub fn tensor(&mut self, tensor: &Tensor) -> Option<TensorId> {
        let h = hash(tensor);
        let rows = &self.tensors.rows;
        if let Some(&id) = self
            .index
            .find(h, |&id| rows.get(id as usize) == Some(tensor))
        {
            return Some(TensorId(id));
        }
        let id = u32::try_from(self.tensors.rows.len()).ok()?;
        self.tensors.rows.push(tensor.clone());
        let rows = &self.tensors.rows;
        self.index
            .insert_unique(h, id, |&id| rows.get(id as usize).map_or(0, hash));
        Some(TensorId(id))
    }

    /// The id of this list. `None` when the tables are full.
    pub fn list(&mut self, items: &[TensorId]) -> Option<TensorListId> {
        if items.is_empty() {
            return Some(TensorListId::EMPTY);
        }
        let h = hash(items);
        let tensors = &self.tensors;
        if let Some(&id) = self
            .lists
            .find(h, |&id| tensors.list(TensorListId(id)) == items)
        {
            return Some(TensorListId(id));
        }
        let id = u32::try_from(self.tensors.list_ends.len()).ok()?;
        let end = u32::try_from(self.tensors.items.len() + items.len()).ok()?;
        self.tensors.items.extend_from_slice(items);
        self.tensors.list_ends.push(end);
        let tensors = &self.tensors;
        self.lists
            .insert_unique(h, id, |&id| hash(tensors.list(TensorListId(id))));
        Some(TensorListId(id))
    }

    /// The finished tables.
    #[must_use]
    pub fn finish(self) -> Tensors {
        self.tensors
    }
}

fn hash<T: std::hash::Hash + ?Sized>(value: &T) -> u64 {
    let mut h = FxHasher::default();
    value.hash(&mut h);
    h.finish()
}
