//! Opening a container and getting tables back.

use super::header::{Coding, ColumnEntry, Header, RankEntry};
use super::{MAGIC, PREFIX, VERSION, column};
use crate::Error;
use crate::error::Result;
use crate::model::{
    Bytes, Deltas, Events, Rank, Report, Series, SeriesCategory, StringId, StringTable, Tensor,
    TensorId, TensorListId, Tensors,
};

/// A slab larger than this, uncompressed, is refused: a hostile file must not fill memory.
const MAX_SLAB: u64 = 1 << 30;
/// More numbers in a column than this are refused, as each takes 8 bytes once decoded.
const MAX_NUMBERS: u64 = 1 << 28;

/// An opened container: the header is read, columns are decoded on demand.
#[derive(Debug, Clone)]
pub struct Container {
    name: String,
    bytes: Vec<u8>,
    header: Header,
    /// Where the slabs begin.
    body: usize,
}

impl Container {
    /// Reads the header.
    ///
    /// # Errors
    /// [`Error::Malformed`] when magic, length, checksum or JSON do not hold, and
    /// [`Error::Version`] for a newer format.
    pub fn open(name: &str, bytes: Vec<u8>) -> Result<Self> {
        let word = |at: usize| -> Option<u32> {
            let b = bytes.get(at..at + 4)?;
            Some(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        };
        if !bytes.starts_with(MAGIC) {
            return Err(damaged(name, 0, "the magic MEMSCOPE", "other bytes"));
        }
        let (Some(version), Some(length), Some(crc)) = (word(8), word(12), word(16)) else {
            return Err(damaged(
                name,
                bytes.len() as u64,
                "a header of 24 bytes",
                "the end of the file",
            ));
        };
        if version > VERSION || version == 0 {
            return Err(Error::Version {
                name: name.to_owned(),
                found: version,
                supported: VERSION,
            });
        }
        let body = PREFIX.saturating_add(length as usize);
        let Some(head) = bytes.get(PREFIX..body) else {
            let found = format!("{} bytes in all", bytes.len());
            return Err(damaged(
                name,
                PREFIX as u64,
                &format!("a header of {length} bytes"),
                &found,
            ));
        };
        if crc32fast::hash(head) != crc {
            return Err(damaged(
                name,
                PREFIX as u64,
                "a header with the stated CRC-32",
                "another one",
            ));
        }
        let header = serde_json::from_slice(head).map_err(|e| {
            damaged(
                name,
                PREFIX as u64 + e.column() as u64,
                "the container's JSON header",
                &e.to_string(),
            )
        })?;
        Ok(Self {
            name: name.to_owned(),
            bytes,
            header,
            body,
        })
    }

    /// What stands before the columns.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Size of the container in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Decodes every rank.
    ///
    /// # Errors
    /// As [`Self::rank`].
    pub fn report(&self) -> Result<Report> {
        let ranks = (0..self.header.ranks.len())
            .map(|i| self.rank(i))
            .collect::<Result<_>>()?;
        Ok(Report { ranks })
    }

    /// Decodes the tables of one rank.
    ///
    /// # Errors
    /// [`Error::Malformed`] when there is no such rank, a slab is missing, cut off or fails its
    /// checksum, or a column refers to rows that are not there.
    pub fn rank(&self, index: usize) -> Result<Rank> {
        #[cfg(feature = "snapshot")]
        return crate::pause::now(self.rank_in_pieces(index, crate::pause::Pauses::NONE));
        #[cfg(not(feature = "snapshot"))]
        self.base(index)
    }

    /// As [`Self::rank`], with pauses.
    ///
    /// # Errors
    /// As [`Self::rank`].
    #[cfg(feature = "snapshot")]
    pub async fn rank_in_pieces(
        &self,
        index: usize,
        pauses: crate::pause::Pauses<'_>,
    ) -> Result<Rank> {
        let mut rank = self.base(index)?;
        pauses.here().await;
        if let Some(entry) = self.header.ranks.get(index)
            && let Some(snapshot) = &entry.snapshot
        {
            let columns = Columns { of: self, entry };
            rank.snapshot = Some(columns.snapshot(snapshot, pauses).await?);
        }
        Ok(rank)
    }

    /// A rank without its snapshot.
    fn base(&self, index: usize) -> Result<Rank> {
        let Some(entry) = self.header.ranks.get(index) else {
            let found = format!("{} ranks", self.header.ranks.len());
            return Err(damaged(
                &self.name,
                PREFIX as u64,
                &format!("rank {index}"),
                &found,
            ));
        };
        // Half a rank would look like a whole one.
        #[cfg(not(feature = "snapshot"))]
        if entry.unread.is_some() || entry.columns.iter().any(|c| c.name == super::RECORDING) {
            return Err(Error::Unsupported {
                name: self.name.clone(),
                expected: "a runtime report".to_owned(),
                found: "a recording, which this page's viewer does not show: open the file \
                        itself, or drop it on the page that `memscope viewer` writes"
                    .to_owned(),
            });
        }
        let columns = Columns { of: self, entry };
        let rank = Rank {
            source: entry.source.clone(),
            also: entry.also.clone(),
            series: entry.series.map(|n| columns.series(n)).transpose()?,
            metadata: entry.metadata.clone(),
            comparisons: entry.comparisons.clone(),
            recorded_peak: entry.recorded_peak.clone(),
            skipped: entry.skipped.clone(),
            strings: columns.strings()?,
            events: columns.events("events", entry.events)?,
            recorded_top: columns.events("top", entry.recorded_top)?,
            tensors: columns.tensors()?,
            snapshot: None,
            #[cfg(feature = "snapshot")]
            recording: columns.recording()?,
        };
        Ok(rank)
    }

    fn slab(&self, entry: &ColumnEntry) -> Result<Vec<u8>> {
        let at = (self.body as u64).saturating_add(entry.offset);
        let bad = |expected: &str, found: &str| {
            damaged(
                &self.name,
                at,
                &format!("{expected} (column {})", entry.name),
                found,
            )
        };
        let stored = usize::try_from(at)
            .ok()
            .and_then(|start| {
                self.bytes
                    .get(start..start.checked_add(usize::try_from(entry.length).ok()?)?)
            })
            .ok_or_else(|| {
                bad(
                    &format!("{} bytes", entry.length),
                    "the end of the container",
                )
            })?;
        if crc32fast::hash(stored) != entry.crc32 {
            return Err(bad("bytes with the stated CRC-32", "others"));
        }
        if !entry.deflate {
            return Ok(stored.to_vec());
        }
        if entry.raw > MAX_SLAB {
            return Err(bad(
                "at most 1 GiB uncompressed",
                &format!("{} bytes", entry.raw),
            ));
        }
        // Deflate makes at most 1032 bytes of one: a size that lies cannot make us reserve memory.
        if entry.raw / 1032 > entry.length {
            return Err(bad(
                "a size that deflate can reach",
                &format!("{} bytes", entry.raw),
            ));
        }
        let mut out = Vec::with_capacity(entry.raw as usize + 1);
        let mut inflate =
            std::io::Read::take(flate2::read::DeflateDecoder::new(stored), entry.raw + 1);
        std::io::Read::read_to_end(&mut inflate, &mut out)
            .map_err(|e| bad("deflate data", &e.to_string()))?;
        if out.len() as u64 != entry.raw {
            return Err(bad(
                &format!("{} bytes uncompressed", entry.raw),
                &format!("{}", out.len()),
            ));
        }
        Ok(out)
    }
}

fn damaged(name: &str, offset: u64, expected: &str, found: &str) -> Error {
    Error::Malformed {
        name: name.to_owned(),
        offset,
        expected: expected.to_owned(),
        found: found.to_owned(),
        advice: "the container was damaged or cut off on its way: copy it again".to_owned(),
    }
}

/// The columns of one rank.
pub(super) struct Columns<'a> {
    of: &'a Container,
    entry: &'a RankEntry,
}

