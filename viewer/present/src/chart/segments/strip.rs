//! One row as colours, a pixel column each. What is narrower than a pixel counts by its part of it.

use plotters::style::RGBColor;
use report::analyze::snapshot::allocations::AllocationId;
use report::analyze::snapshot::categories::Category;
use report::analyze::snapshot::replay::Replay;
use report::analyze::snapshot::state::{State, StateBlock};
use report::model::snapshot::BlockState;

use super::super::{Color, Theme, category_color};
use super::Piece;

/// The colours of a row.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Strip {
    /// By pixel column: the colour, and whether it is hatched. `None` is ground.
    pub(super) cells: Vec<Option<(Color, bool)>>,
}

/// The colour of free memory.
pub(super) fn free_color(theme: &Theme) -> Color {
    theme.grid
}

/// The colour of what a block has beyond what was asked for.
pub(super) fn rounding_color(theme: &Theme) -> Color {
    theme.high_water
}

#[derive(Clone, Copy, Default)]
struct Sum {
    rgb: [f32; 3],
    cover: f32,
    pending: f32,
}

struct Sums(Vec<Sum>);

impl Sums {
    /// Adds a colour between two places, pixels.
    fn add(&mut self, from: f64, to: f64, RGBColor(r, g, b): Color, pending: bool) {
        let from = from.max(0.0);
        let to = to.min(self.0.len() as f64);
        if from >= to {
            return;
        }
        let (first, past) = (from as usize, to.ceil() as usize);
        for (i, cell) in self.0.iter_mut().enumerate().take(past).skip(first) {
            let part = ((i + 1) as f64).min(to) - (i as f64).max(from);
            let part = part as f32;
            for (sum, value) in cell.rgb.iter_mut().zip([r, g, b]) {
                *sum += f32::from(value) * part;
            }
            cell.cover += part;
            if pending {
                cell.pending += part;
            }
        }
    }
}

/// Colours a row of `width` pixels that stands for `row` bytes.
pub(super) fn strip(
    replay: &Replay,
    state: &State,
    pieces: &[Piece],
    (row, width, scale): (u64, usize, f64),
    theme: &Theme,
    paint: &dyn Fn(AllocationId) -> Color,
) -> Strip {
    let mut sums = Sums(vec![Sum::default(); width]);
    let per_byte = width as f64 / row as f64;
    for piece in pieces {
        let Some(here) = state.spans.get(piece.span as usize) else {
            continue;
        };
        let Some(span) = replay.spans.get(here.span) else {
            continue;
        };
        let (low, high) = (span.address + piece.from, span.address + piece.to);
        let x = |address: u64| (piece.at + (address - low)) as f64 * per_byte;
        // A gap between ranges, where there is room for one.
        let whole = x(high) - x(low);
        let end = if piece.to == span.size && whole > 5.0 * scale {
            x(high) - 2.0 * scale
        } else {
            x(high)
        };
        let first = here.blocks.partition_point(|b| b.address + b.size <= low);
        for block in here
            .blocks
            .iter()
            .skip(first)
            .take_while(|b| b.address < high)
        {
            let to = block.address + block.size;
            let a = x(block.address.max(low));
            // The last block of a range may lie in the gap.
            let z = x(to.min(high)).min(end).max(a);
            // A line between blocks that are wide enough to spare it.
            let z = if z - a > 4.0 * scale && to < high {
                z - scale
            } else {
                z
            };
            let used = requested(replay, block);
            let pending = block.state == BlockState::PendingFree;
            match block.allocation {
                // In use at the end, but not in the history.
                None if block.state != BlockState::Inactive => {
                    sums.add(a, z, category_color(Category::Unknown, theme.dark), pending);
                }
                None => sums.add(a, z, free_color(theme), false),
                Some(id) => {
                    // What was asked for, then what the block has beyond that.
                    let asked = x((block.address + used).clamp(low, high)).max(a).min(z);
                    sums.add(a, asked, paint(id), pending);
                    sums.add(asked, z, rounding_color(theme), false);
                }
            }
        }
    }
    let cells = sums.0.iter().map(|s| cell(s, theme.ground)).collect();
    Strip { cells }
}

fn requested(replay: &Replay, block: &StateBlock) -> u64 {
    let size = block.allocation.map(|id| replay.allocations.size(id));
    size.unwrap_or(0).min(block.size)
}

fn cell(sum: &Sum, RGBColor(r, g, b): Color) -> Option<(Color, bool)> {
    if sum.cover < 0.02 {
        return None;
    }
    let rest = (1.0 - sum.cover).max(0.0);
    let whole = sum.cover + rest;
    let mix = |i: usize, ground: u8| {
        let part = sum.rgb.get(i).copied().unwrap_or(0.0) + f32::from(ground) * rest;
        (part / whole).round() as u8
    };
    let color = RGBColor(mix(0, r), mix(1, g), mix(2, b));
    Some((color, sum.pending * 2.0 > sum.cover))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_pixel_count_by_their_width() {
        let mut sums = Sums(vec![Sum::default(); 3]);
        sums.add(0.5, 2.25, RGBColor(200, 0, 0), false);
        sums.add(2.25, 9.0, RGBColor(0, 0, 100), true);
        let ground = RGBColor(100, 100, 100);
        let cells: Vec<_> = sums.0.iter().map(|s| cell(s, ground)).collect();
        assert_eq!(
            cells,
            [
                Some((RGBColor(150, 50, 50), false)),
                Some((RGBColor(200, 0, 0), false)),
                Some((RGBColor(50, 0, 75), true)),
            ]
        );
        assert_eq!(cell(&Sum::default(), ground), None);
    }
}
