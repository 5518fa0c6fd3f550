//! [`FlameRows`].

use std::sync::Arc;

use report::analyze::snapshot::flame::{Flame, NodeId};

use super::{known, number, said};
use crate::names::Names;
use crate::rows::{BLANK, Cell, Column, Rows, figure, text};
use crate::words::{Lang, Word};

/// A tree of frames as a table: what a flame graph shows, in figures.
#[derive(Debug)]
pub struct FlameRows {
    names: Arc<Names>,
    tree: Arc<Flame>,
    nodes: Vec<NodeId>,
}

impl FlameRows {
    /// The frames at and below `top`.
    #[must_use]
    pub fn below(names: Arc<Names>, tree: Arc<Flame>, top: NodeId) -> Self {
        // Parents come before their children.
        let mut inside = vec![false; tree.nodes.len()];
        let mut nodes = Vec::new();
        for (i, node) in tree.nodes.iter().enumerate() {
            let id = NodeId(i as u32);
            let yes = id == top
                || node
                    .parent
                    .and_then(|p| inside.get(p.0 as usize).copied())
                    .unwrap_or(false);
            if let Some(slot) = inside.get_mut(i) {
                *slot = yes;
            }
            if yes {
                nodes.push(id);
            }
        }
        Self { names, tree, nodes }
    }

    /// The node of a row.
    #[must_use]
    pub fn node(&self, row: usize) -> Option<NodeId> {
        self.nodes.get(row).copied()
    }
}

impl Rows for FlameRows {
    fn name(&self) -> &'static str {
        "live_frames"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                figure("bytes", Word::Size),
                figure("share", Word::Share),
                figure("own", Word::Own),
                figure("count", Word::HowMany),
                figure("depth", Word::Depth),
                text("function", Word::FunctionName),
                text("place", Word::Place),
            ]
        }
    }

    fn len(&self) -> usize {
        self.nodes.len()
    }

    fn cell(&self, row: usize, column: usize, lang: Lang) -> Cell<'_> {
        let node = self.nodes.get(row).and_then(|&id| self.tree.get(id));
        let Some(n) = node else { return BLANK };
        let whole = self.tree.nodes.first().map_or(0, |r| r.bytes);
        match column {
            0 => Cell::Bytes(Some(n.bytes)),
            1 => Cell::Share((whole > 0).then(|| n.bytes as f64 / whole as f64)),
            2 => Cell::Bytes(Some(n.own)),
            3 => number(n.count),
            4 => number(u64::from(n.depth)),
            5 => match (n.frame, n.parent) {
                (Some(f), _) => Cell::Text(self.names.function(f)),
                (None, None) => said(Word::Everything, lang),
                (None, Some(_)) => Cell::Text(self.names.nowhere(lang).into()),
            },
            6 => known(n.frame.map(|f| self.names.place(f).into())),
            _ => BLANK,
        }
    }
}
