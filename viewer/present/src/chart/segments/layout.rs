//! Which range lies in which row.

use report::analyze::snapshot::replay::Replay;
use report::analyze::snapshot::state::{Pool, State};

/// Height of a row in CSS pixels, the gap below it included.
const ROW: f64 = 19.0;
/// Height of a line of text.
const TEXT: f64 = 17.0;
/// Space above the heading of every pool but the first.
const ABOVE: f64 = 7.0;
/// Rows that the most reserved memory of a history takes at most and at least.
const ROWS: (u64, u64) = (36, 14);
/// Bytes of a row at least: those of the smallest segment.
const LEAST: u64 = 2 << 20;

/// The order of ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Largest first; equals in order of birth, so that new ones come last.
    #[default]
    Size,
    /// By address.
    Address,
}

/// How ranges are arranged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arrange {
    /// Their order.
    pub order: Order,
    /// Whether pools and streams stand apart, each under its heading.
    pub apart: bool,
    /// Bytes of a full row.
    pub row: u64,
    /// Whether headings take two lines of text.
    pub narrow: bool,
}

/// A range, or a part of one that goes on in the next row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Place of the range in [`State::spans`].
    pub span: u32,
    /// First byte, counted from the beginning of the range.
    pub from: u64,
    /// The byte behind the last.
    pub to: u64,
    /// Where it begins in its row, bytes.
    pub at: u64,
}

/// What a line holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The heading of a pool, by its place in the list of pools; `None` stands for all of them.
    Heading(Option<u32>),
    /// Pieces, by their places in [`Layout::pieces`].
    Row {
        /// The first.
        first: u32,
        /// The one behind the last.
        past: u32,
    },
}

/// A line of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Its upper edge in CSS pixels.
    pub top: f64,
    /// Its height in CSS pixels.
    pub height: f64,
    /// What it holds.
    pub what: What,
}

/// Where everything lies.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layout {
    /// The lines from top to bottom.
    pub lines: Vec<Line>,
    /// The pieces, row by row.
    pub pieces: Vec<Piece>,
    /// Height of all, CSS pixels.
    pub height: f64,
    /// Bytes of a full row.
    pub row: u64,
}

/// Bytes of a row with which the most that was ever reserved fits on a screen: those of the largest
/// range where that makes neither too many rows nor too few, or an equal part of it.
#[must_use]
pub fn fitting_row(replay: &Replay) -> u64 {
    let peak = replay.peak_reserved().bytes;
    let largest = replay.spans.rows.iter().map(|s| s.size).max().unwrap_or(0);
    let (most, fewest) = ROWS;
    let widest = peak.div_ceil(fewest).max(LEAST);
    let parts = largest.div_ceil(widest).max(1);
    largest.div_ceil(parts).max(peak / most).max(LEAST)
}

/// Arranges the ranges of a state. `pools` are those of the state.
#[must_use]
pub fn layout(replay: &Replay, state: &State, pools: &[Pool], arrange: Arrange) -> Layout {
    let mut out = Layout {
        row: arrange.row.max(1),
        ..Layout::default()
    };
    if arrange.apart {
        for (i, pool) in pools.iter().enumerate() {
            out.group(replay, state, Some(i as u32), pool.spans.clone(), arrange);
        }
    } else {
        let all = (0..state.spans.len() as u32).collect();
        out.group(replay, state, None, all, arrange);
    }
    out
}

impl Layout {
    fn group(
        &mut self,
        replay: &Replay,
        state: &State,
        heading: Option<u32>,
        mut spans: Vec<u32>,
        arrange: Arrange,
    ) {
        let size_of = |i: u32| {
            let here = state.spans.get(i as usize);
            here.and_then(|h| replay.spans.get(h.span))
                .map_or(0, |s| s.size)
        };
        if arrange.order == Order::Size {
            let born = |i: u32| state.spans.get(i as usize).map(|h| h.span);
            spans.sort_by_key(|&i| (std::cmp::Reverse(size_of(i)), born(i)));
        }
        if !self.lines.is_empty() {
            self.height += ABOVE;
        }
        let text = if arrange.narrow { 2.0 * TEXT } else { TEXT };
        self.line(text + 2.0, What::Heading(heading));
        let mut first = self.pieces.len();
        let mut at = 0;
        for span in spans {
            let size = size_of(span);
            if at > 0 && size > self.row - at {
                self.row_of(&mut first);
                at = 0;
            }
            let mut from = 0;
            while from < size {
                let to = size.min(from + (self.row - at));
                self.pieces.push(Piece { span, from, to, at });
                at += to - from;
                from = to;
                if at == self.row {
                    self.row_of(&mut first);
                    at = 0;
                }
            }
        }
        self.row_of(&mut first);
    }

    /// Ends the row of the pieces from `first` on.
    fn row_of(&mut self, first: &mut usize) {
        let past = self.pieces.len();
        if past > *first {
            let what = What::Row {
                first: *first as u32,
                past: past as u32,
            };
            self.line(ROW, what);
            *first = past;
        }
    }

    fn line(&mut self, height: f64, what: What) {
        self.lines.push(Line {
            top: self.height,
            height,
            what,
        });
        self.height += height;
    }

    /// The pieces of a line; none for a heading.
    #[must_use]
    pub fn pieces_of(&self, line: &Line) -> &[Piece] {
        match line.what {
            What::Heading(_) => &[],
            What::Row { first, past } => self
                .pieces
                .get(first as usize..past as usize)
                .unwrap_or_default(),
        }
    }

