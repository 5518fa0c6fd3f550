//! What is written in the picture: headings, what a row holds, sizes of blocks.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use report::analyze::snapshot::categories::Category;
use report::analyze::snapshot::state::StateBlock;
use report::model::snapshot::BlockState;

use super::super::flame::{fitting, ink_on};
use super::super::{Area, DrawError, category_color, failed, text_width, write};
use super::strip::free_color;
use super::{Frame, Line, Picture, What};
use crate::allocator::{pool_heading, span_name};
use crate::units::bytes;
use crate::words::Word;

/// Blocks narrower than so many CSS pixels carry no text.
const LABEL: f64 = 58.0;

impl Picture<'_> {
    /// Writes what belongs to a window whose upper edge is at `top` CSS pixels.
    ///
    /// # Errors
    /// What the backend reports.
    pub fn marks<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        top: f64,
        scale: f64,
    ) -> Result<(), DrawError> {
        let (width, height) = area.dim_in_pixel();
        let frame = Frame::of(width as usize, scale);
        let narrow = Frame::narrow(f64::from(width) / scale);
        for i in self.layout.between(top, top + f64::from(height) / scale) {
            let Some(line) = self.layout.lines.get(i) else {
                continue;
            };
            let y = (line.top - top) * scale;
            match line.what {
                What::Heading(pool) => {
                    self.heading(area, (y, line.height * scale), pool, narrow, scale)?;
                }
                What::Row { .. } => self.row(area, y, line, frame, narrow, scale)?,
            }
        }
        Ok(())
    }

    fn heading<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        (y, height): (f64, f64),
        pool: Option<u32>,
        narrow: bool,
        scale: f64,
    ) -> Result<(), DrawError> {
        let (name, figures) = match pool {
            Some(i) => match self.pools.get(i as usize) {
                Some(pool) => pool_heading(self.names, pool, self.lang),
                None => return Ok(()),
            },
            None => crate::allocator::all_heading(self.names.analysis(), self.state, self.lang),
        };
        let size = 12.0 * scale;
        let room = f64::from(area.dim_in_pixel().0);
        let line = if narrow { height / 2.0 } else { height };
        let middle = |n: f64| (y + line * (n + 0.5)) as i32;
        write(
            area,
            &name,
            (0, middle(0.0)),
            size,
            self.theme.ink,
            HPos::Left,
            VPos::Center,
        )?;
        let (x, n) = if narrow {
            (0.0, 1.0)
        } else {
            (text_width(&name, size) + 10.0 * scale, 0.0)
        };
        let figures = fitting(&figures, room - x, size);
        let at = (x as i32, middle(n));
        write(
            area,
            &figures,
            at,
            size,
            self.theme.muted,
            HPos::Left,
            VPos::Center,
        )
    }

    fn row<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        y: f64,
        line: &Line,
        frame: Frame,
        narrow: bool,
        scale: f64,
    ) -> Result<(), DrawError> {
        let middle = (y + (line.height - 3.0) / 2.0 * scale) as i32;
        let size = 11.0 * scale;
        let at = ((frame.left as f64 - 6.0 * scale) as i32, middle);
        let held = self.holds(line, narrow);
        write(
            area,
            &held,
            at,
            size,
            self.theme.muted,
            HPos::Right,
            VPos::Center,
        )?;
        let per_byte = frame.width as f64 / self.layout.row as f64;
        for piece in self.layout.pieces_of(line) {
            let Some(here) = self.state.spans.get(piece.span as usize) else {
                continue;
            };
            let Some(span) = self.names.analysis().replay.spans.get(here.span) else {
                continue;
            };
            let (low, high) = (span.address + piece.from, span.address + piece.to);
            let first = here.blocks.partition_point(|b| b.address + b.size <= low);
            for block in here
                .blocks
                .iter()
                .skip(first)
                .take_while(|b| b.address < high)
            {
                let (a, z) = (
                    block.address.max(low),
                    (block.address + block.size).min(high),
                );
                let room = (z - a) as f64 * per_byte;
                // What goes on from the row above has said there what it is, where it had room.
                let above = a.saturating_sub(block.address).min(self.layout.row);
                let said = above as f64 * per_byte >= LABEL * scale;
                if room < LABEL * scale || said {
                    continue;
                }
                let x = frame.left as f64 + (piece.at + (a - low)) as f64 * per_byte;
                let (mut text, ink) = self.label(block, room - 10.0 * scale, size);
                // A block that goes on from the row above is one block.
                if a > block.address {
                    text = format!("… {}", bytes(z - a));
                }
                let at = ((x + 5.0 * scale) as i32, middle);
                if block.state == BlockState::PendingFree {
                    // Stripes behind letters cannot be read.
                    let color = block.allocation.map(|id| self.color(id));
                    let color =
                        color.unwrap_or_else(|| category_color(Category::Unknown, self.theme.dark));
                    let half = (line.height - 3.0) / 2.0 * scale;
                    let wide = (text_width(&text, size) + 8.0 * scale).min(room);
                    let plate = [
                        (x as i32, (f64::from(middle) - half) as i32),
                        ((x + wide) as i32, (f64::from(middle) + half) as i32),
                    ];
                    area.draw(&Rectangle::new(plate, color.filled()))
                        .map_err(failed)?;
                }
                write(area, &text, at, size, ink, HPos::Left, VPos::Center)?;
            }
        }
        Ok(())
    }

    /// What a block says: its size, and what it is where that fits too.
    fn label(&self, block: &StateBlock, room: f64, size: f64) -> (String, RGBColor) {
        let sized = bytes(block.size);
        let (more, ink) = match block.allocation {
            None if block.state != BlockState::Inactive => {
                let color = category_color(Category::Unknown, self.theme.dark);
                (Word::NotInHistory.text(self.lang).to_owned(), ink_on(color))
            }
            None => (
                Word::Free.text(self.lang).to_owned(),
                ink_on(free_color(&self.theme)),
            ),
            Some(id) => {
                let stack = self.names.analysis().replay.allocations.stack(id);
                let line = stack.and_then(|s| self.names.analysis().sites().line(s));
                let place = line.map(|f| self.names.place(f));
                (place.unwrap_or_default(), ink_on(self.color(id)))
            }
        };
        let full = format!("{sized} {more}");
        let text = if !more.is_empty() && text_width(&full, size) <= room {
            full
        } else {
            fitting(&sized, room, size)
        };
        (text, ink)
    }

    /// What a row holds: the range that begins in it, or how many do.
    fn holds(&self, line: &Line, narrow: bool) -> String {
        let begin = || self.layout.pieces_of(line).iter().filter(|p| p.from == 0);
        let span = |p: &super::Piece| {
            let id = self.state.spans.get(p.span as usize)?.span;
            Some((id, self.names.analysis().replay.spans.get(id)?.size))
        };
        let mut all = begin().filter_map(span);
        let Some((id, size)) = all.next() else {
            return String::new();
        };
        let n = begin().count();
        if n == 1 {
            let sized = bytes(size);
            return if narrow {
                sized
            } else {
                format!("{} {sized}", span_name(self.names.analysis(), id))
            };
        }
        if !narrow && all.all(|(_, other)| other == size) {
            format!("{n} × {}", bytes(size))
        } else if narrow {
            format!("{n} ×")
        } else {
            crate::allocator::segments(n as u64, self.lang)
        }
    }
}
