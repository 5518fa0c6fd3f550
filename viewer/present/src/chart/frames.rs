//! A tree of frames as boxes for [`flame`](super::flame()).

use report::analyze::snapshot::categories::Category;
use report::analyze::snapshot::flame::{Flame, NodeId};
use report::analyze::snapshot::group::main_category;

use super::flame::FlameBox;
use super::{Theme, category_color, mixed};
use crate::names::Names;
use crate::words::{Lang, Word};

/// A box with the node that it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameBox {
    /// The node.
    pub node: NodeId,
    /// What is drawn.
    pub shape: FlameBox,
}

/// The boxes of a tree with `top` over the full width: the frames above it, itself, and what lies
/// below. Boxes that come out narrower than a third of a pixel in `width` pixels are left out.
/// `categories` are those of [`by_category`](report::analyze::snapshot::flame::by_category); a box
/// has the colour of the category of most of its bytes.
#[must_use]
pub fn frame_boxes(
    names: &Names,
    tree: &Flame,
    categories: &[[u64; Category::ALL.len()]],
    top: NodeId,
    width: f64,
    theme: &Theme,
    lang: Lang,
) -> Vec<FrameBox> {
    let starts = tree.starts();
    let Some(whole) = tree.get(top) else {
        return Vec::new();
    };
    let start = starts.get(top.0 as usize).copied().unwrap_or(0);
    let end = start.saturating_add(whole.bytes);
    let narrow = whole.bytes as f64 / width.max(1.0) / 3.0;
    let mut above = vec![top];
    while let Some(parent) = above
        .last()
        .and_then(|&id| tree.get(id))
        .and_then(|n| n.parent)
    {
        above.push(parent);
    }
    let mut out = Vec::new();
    for (i, node) in tree.nodes.iter().enumerate() {
        let id = NodeId(i as u32);
        let from = starts.get(i).copied().unwrap_or(0);
        let ancestor = above.contains(&id);
        let inside = node.depth > whole.depth && from >= start && from < end;
        if !ancestor && (!inside || (node.bytes as f64) < narrow) {
            continue;
        }
        let label = match (node.frame, node.parent) {
            (Some(frame), _) => names.whole(frame),
            (None, Some(_)) => names.nowhere(lang).to_owned(),
            (None, None) => Word::Everything.text(lang).to_owned(),
        };
        let category = categories.get(i).map_or(Category::Unknown, main_category);
        let color = category_color(category, theme.dark);
        out.push(FrameBox {
            node: id,
            shape: FlameBox {
                depth: node.depth,
                start: from,
                bytes: node.bytes,
                label: format!("{label}  {}", crate::units::bytes(node.bytes)),
                // What lies above the chosen frame is context.
                color: if ancestor && id != top {
                    mixed(color, theme.ground, 0.35)
                } else {
                    color
                },
            },
        });
    }
    out
}