impl Columns<'_> {
    pub(super) fn bad(&self, column: &str, expected: &str) -> Error {
        damaged(
            &self.of.name,
            self.of.body as u64,
            &format!("{expected} in column {column}"),
            "other values",
        )
    }

    pub(super) fn find(&self, name: &str) -> Result<&ColumnEntry> {
        self.entry
            .columns
            .iter()
            .find(|c| c.name == name)
            .ok_or_else(|| {
                damaged(
                    &self.of.name,
                    PREFIX as u64,
                    &format!("a column {name}"),
                    "none",
                )
            })
    }

    /// Decodes a column whose prediction uses `a` and `b`.
    fn predicted(&self, name: &str, rows: Option<u64>, a: &[u64], b: &[u64]) -> Result<Vec<u64>> {
        let entry = self.find(name)?;
        let slab = self.of.slab(entry)?;
        if rows.is_some_and(|rows| rows != entry.count) {
            return Err(self.bad(name, &format!("{} rows", rows.unwrap_or(0))));
        }
        usize::try_from(entry.count)
            .ok()
            .filter(|_| entry.count <= MAX_NUMBERS)
            .and_then(|count| column::decode(entry.coding, &slab, count, a, b))
            .ok_or_else(|| self.bad(name, &format!("{} numbers", entry.count)))
    }

    pub(super) fn numbers(&self, name: &str, rows: Option<u64>) -> Result<Vec<u64>> {
        self.predicted(name, rows, &[], &[])
    }

    /// Numbers that each must be below `limit`.
    pub(super) fn ids(&self, name: &str, rows: Option<u64>, limit: usize) -> Result<Vec<u32>> {
        self.numbers(name, rows)?
            .into_iter()
            .map(|v| {
                u32::try_from(v)
                    .ok()
                    .filter(|&v| (v as usize) < limit)
                    .ok_or_else(|| self.bad(name, &format!("ids below {limit}")))
            })
            .collect()
    }

    /// What a recorder knows, where there is something.
    #[cfg(feature = "snapshot")]
    fn recording(&self) -> Result<Option<crate::model::recording::Recording>> {
        if !self
            .entry
            .columns
            .iter()
            .any(|c| c.name == super::RECORDING)
        {
            return Ok(None);
        }
        let slab = self.of.slab(self.find(super::RECORDING)?)?;
        let recording = serde_json::from_slice(&slab);
        let recording = recording.map_err(|_| self.bad(super::RECORDING, "a recording as JSON"))?;
        Ok(Some(recording))
    }

    fn series(&self, rows: u64) -> Result<Series> {
        let column = |name: &str| self.numbers(&format!("series.{name}"), Some(rows));
        let mut series = Series {
            time_ns: column("time")?,
            ..Series::default()
        };
        for (category, values) in SeriesCategory::ALL.iter().zip(&mut series.bytes) {
            *values = column(category.word())?;
        }
        Ok(series)
    }

    /// The numbers of a column that is its own, one after the other.
    #[cfg(feature = "snapshot")]
    pub(super) fn plain(&self, name: &str, rows: u64) -> Result<Codes<'_>> {
        let entry = self.find(name)?;
        if entry.coding != Coding::Plain {
            return Err(self.bad(name, "plain numbers"));
        }
        let slab = self.of.slab(entry)?;
        // Every number takes at least a byte.
        if rows != entry.count || rows > MAX_NUMBERS.min(slab.len() as u64) {
            return Err(self.bad(name, &format!("{rows} rows")));
        }
        Ok(Codes {
            of: self,
            name: name.to_owned(),
            slab,
            at: 0,
        })
    }

    fn strings(&self) -> Result<StringTable> {
        let entry = self.find("strings.text")?;
        let text = match entry.coding {
            Coding::Raw => String::from_utf8(self.of.slab(entry)?)
                .map_err(|_| self.bad("strings.text", "UTF-8"))?,
            _ => return Err(self.bad("strings.text", "raw text")),
        };
        let mut end = 0u32;
        let mut ends = Vec::new();
        for length in self.numbers("strings.length", None)? {
            end = u32::try_from(length)
                .ok()
                .and_then(|l| end.checked_add(l))
                .filter(|&e| text.is_char_boundary(e as usize))
                .ok_or_else(|| self.bad("strings.length", "lengths within the text"))?;
            ends.push(end);
        }
        if ends.first() != Some(&0) {
            return Err(self.bad("strings.length", "the empty string first"));
        }
        Ok(StringTable { text, ends })
    }

    fn events(&self, table: &str, rows: u64) -> Result<Events> {
        let strings = self.find("strings.length")?.count as usize;
        let lists = self.find("lists.end")?.count as usize;
        let name = |column: &str| format!("{table}.{column}");
        let string = |column: &str| -> Result<Vec<StringId>> {
            Ok(self
                .ids(&name(column), Some(rows), strings)?
                .into_iter()
                .map(StringId)
                .collect())
        };
        let list = |column: &str| -> Result<Vec<TensorListId>> {
            Ok(self
                .ids(&name(column), Some(rows), lists)?
                .into_iter()
                .map(TensorListId)
                .collect())
        };
        let signed = |values: Vec<u64>| Deltas(values.into_iter().map(|v| v as i64).collect());
        let memory = |what: &str| -> Result<[Vec<u64>; 4]> {
            let after = self.numbers(&name(&format!("{what}_after")), Some(rows))?;
            let before =
                self.predicted(&name(&format!("{what}_before")), Some(rows), &after, &[])?;
            let max = self.predicted(&name(&format!("max_{what}")), Some(rows), &after, &[])?;
            let delta =
                self.predicted(&name(&format!("delta_{what}")), Some(rows), &after, &before)?;
            Ok([before, after, max, delta])
        };
        let [
            allocated_before,
            allocated_after,
            max_allocated,
            delta_allocated,
        ] = memory("allocated")?;
        let [
            reserved_before,
            reserved_after,
            max_reserved,
            delta_reserved,
        ] = memory("reserved")?;
        Ok(Events {
            kind: string("kind")?,
            module: string("module")?,
            phase: string("phase")?,
            notes: string("notes")?,
            step: signed(self.numbers(&name("step"), Some(rows))?),
            allocated_before: Bytes(allocated_before),
            allocated_after: Bytes(allocated_after),
            reserved_before: Bytes(reserved_before),
            reserved_after: Bytes(reserved_after),
            max_allocated: Bytes(max_allocated),
            max_reserved: Bytes(max_reserved),
            delta_allocated: signed(delta_allocated),
            delta_reserved: signed(delta_reserved),
            inputs: list("inputs")?,
            outputs: list("outputs")?,
            grads: list("grads")?,
        })
    }

    fn tensors(&self) -> Result<Tensors> {
        let strings = self.find("strings.length")?.count as usize;
        let names = self.ids("tensors.name", None, strings)?;
        let rows = Some(names.len() as u64);
        let dtypes = self.ids("tensors.dtype", rows, strings)?;
        let devices = self.ids("tensors.device", rows, strings)?;
        let grads = self.ids("tensors.requires_grad", rows, 3)?;
        let bytes = self.numbers("tensors.bytes", rows)?;
        let dims = self.numbers("tensors.dims", rows)?;
        let shape = self.numbers("tensors.shape", None)?;
        let mut shape = shape.as_slice();
        let mut out = Tensors {
            rows: Vec::with_capacity(names.len()),
            list_ends: Vec::new(),
            items: Vec::new(),
        };
        for (i, &name) in names.iter().enumerate() {
            let (own, rest) = usize::try_from(dims[i])
                .ok()
                .and_then(|n| shape.split_at_checked(n))
                .ok_or_else(|| {
                    self.bad("tensors.dims", "no more dimensions than tensors.shape has")
                })?;
            shape = rest;
            out.rows.push(Tensor {
                name: StringId(name),
                shape: own.iter().map(|&d| d as i64).collect(),
                dtype: StringId(dtypes[i]),
                device: StringId(devices[i]),
                requires_grad: [None, Some(false), Some(true)][grads[i] as usize],
                bytes: bytes[i].checked_sub(1),
            });
        }
        out.items = self
            .ids("lists.item", None, names.len())?
            .into_iter()
            .map(TensorId)
            .collect();
        out.list_ends = self.ids("lists.end", None, out.items.len() + 1)?;
        if out.list_ends.first() != Some(&0) || !out.list_ends.is_sorted() {
            return Err(self.bad("lists.end", "rising ends from 0"));
        }
        Ok(out)
    }
}

