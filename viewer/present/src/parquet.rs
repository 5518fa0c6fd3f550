//! Tables as [Apache Parquet](https://parquet.apache.org/docs/file-format/).
//!
//! A writer of the small part of the format that tables of numbers and text need, since the crates
//! for the whole of it bring dozens of others along: every column is optional; numbers are plain,
//! texts come from a dictionary; pages are gzip-compressed, one a column and row group.

use std::collections::HashMap;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::rows::{Cell, Rows};
use crate::words::Lang;

/// Rows in a row group at most, so that memory does not grow with the table.
const GROUP: usize = 65_536;
const MAGIC: &[u8] = b"PAR1";

/// The physical types that are used, by their numbers in the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int64 = 2,
    Double = 5,
    Text = 6,
}

/// Where a column of a row group is.
struct Chunk {
    kind: Kind,
    name: &'static str,
    values: i64,
    dictionary: Option<i64>,
    data: i64,
    plain: i64,
    compressed: i64,
}

/// Writes a table. Unknown figures and empty texts are null.
///
/// # Errors
/// What `out` reports.
pub fn write(rows: &dyn Rows, lang: Lang, out: impl Write) -> io::Result<()> {
    let mut out = Counted { out, at: 0 };
    let columns = rows.columns();
    let kinds: Vec<Kind> = columns
        .iter()
        .enumerate()
        .map(|(i, c)| match rows.cell(0, i, lang) {
            Cell::Share(_) => Kind::Double,
            Cell::Text(_) if !c.figure => Kind::Text,
            _ => Kind::Int64,
        })
        .collect();
    out.write_all(MAGIC)?;
    let mut groups: Vec<(usize, Vec<Chunk>)> = Vec::new();
    for first in (0..rows.len()).step_by(GROUP) {
        let past = (first + GROUP).min(rows.len());
        let mut chunks = Vec::new();
        for (i, (column, &kind)) in columns.iter().zip(&kinds).enumerate() {
            let cells = (first..past).map(|r| rows.cell(r, i, lang));
            chunks.push(chunk(&mut out, column.id, kind, cells, past - first)?);
        }
        groups.push((past - first, chunks));
    }
    let names: Vec<&'static str> = columns.iter().map(|c| c.id).collect();
    let footer = footer(&names, &kinds, rows.len(), &groups);
    out.write_all(&footer)?;
    out.write_all(&(footer.len() as u32).to_le_bytes())?;
    out.write_all(MAGIC)
}

struct Counted<W> {
    out: W,
    at: i64,
}

impl<W: Write> Counted<W> {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as i64;
        self.out.write_all(bytes)
    }
}

fn chunk<'a>(
    out: &mut Counted<impl Write>,
    name: &'static str,
    kind: Kind,
    cells: impl Iterator<Item = Cell<'a>>,
    n: usize,
) -> io::Result<Chunk> {
    let mut present = Vec::with_capacity(n);
    let mut plain: Vec<u8> = Vec::new();
    let mut texts: HashMap<String, u32> = HashMap::new();
    let mut words: Vec<u8> = Vec::new();
    let mut indices: Vec<u32> = Vec::new();
    for cell in cells {
        let number = match &cell {
            Cell::Bytes(v) => v.map(|v| i64::try_from(v).unwrap_or(i64::MAX)),
            Cell::Delta(v) | Cell::Count(v) => *v,
            Cell::Share(_) | Cell::Text(_) => None,
        };
        present.push(match (kind, &cell) {
            (Kind::Int64, _) => {
                plain.extend(number.map(i64::to_le_bytes).into_iter().flatten());
                number.is_some()
            }
            (Kind::Double, Cell::Share(Some(v))) => {
                plain.extend(v.to_le_bytes());
                true
            }
            (Kind::Text, Cell::Text(t)) if !t.is_empty() => {
                let new = texts.len() as u32;
                let known = texts.get(t.as_ref()).copied();
                indices.push(known.unwrap_or_else(|| {
                    words.extend((t.len() as u32).to_le_bytes());
                    words.extend(t.as_bytes());
                    texts.insert(t.as_ref().to_owned(), new);
                    new
                }));
                true
            }
            _ => false,
        });
    }
    let mut sizes = (0, 0);
    let dictionary = if kind == Kind::Text {
        let at = out.at;
        let entries = texts.len() as i32;
        page(out, &words, &mut sizes, |header| {
            header.i32(1, 2);
            (7, vec![(1, entries), (2, 0)])
        })?;
        let width = u32::BITS - (texts.len().max(1) as u32 - 1).leading_zeros();
        plain.push(width as u8);
        packed(&mut plain, &indices, width);
        Some(at)
    } else {
        None
    };
    let mut levels = Vec::new();
    let bits: Vec<u32> = present.iter().map(|&p| u32::from(p)).collect();
    packed(&mut levels, &bits, 1);
    let mut body = (levels.len() as u32).to_le_bytes().to_vec();
    body.append(&mut levels);
    body.append(&mut plain);
    let data = out.at;
    let encoding = if kind == Kind::Text { 8 } else { 0 };
    page(out, &body, &mut sizes, |header| {
        header.i32(1, 0);
        (5, vec![(1, n as i32), (2, encoding), (3, 3), (4, 3)])
    })?;
    Ok(Chunk {
        kind,
        name,
        values: n as i64,
        dictionary,
        data,
        plain: sizes.0,
        compressed: sizes.1,
    })
}

