//! Columns of figures that may be absent.

/// A column of byte counts; an absent figure is `None`.
///
/// Stored as `u64` with `u64::MAX` for absent: readers accept figures below 2^63 only, so the
/// mark never collides with a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bytes(pub(crate) Vec<u64>);

impl Bytes {
    pub(crate) const ABSENT: u64 = u64::MAX;

    /// Appends a figure in bytes.
    pub fn push(&mut self, value: Option<u64>) {
        self.0.push(value.unwrap_or(Self::ABSENT));
    }

    /// The figure of `row` in bytes; `None` when absent or when there is no such row.
    #[inline]
    #[must_use]
    pub fn get(&self, row: usize) -> Option<u64> {
        self.0.get(row).copied().filter(|&v| v != Self::ABSENT)
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the column has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Every row in order.
    pub fn iter(&self) -> impl Iterator<Item = Option<u64>> + '_ {
        self.0.iter().map(|&v| (v != Self::ABSENT).then_some(v))
    }
}

/// A column of signed differences in bytes (or of step numbers); an absent figure is `None`.
///
/// `i64::MIN` marks absent; readers never produce it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deltas(pub(crate) Vec<i64>);

impl Deltas {
    pub(crate) const ABSENT: i64 = i64::MIN;

    /// Appends a figure.
    pub fn push(&mut self, value: Option<i64>) {
        self.0.push(value.unwrap_or(Self::ABSENT));
    }

    /// The figure of `row`; `None` when absent or when there is no such row.
    #[inline]
    #[must_use]
    pub fn get(&self, row: usize) -> Option<i64> {
        self.0.get(row).copied().filter(|&v| v != Self::ABSENT)
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the column has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