/// A column of plain numbers that is being decoded.
#[cfg(feature = "snapshot")]
pub(super) struct Codes<'a> {
    of: &'a Columns<'a>,
    name: String,
    slab: Vec<u8>,
    at: usize,
}

#[cfg(feature = "snapshot")]
impl Codes<'_> {
    #[inline]
    pub(super) fn next(&mut self) -> Result<u64> {
        // Nearly every number is small.
        if let Some(&code) = self.slab.get(self.at)
            && code < 0x80
        {
            self.at += 1;
            return Ok(code.into());
        }
        self.long()
    }

    fn long(&mut self) -> Result<u64> {
        let mut rest = self.slab.get(self.at..).unwrap_or_default();
        let before = rest.len();
        let code = super::varint::take(&mut rest).ok_or_else(|| self.bad("whole numbers"))?;
        self.at += before - rest.len();
        Ok(code)
    }

    /// The next number, which must be below `limit`.
    #[inline]
    pub(super) fn below(&mut self, limit: usize) -> Result<u32> {
        let code = self.next()?;
        u32::try_from(code)
            .ok()
            .filter(|&c| (c as usize) < limit)
            .ok_or_else(|| self.bad(&format!("ids below {limit}")))
    }

    /// Nothing may be left.
    pub(super) fn end(&self) -> Result<()> {
        if self.at == self.slab.len() {
            return Ok(());
        }
        Err(self.bad("no more numbers than rows"))
    }

    #[cold]
    pub(super) fn bad(&self, expected: &str) -> Error {
        self.of.bad(&self.name, expected)
    }
}