/// Writes a page with its header: `kind` writes the page's type and gives the field of the
/// header's part for it, with that part's numbers.
fn page(
    out: &mut Counted<impl Write>,
    body: &[u8],
    sizes: &mut (i64, i64),
    kind: impl FnOnce(&mut Thrift) -> (i16, Vec<(i16, i32)>),
) -> io::Result<()> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(body)?;
    let packed = gzip.finish()?;
    let mut header = Thrift::default();
    let (field, numbers) = kind(&mut header);
    header.i32(2, i32::try_from(body.len()).map_err(io::Error::other)?);
    header.i32(3, i32::try_from(packed.len()).map_err(io::Error::other)?);
    header.structure(field, |part| {
        for (id, number) in numbers {
            part.i32(id, number);
        }
    });
    let header = header.end();
    sizes.0 += (header.len() + body.len()) as i64;
    sizes.1 += (header.len() + packed.len()) as i64;
    out.write_all(&header)?;
    out.write_all(&packed)
}

/// One bit-packed run of the hybrid encoding, filled up with zeros to eight values.
fn packed(out: &mut Vec<u8>, values: &[u32], width: u32) {
    if values.is_empty() {
        return;
    }
    varint(out, (values.len().div_ceil(8) as u64) << 1 | 1);
    let (mut held, mut bits) = (0u64, 0);
    let filled = values.len().next_multiple_of(8);
    for i in 0..filled {
        held |= u64::from(values.get(i).copied().unwrap_or(0)) << bits;
        bits += width;
        while bits >= 8 {
            out.push(held as u8);
            held >>= 8;
            bits -= 8;
        }
    }
}

fn footer(
    names: &[&'static str],
    kinds: &[Kind],
    rows: usize,
    groups: &[(usize, Vec<Chunk>)],
) -> Vec<u8> {
    let mut t = Thrift::default();
    t.i32(1, 1);
    t.list(2, STRUCT, names.len() + 1, |t| {
        t.element(|root| {
            root.text(4, "table");
            root.i32(5, names.len() as i32);
        });
        for (name, &kind) in names.iter().zip(kinds) {
            t.element(|c| {
                c.i32(1, kind as i32);
                c.i32(3, 1);
                c.text(4, name);
                if kind == Kind::Text {
                    c.i32(6, 0);
                }
            });
        }
    });
    t.i64(3, rows as i64);
    t.list(4, STRUCT, groups.len(), |t| {
        for (n, chunks) in groups {
            t.element(|g| {
                g.list(1, STRUCT, chunks.len(), |t| {
                    for c in chunks {
                        t.element(|column| {
                            column.i64(2, c.dictionary.unwrap_or(c.data));
                            column.structure(3, |meta| describe(meta, c));
                        });
                    }
                });
                g.i64(2, chunks.iter().map(|c| c.plain).sum());
                g.i64(3, *n as i64);
            });
        }
    });
    t.text(6, concat!("memscope ", env!("CARGO_PKG_VERSION")));
    t.end()
}

fn describe(meta: &mut Thrift, c: &Chunk) {
    meta.i32(1, c.kind as i32);
    let encodings: &[i32] = if c.dictionary.is_some() {
        &[0, 3, 8]
    } else {
        &[0, 3]
    };
    meta.list(2, I32, encodings.len(), |t| {
        encodings.iter().for_each(|&e| t.zigzag(e.into()));
    });
    meta.list(3, BINARY, 1, |t| t.bytes(c.name));
    meta.i32(4, 2);
    meta.i64(5, c.values);
    meta.i64(6, c.plain);
    meta.i64(7, c.compressed);
    meta.i64(9, c.data);
    if let Some(at) = c.dictionary {
        meta.i64(11, at);
    }
}

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// Thrift's compact protocol, as far as it is needed; fields are written in ascending order.
#[derive(Default)]
struct Thrift {
    out: Vec<u8>,
    last: i16,
}

impl Thrift {
    fn field(&mut self, id: i16, kind: u8) {
        let step = id - self.last;
        // Ids here are below 16, so a step always fits.
        self.out.push((step as u8) << 4 | kind);
        self.last = id;
    }

    fn zigzag(&mut self, value: i64) {
        varint(&mut self.out, (value << 1 ^ value >> 63) as u64);
    }

    fn i32(&mut self, id: i16, value: i32) {
        self.field(id, I32);
        self.zigzag(value.into());
    }

    fn i64(&mut self, id: i16, value: i64) {
        self.field(id, I64);
        self.zigzag(value);
    }

    fn bytes(&mut self, text: &str) {
        varint(&mut self.out, text.len() as u64);
        self.out.extend(text.as_bytes());
    }

    fn text(&mut self, id: i16, text: &str) {
        self.field(id, BINARY);
        self.bytes(text);
    }

    fn structure(&mut self, id: i16, fields: impl FnOnce(&mut Self)) {
        self.field(id, STRUCT);
        self.element(fields);
    }

    fn element(&mut self, fields: impl FnOnce(&mut Self)) {
        let around = std::mem::take(&mut self.last);
        fields(self);
        self.out.push(0);
        self.last = around;
    }

    fn list(&mut self, id: i16, kind: u8, n: usize, elements: impl FnOnce(&mut Self)) {
        self.field(id, LIST);
        if n < 15 {
            self.out.push((n as u8) << 4 | kind);
        } else {
            self.out.push(0xf0 | kind);
            varint(&mut self.out, n as u64);
        }
        elements(self);
    }

    fn end(mut self) -> Vec<u8> {
        self.out.push(0);
        self.out
    }
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
