//! The tree of two recordings as boxes: colour and sign say the direction.

use report::analyze::diff::snapshot::LiveDiff;
use report::analyze::diff::snapshot::flame::{Flame, Node};
use report::analyze::snapshot::flame::NodeId;

use super::theme::mixed;
use super::{Color, FlameBox, Theme};
use crate::units::{bytes, delta};
use crate::words::{Lang, Word};

/// Boxes narrower than this part of what is shown are left out.
const THIN: u64 = 3000;

/// A box and the node that it stands for.
#[derive(Debug, Clone)]
pub struct SignedBox {
    /// What is drawn.
    pub flame: FlameBox,
    /// Its node.
    pub node: NodeId,
}

/// Boxes for a node and what is below it; its ancestors lie above it over the whole width.
#[must_use]
pub fn signed(
    live: &LiveDiff,
    tree: &Flame,
    of: NodeId,
    theme: &Theme,
    lang: Lang,
) -> Vec<SignedBox> {
    let starts = tree.starts();
    let get = |id: NodeId| tree.nodes.get(id.0 as usize);
    let start = |id: NodeId| starts.get(id.0 as usize).copied().unwrap_or(0);
    let Some(whole) = get(of) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    let mut above = whole.parent;
    while let Some(id) = above {
        let Some(node) = get(id) else { break };
        let mut b = one(live, id, node, start(of), theme, lang);
        b.flame.bytes = whole.width;
        out.push(b);
        above = node.parent;
    }
    // Depth first: the nodes below come right behind it.
    let first = of.0 as usize;
    let below = tree.nodes.iter().enumerate().skip(first);
    for (i, node) in below.take_while(|(i, n)| *i == first || n.depth > whole.depth) {
        if node.width.saturating_mul(THIN) >= whole.width && node.width > 0 {
            let id = NodeId(i as u32);
            out.push(one(live, id, node, start(id), theme, lang));
        }
    }
    out
}

fn one(
    live: &LiveDiff,
    id: NodeId,
    node: &Node,
    start: u64,
    theme: &Theme,
    lang: Lang,
) -> SignedBox {
    SignedBox {
        flame: FlameBox {
            depth: node.depth,
            start,
            bytes: node.width,
            label: label(live, node, lang),
            color: color(node, theme),
        },
        node: id,
    }
}

/// `▲ +800 MiB model.py:41 (forward)`
fn label(live: &LiveDiff, node: &Node, lang: Lang) -> String {
    let d = node.delta();
    let sign = match d {
        0 => "=",
        1.. => "▲",
        _ => "▼",
    };
    let figure = if d == 0 { bytes(node.b) } else { delta(d) };
    format!("{sign} {figure} {}", name(live, node, lang))
}

/// The frame of a node; B's where the two differ.
fn name(live: &LiveDiff, node: &Node, lang: Lang) -> String {
    let Some(place) = node.place.and_then(|p| live.diff.frames().get(p)) else {
        let word = match node.parent {
            None => Word::Total,
            Some(_) => crate::compare::tables::nowhere(live),
        };
        return word.text(lang).to_owned();
    };
    match (place.b, place.a) {
        (Some(b), _) => crate::sentences::snapshot::line(&live.diff.b, b),
        (_, Some(a)) => crate::sentences::snapshot::line(&live.diff.a, a),
        (None, None) => String::new(),
    }
}

/// A node in words, for people who point at it or cannot see it.
#[must_use]
pub fn node_said(live: &LiveDiff, node: &Node, lang: Lang) -> String {
    let name = name(live, node, lang);
    let (a, b, d) = (bytes(node.a), bytes(node.b), delta(node.delta()));
    match lang {
        Lang::En => format!("{name}: A {a}, B {b}, difference {d}"),
        Lang::Zh => format!("{name}：A {a}，B {b}，差 {d}"),
    }
}

/// Rows that the boxes need.
#[must_use]
pub fn signed_rows(boxes: &[SignedBox]) -> u32 {
    boxes.iter().map(|b| b.flame.depth + 1).max().unwrap_or(1)
}

/// Orange for more, blue for less, the stronger the larger its part of what was there; grey for no
/// change.
fn color(node: &Node, theme: &Theme) -> Color {
    let d = node.delta();
    if d == 0 {
        return theme.reserved;
    }
    let strong = if d > 0 {
        theme.high_water
    } else {
        theme.allocated
    };
    let share = d.unsigned_abs() as f64 / node.a.max(node.b).max(1) as f64;
    mixed(strong, theme.ground, 0.25 + 0.75 * share.min(1.0))
}
