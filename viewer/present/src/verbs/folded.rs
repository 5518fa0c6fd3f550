//! Folded stacks, which every flame graph tool reads, and their drawing as SVG.

use std::collections::HashMap;
use std::fmt::Write as _;

use report::analyze::snapshot::allocations::AllocationId;
use report::analyze::snapshot::group::{By, Key, group};
use report::analyze::snapshot::{Analysis, Instant, Named};
use report::model::snapshot::BlockState;

use super::{missing_since, nowhere, path, stream};
use crate::chart::{self, Color, DrawError, FLAME_ROW, FlameBox, Theme, mixed, phase_color};
use crate::units::bytes;
use crate::visible::visible;
use crate::words::{Lang, Word};

/// Width of a drawing in pixels.
const WIDTH: u32 = 1600;
/// Deeper levels than this are not drawn.
const DEEPEST: usize = 200;

/// Paths, root first, each with its bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folded {
    /// A path may stand here more than once.
    pub rows: Vec<(Vec<String>, u64)>,
}

impl Folded {
    /// One line a path: names joined by `;`, a space, bytes.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (path, bytes) in &self.rows {
            let _ = writeln!(out, "{} {bytes}", visible(&path.join(";")));
        }
        out
    }
}

/// Requested bytes of `ids` by stack. Files with their whole paths where `whole`.
fn by_stack(a: &Analysis, ids: &[AllocationId], whole: bool) -> Folded {
    let groups = group(&a.replay, a.sites(), a.categories(), ids, By::Stack);
    let rows = groups
        .into_iter()
        .map(|g| {
            let frames = match g.key {
                Key::Stack(Some(s)) => path(a, s, whole),
                _ => Vec::new(),
            };
            let named = if frames.is_empty() {
                vec![nowhere(a, Lang::En).to_owned()]
            } else {
                frames
            };
            (named, g.bytes)
        })
        .collect();
    Folded { rows }
}

/// What lives at an instant, requested bytes by stack.
#[must_use]
pub fn live(a: &Analysis, at: Instant, whole: bool) -> Folded {
    by_stack(a, &a.live_at(at), whole)
}

/// Everything that the history allocated, and what was there before, requested bytes by stack.
#[must_use]
pub fn made(a: &Analysis) -> Folded {
    let ids: Vec<AllocationId> = a.replay.allocations.ids().collect();
    by_stack(a, &ids, true)
}

/// The words that torch has for the states of blocks.
#[must_use]
pub(super) fn state_word(state: BlockState) -> &'static str {
    match state {
        BlockState::Allocated => "active_allocated",
        BlockState::PendingFree => "active_pending_free",
        BlockState::Inactive => "inactive",
    }
}

/// The reserved bytes at an instant: stream, segment, state, stack. They add up to what is
/// reserved; what rounding costs is a path of its own.
#[must_use]
pub fn blocks(a: &Analysis, at: Instant, whole: bool) -> Folded {
    let mut out = Folded::default();
    for here in a.state_at(at).spans {
        let Some(span) = a.replay.spans.get(here.span) else {
            continue;
        };
        let base = [
            format!("stream_{}", stream(a, span.stream)),
            a.name(Named::Span(here.span)),
        ];
        for block in here.blocks {
            let mut row = base.to_vec();
            row.push(state_word(block.state).to_owned());
            if block.state == BlockState::Inactive {
                out.rows.push((row, block.size));
                continue;
            }
            let allocation = block.allocation.and_then(|id| a.replay.allocations.get(id));
            let asked = allocation.map_or(block.size, |al| al.size.min(block.size));
            if block.size > asked {
                let mut lost = row.clone();
                lost.push("<rounding>".to_owned());
                out.rows.push((lost, block.size - asked));
            }
            let frames = allocation
                .and_then(|al| al.stack)
                .map(|s| path(a, s, whole));
            match frames.filter(|f| !f.is_empty()) {
                Some(frames) => row.extend(frames),
                None => {
                    let born = allocation.and_then(|al| al.born);
                    row.push(missing_since(a, born, Lang::En).to_owned());
                }
            }
            out.rows.push((row, asked));
        }
    }
    out
}

/// A node of the drawing.
struct Node {
    name: String,
    bytes: u64,
    children: Vec<usize>,
}

/// Draws paths as an icicle, the root on top.
///
/// # Errors
/// What the drawing reports.
pub fn svg(folded: &Folded, title: &str, theme: &Theme) -> Result<String, DrawError> {
    let nodes = tree(folded);
    let mut boxes = Vec::new();
    let mut depth = 0;
    // Nodes to draw with their depth and start.
    let mut todo = vec![(0usize, 0u32, 0u64)];
    while let Some((i, level, start)) = todo.pop() {
        let Some(node) = nodes.get(i) else { continue };
        depth = depth.max(level);
        let name = if i == 0 { title } else { &node.name };
        boxes.push(FlameBox {
            depth: level,
            start,
            bytes: node.bytes,
            label: format!("{} {}", visible(name), bytes(node.bytes)),
            color: color(name, level, theme),
        });
        let mut at = start;
        for &child in &node.children {
            todo.push((child, level + 1, at));
            at = at.saturating_add(nodes.get(child).map_or(0, |n| n.bytes));
        }
    }
    let whole = nodes.first().map_or(0, |n| n.bytes);
    let height = (f64::from(depth + 1) * FLAME_ROW).ceil() as u32;
    chart::svg(WIDTH, height.max(1), |area| {
        chart::flame(area, &boxes, (0, whole.max(1)), theme, 1.0)
    })
}

/// Paths merged from their roots; children with most bytes first.
fn tree(folded: &Folded) -> Vec<Node> {
    let node = |name: &str| Node {
        name: name.to_owned(),
        bytes: 0,
        children: Vec::new(),
    };
    let mut nodes = vec![node("")];
    let mut known: HashMap<(usize, &str), usize> = HashMap::new();
    for (path, size) in &folded.rows {
        let mut at = 0;
        if let Some(root) = nodes.first_mut() {
            root.bytes = root.bytes.saturating_add(*size);
        }
        for name in path.iter().take(DEEPEST) {
            let next = *known.entry((at, name)).or_insert_with(|| {
                nodes.push(node(name));
                let new = nodes.len() - 1;
                if let Some(parent) = nodes.get_mut(at) {
                    parent.children.push(new);
                }
                new
            });
            at = next;
            if let Some(n) = nodes.get_mut(at) {
                n.bytes = n.bytes.saturating_add(*size);
            }
        }
    }
    let sizes: Vec<u64> = nodes.iter().map(|n| n.bytes).collect();
    for n in &mut nodes {
        n.children
            .sort_by_key(|&c| std::cmp::Reverse(sizes.get(c).copied()));
    }
    nodes
}

/// What stands where there is no stack.
const WITHOUT: [Word; 3] = [
    Word::NotRecorded,
    Word::NoPythonFrame,
    Word::NoStackOrFrames,
];

/// The same name has the same colour; what is free is pale.
fn color(name: &str, level: u32, theme: &Theme) -> Color {
    match name {
        _ if level == 0 || WITHOUT.iter().any(|w| name == w.text(Lang::En)) => theme.grid,
        "inactive" => theme.band,
        "<rounding>" => theme.high_water,
        _ => {
            let sum = name
                .bytes()
                .fold(0u32, |h, b| h.wrapping_mul(31).wrapping_add(b.into()));
            let tone = phase_color(sum as usize % 7 + 1, theme.dark);
            mixed(tone, theme.ground, 0.55)
        }
    }
}
