//! Both sides as one tree of frames, each node with the bytes of both.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::super::Which;
use super::LiveDiff;
use super::frames::PlaceId;
use crate::analyze::difference;
use crate::analyze::snapshot::flame::{Direction, NodeId, node_name, of_node_name};
use crate::analyze::snapshot::sites::Owner;
use crate::model::snapshot::{FrameId, StackId};

/// A place in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// The frame, matched; `None` for the root, and below it for what has no recorded stack.
    pub place: Option<PlaceId>,
    /// `None` for the root.
    pub parent: Option<NodeId>,
    /// 0 for the root.
    pub depth: u32,
    /// A's requested bytes here and below.
    pub a: u64,
    /// B's.
    pub b: u64,
    /// A's requested bytes whose stack ends here.
    pub own_a: u64,
    /// B's.
    pub own_b: u64,
    /// How wide it is drawn, bytes: the larger side of what ends here, and what is below. So
    /// children fit into their parent, and what is gone stays in sight.
    pub width: u64,
}

impl Node {
    /// B's bytes minus A's.
    #[must_use]
    pub fn delta(&self) -> i64 {
        difference(self.b, self.a)
    }
}

/// The tree; parents come before their children, and larger differences before smaller ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flame {
    /// The nodes; node 0 is the root.
    pub nodes: Vec<Node>,
}

pub(super) fn flame(live: &LiveDiff, direction: Direction, fold: bool) -> Flame {
    let mut tree = Builder {
        nodes: vec![EMPTY],
        children: HashMap::default(),
    };
    for which in [Which::A, Which::B] {
        let side = live.diff.side(which);
        let mut stacks: HashMap<Option<StackId>, u64, FxBuildHasher> = HashMap::default();
        for &id in live.ids(which) {
            let sum = stacks.entry(side.replay.allocations.stack(id)).or_default();
            *sum = sum.saturating_add(side.replay.allocations.size(id));
        }
        let mut stacks: Vec<_> = stacks.into_iter().collect();
        stacks.sort_unstable();
        for (stack, bytes) in stacks {
            tree.add(which, &path(live, which, stack, direction, fold), bytes);
        }
    }
    tree.sorted()
}

/// The frames of a side's stack from the root of the tree on.
fn path(
    live: &LiveDiff,
    which: Which,
    stack: Option<StackId>,
    direction: Direction,
    fold: bool,
) -> Vec<Option<PlaceId>> {
    let Some(stack) = stack else {
        return vec![None];
    };
    let (side, frames) = (live.diff.side(which), live.diff.frames());
    let own = side.snapshot().stacks.get(stack);
    let keep = |f: &FrameId| side.sites().owner(*f) <= Owner::Library;
    let folds = fold && own.iter().any(keep);
    let kept = own.iter().filter(|f| !folds || keep(f));
    let mut path: Vec<_> = kept.map(|&f| frames.of_frame(which, f)).collect();
    if direction == Direction::RootFirst {
        path.reverse();
    }
    path
}

/// What a node of the tree is called: `a.k12.3`, so many frames of a side's stack. Empty for the
/// root.
#[must_use]
pub fn name(
    live: &LiveDiff,
    tree: &Flame,
    (direction, fold): (Direction, bool),
    node: NodeId,
) -> String {
    let mut frames = Vec::new();
    let mut at = tree.nodes.get(node.0 as usize);
    while let Some(n) = at
        && let Some(parent) = n.parent
    {
        frames.push(n.place);
        at = tree.nodes.get(parent.0 as usize);
    }
    frames.reverse();
    if frames.is_empty() {
        return String::new();
    }
    for (which, side) in SIDES {
        let allocations = &live.diff.side(which).replay.allocations;
        let stacks = live.ids(which).iter().map(|&id| allocations.stack(id));
        let mut stacks: Vec<Option<StackId>> = stacks.collect();
        stacks.sort_unstable();
        stacks.dedup();
        let leads =
            |&s: &Option<StackId>| path(live, which, s, direction, fold).starts_with(&frames);
        if let Some(stack) = stacks.into_iter().find(leads) {
            return format!("{side}.{}", node_name(stack, frames.len() as u32));
        }
    }
    String::new()
}