    /// The places of the lines that lie between two heights, CSS pixels.
    #[must_use]
    pub fn between(&self, top: f64, bottom: f64) -> std::ops::Range<usize> {
        let first = self.lines.partition_point(|l| l.top + l.height <= top);
        let past = self.lines.partition_point(|l| l.top < bottom);
        first..past.max(first)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::chart::Theme;
    use crate::chart::segments::{Frame, Picture};
    use crate::names::Names;
    use crate::words::Lang;
    use report::analyze::snapshot::state::pools;
    use report::analyze::snapshot::{Analysis, Instant};

    const MIB: u64 = 1 << 20;

    /// Segments of these sizes in MiB, each with a block of 7/16 of it; every third on a stream of
    /// its own.
    fn analysis(sizes: &[u64]) -> Arc<Analysis> {
        let mut events = Vec::new();
        for (i, mib) in sizes.iter().enumerate() {
            let (address, stream) = (0x7000_0000_0000 + ((i as u64) << 32), u64::from(i % 3 == 2));
            for (action, size) in [("segment_alloc", mib * MIB), ("alloc", mib * MIB / 16 * 7)] {
                events.push(format!(
                    r#"{{"action": "{action}", "addr": {address}, "size": {size}, "stream": {stream}}}"#
                ));
            }
        }
        let json = format!(
            r#"{{"segments": [], "device_traces": [[{}]]}}"#,
            events.join(",")
        );
        let rank = report::read::snapshot::read_json("made", json.as_bytes()).unwrap();
        Arc::new(Analysis::of(Arc::new(rank)).unwrap())
    }

    #[test]
    fn every_byte_has_its_place_and_no_other() {
        let a = analysis(&[20, 2, 400, 120, 2, 2, 64, 20]);
        let state = a.state_at(Instant::End);
        let by_pool = pools(&a.replay, &state);
        assert_eq!(by_pool.len(), 2);
        for row in [fitting_row(&a.replay), 7 * MIB, 1000 * MIB] {
            for (order, apart) in [
                (Order::Size, true),
                (Order::Address, true),
                (Order::Size, false),
            ] {
                let arrange = Arrange {
                    order,
                    apart,
                    row,
                    narrow: false,
                };
                let l = layout(&a.replay, &state, &by_pool, arrange);
                let headings = l.lines.iter().filter(|x| l.pieces_of(x).is_empty()).count();
                assert_eq!(headings, if apart { 2 } else { 1 });
                let mut shown = vec![0u64; state.spans.len()];
                for line in &l.lines {
                    let mut next = 0;
                    for p in l.pieces_of(line) {
                        assert!(p.at >= next && p.at + (p.to - p.from) <= row);
                        next = p.at + (p.to - p.from);
                        assert_eq!(p.from, shown[p.span as usize]);
                        shown[p.span as usize] = p.to;
                    }
                }
                for (i, here) in state.spans.iter().enumerate() {
                    assert_eq!(shown[i], a.replay.spans.get(here.span).unwrap().size);
                }
            }
        }
    }

    #[test]
    fn what_is_outlined_is_found_there_again() {
        let a = analysis(&[20, 2, 400, 120, 2, 2, 64, 20]);
        let names = Names::of(Arc::clone(&a));
        let state = a.state_at(Instant::End);
        let by_pool = pools(&a.replay, &state);
        let arrange = Arrange {
            order: Order::Size,
            apart: true,
            row: fitting_row(&a.replay),
            narrow: false,
        };
        let l = layout(&a.replay, &state, &by_pool, arrange);
        let picture = Picture {
            names: &names,
            state: &state,
            pools: &by_pool,
            layout: &l,
            theme: Theme::LIGHT,
            lang: Lang::En,
        };
        let (width, height) = (1000.0, l.height.ceil() as usize);
        let pixels = picture.pixels((width as usize, height), 0.0, 1.0);
        let mut seen = 0;
        for (i, here) in state.spans.iter().enumerate() {
            for block in &here.blocks {
                for o in picture.outlines(width, i, block.address, block.size) {
                    if o.width < 6.0 {
                        continue;
                    }
                    let (x, y) = (o.left + o.width / 2.0, o.top + o.height / 2.0);
                    assert_eq!(picture.block_at(width, x, y), Some((i, *block)));
                    let free = pixels.get(x as usize, y as usize) == Some(Theme::LIGHT.grid);
                    assert_eq!(free, block.allocation.is_none());
                    seen += 1;
                }
            }
        }
        assert!(seen > 10, "{seen}");
        let left = Frame::of(1000, 1.0).left as f64;
        assert_eq!(picture.block_at(width, left - 1.0, l.height / 2.0), None);
        assert_eq!(picture.block_at(width, left + 1.0, 3.0), None, "a heading");
    }

    #[test]
    fn a_row_is_the_largest_segment_or_an_equal_part_of_it() {
        assert_eq!(fitting_row(&analysis(&[120; 24]).replay), 120 * MIB);
        let two = fitting_row(&analysis(&[64, 64, 64, 32, 32, 16, 16, 20, 2, 2, 4]).replay);
        // An equal part, to the byte that rounding takes.
        let parts = (64 * MIB + two / 2) / two;
        assert!(parts > 1 && (parts * two).abs_diff(64 * MIB) < 64, "{two}");
        assert_eq!(fitting_row(&analysis(&[2]).replay), 2 * MIB);
    }
}