/// The node of a name; `None` when nothing of the tree has it.
#[must_use]
pub fn named(
    live: &LiveDiff,
    tree: &Flame,
    (direction, fold): (Direction, bool),
    name: &str,
) -> Option<NodeId> {
    let (side, rest) = name.split_once('.')?;
    let which = SIDES.into_iter().find(|s| s.1 == side)?.0;
    let (stack, frames) = of_node_name(rest)?;
    let stacks = &live.diff.side(which).snapshot().stacks;
    if stack.is_some_and(|s| s.0 as usize >= stacks.len()) {
        return None;
    }
    let mut at = NodeId(0);
    let path = path(live, which, stack, direction, fold);
    for place in path.get(..frames as usize)? {
        let child = |n: &Node| n.parent == Some(at) && n.place == *place;
        at = NodeId(tree.nodes.iter().position(child)? as u32);
    }
    Some(at)
}

/// The sides with their letters in names.
const SIDES: [(Which, &str); 2] = [(Which::A, "a"), (Which::B, "b")];

const EMPTY: Node = Node {
    place: None,
    parent: None,
    depth: 0,
    a: 0,
    b: 0,
    own_a: 0,
    own_b: 0,
    width: 0,
};

struct Builder {
    nodes: Vec<Node>,
    children: HashMap<(u32, Option<PlaceId>), u32, FxBuildHasher>,
}

impl Builder {
    fn add(&mut self, which: Which, path: &[Option<PlaceId>], bytes: u64) {
        let mut at = 0u32;
        self.count(at, which, bytes);
        for (depth, &place) in path.iter().enumerate() {
            let nodes = &mut self.nodes;
            at = *self.children.entry((at, place)).or_insert_with(|| {
                nodes.push(Node {
                    place,
                    parent: Some(NodeId(at)),
                    depth: depth as u32 + 1,
                    ..EMPTY
                });
                (nodes.len() - 1) as u32
            });
            self.count(at, which, bytes);
        }
        if let Some(node) = self.nodes.get_mut(at as usize) {
            let own = match which {
                Which::A => &mut node.own_a,
                Which::B => &mut node.own_b,
            };
            *own = own.saturating_add(bytes);
        }
    }

    fn count(&mut self, at: u32, which: Which, bytes: u64) {
        if let Some(node) = self.nodes.get_mut(at as usize) {
            let side = match which {
                Which::A => &mut node.a,
                Which::B => &mut node.b,
            };
            *side = side.saturating_add(bytes);
        }
    }

    /// Widths from the leaves up, then depth first with larger differences first.
    fn sorted(mut self) -> Flame {
        // Children were pushed after their parents.
        for i in (0..self.nodes.len()).rev() {
            let Some(node) = self.nodes.get_mut(i) else {
                continue;
            };
            node.width = node.width.saturating_add(node.own_a.max(node.own_b));
            let (width, parent) = (node.width, node.parent);
            if let Some(above) = parent.and_then(|p| self.nodes.get_mut(p.0 as usize)) {
                above.width = above.width.saturating_add(width);
            }
        }
        let mut below: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            if let Some(list) = node.parent.and_then(|p| below.get_mut(p.0 as usize)) {
                list.push(i as u32);
            }
        }
        let key = |&i: &u32| {
            let node = self.nodes.get(i as usize).copied().unwrap_or(EMPTY);
            std::cmp::Reverse((node.delta().unsigned_abs(), node.width))
        };
        for list in &mut below {
            list.sort_by_key(key);
        }
        let mut out: Vec<Node> = Vec::with_capacity(self.nodes.len());
        let mut open: Vec<(u32, Option<NodeId>)> = vec![(0, None)];
        while let Some((i, parent)) = open.pop() {
            let Some(node) = self.nodes.get(i as usize) else {
                continue;
            };
            let id = NodeId(out.len() as u32);
            out.push(Node { parent, ..*node });
            let children = below.get(i as usize).into_iter().flatten().rev();
            open.extend(children.map(|&c| (c, Some(id))));
        }
        Flame { nodes: out }
    }
}

impl Flame {
    /// Where each node begins, bytes of width from the left edge of the whole.
    #[must_use]
    pub fn starts(&self) -> Vec<u64> {
        let mut next = vec![0u64; self.nodes.len()];
        let mut out = Vec::with_capacity(self.nodes.len());
        for (i, node) in self.nodes.iter().enumerate() {
            let parent = node.parent.map(|p| p.0 as usize);
            let start = parent.and_then(|p| next.get(p).copied()).unwrap_or(0);
            if let Some(slot) = parent.and_then(|p| next.get_mut(p)) {
                *slot = slot.saturating_add(node.width);
            }
            if let Some(slot) = next.get_mut(i) {
                *slot = start;
            }
            out.push(start);
        }
        out
    }
}
