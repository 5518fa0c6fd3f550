//! A set of allocations as a tree of frames.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::allocations::AllocationId;
use super::analysis::Analysis;
use super::categories::Category;
use super::replay::Replay;
use super::sites::{Owner, Sites};
use crate::model::snapshot::{FrameId, Snapshot, StackId};

/// Which end of the stacks is the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// `main` first, as flame graphs are.
    RootFirst,
    /// The allocating frame first: who calls it.
    LeafFirst,
}

/// A node of [`Flame`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A frame at its place in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// The frame; `None` for the root, and below it for what has no recorded stack.
    pub frame: Option<FrameId>,
    /// `None` for the root.
    pub parent: Option<NodeId>,
    /// 0 for the root.
    pub depth: u32,
    /// Requested bytes here and below.
    pub bytes: u64,
    /// Requested bytes whose stack ends here.
    pub own: u64,
    /// Allocations here and below.
    pub count: u64,
}

/// The tree; parents come before their children, and larger children before smaller ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flame {
    /// The nodes; node 0 is the root.
    pub nodes: Vec<Node>,
}

/// Builds the tree of `ids`. With `fold`, native frames and torch's are left out of stacks that
/// have others.
#[must_use]
pub fn flame(
    snapshot: &Snapshot,
    replay: &Replay,
    sites: &Sites,
    ids: &[AllocationId],
    direction: Direction,
    fold: bool,
) -> Flame {
    let mut stacks: HashMap<Option<StackId>, (u64, u64), FxBuildHasher> = HashMap::default();
    for &id in ids {
        let sum = stacks.entry(replay.allocations.stack(id)).or_default();
        sum.0 = sum.0.saturating_add(replay.allocations.size(id));
        sum.1 += 1;
    }
    let mut stacks: Vec<_> = stacks.into_iter().collect();
    stacks.sort_unstable();
    let mut tree = Builder::default();
    tree.nodes.push(Node {
        frame: None,
        parent: None,
        depth: 0,
        bytes: 0,
        own: 0,
        count: 0,
    });
    let mut path = Vec::new();
    for (stack, (bytes, count)) in stacks {
        walk(snapshot, sites, stack, direction, fold, &mut path);
        tree.add(&path, bytes, count);
    }
    tree.sorted()
}

/// The frames of a stack from the root of the tree on.
fn walk(
    snapshot: &Snapshot,
    sites: &Sites,
    stack: Option<StackId>,
    direction: Direction,
    fold: bool,
    path: &mut Vec<Option<FrameId>>,
) {
    path.clear();
    let Some(stack) = stack else {
        return path.push(None);
    };
    let frames = snapshot.stacks.get(stack);
    let keep = |f: &FrameId| sites.owner(*f) <= Owner::Library;
    let folds = fold && frames.iter().any(keep);
    let kept = frames.iter().copied().filter(|f| !folds || keep(f));
    path.extend(kept.map(Some));
    if direction == Direction::RootFirst {
        path.reverse();
    }
}

/// Bytes of every node by category, in the order of [`Category::ALL`]. `tree` is that of
/// [`flame`] for the same set and options.
#[must_use]
pub fn by_category(
    analysis: &Analysis,
    tree: &Flame,
    ids: &[AllocationId],
    direction: Direction,
    fold: bool,
) -> Vec<[u64; Category::ALL.len()]> {
    let mut below: HashMap<(NodeId, Option<FrameId>), NodeId, FxBuildHasher> = HashMap::default();
    for (i, node) in tree.nodes.iter().enumerate() {
        if let Some(parent) = node.parent {
            below.insert((parent, node.frame), NodeId(i as u32));
        }
    }
    let mut stacks: HashMap<(Option<StackId>, Category), u64, FxBuildHasher> = HashMap::default();
    let allocations = &analysis.replay.allocations;
    for &id in ids {
        let key = (allocations.stack(id), analysis.categories().get(id).0);
        let sum = stacks.entry(key).or_default();
        *sum = sum.saturating_add(allocations.size(id));
    }
    let mut out = vec![[0u64; Category::ALL.len()]; tree.nodes.len()];
    let mut path = Vec::new();
    for ((stack, category), bytes) in stacks {
        let (snapshot, sites) = (analysis.snapshot(), analysis.sites());
        walk(snapshot, sites, stack, direction, fold, &mut path);
        let mut at = Some(NodeId(0));
        let mut steps = path.iter();
        while let Some(node) = at {
            let sum = out.get_mut(node.0 as usize);
            if let Some(sum) = sum.and_then(|s| s.get_mut(category as usize)) {
                *sum = sum.saturating_add(bytes);
            }
            at = steps.next().and_then(|&f| below.get(&(node, f)).copied());
        }
    }
    out
}

/// What a node is called, in every set of allocations that has it: so many frames of a stack from
/// the root of the tree on. `k12.3`, or `none.1` for what has no recorded stack.
#[must_use]
pub fn node_name(stack: Option<StackId>, frames: u32) -> String {
    match stack {
        Some(stack) => format!("k{}.{frames}", stack.0),
        None => format!("none.{frames}"),
    }
}

/// The inverse of [`node_name`]; whether there is such a stack is for the reader to see.
#[must_use]
pub fn of_node_name(name: &str) -> Option<(Option<StackId>, u32)> {
    let (stack, frames) = name.split_once('.')?;
    let frames = frames.parse().ok()?;
    if stack == "none" {
        return Some((None, frames));
    }
    let id = stack.strip_prefix('k')?.parse().ok()?;
    Some((Some(StackId(id)), frames))
}

/// The name of a node of the tree of `ids`: by the first stack that leads through it. Empty for the
/// root.
#[must_use]
pub fn name(
    analysis: &Analysis,
    tree: &Flame,
    ids: &[AllocationId],
    (direction, fold): (Direction, bool),
    node: NodeId,
) -> String {
    let mut frames = Vec::new();
    let mut at = tree.get(node);
    while let Some(n) = at
        && let Some(parent) = n.parent
    {
        frames.push(n.frame);
        at = tree.get(parent);
    }
    frames.reverse();
    if frames.is_empty() {
        return String::new();
    }
    let allocations = &analysis.replay.allocations;
    let mut stacks: Vec<Option<StackId>> = ids.iter().map(|&id| allocations.stack(id)).collect();
    stacks.sort_unstable();
    stacks.dedup();
    let mut path = Vec::new();
    let through = stacks.into_iter().find(|&stack| {
        let (snapshot, sites) = (analysis.snapshot(), analysis.sites());
        walk(snapshot, sites, stack, direction, fold, &mut path);
        path.starts_with(&frames)
    });
    through.map_or_else(String::new, |s| node_name(s, frames.len() as u32))
}

/// The node of a name; `None` when nothing of the tree has it.
#[must_use]
pub fn named(
    analysis: &Analysis,
    tree: &Flame,
    (direction, fold): (Direction, bool),
    name: &str,
) -> Option<NodeId> {
    let (stack, frames) = of_node_name(name)?;
    let snapshot = analysis.snapshot();
    if stack.is_some_and(|s| s.0 as usize >= snapshot.stacks.len()) {
        return None;
    }
    let mut path = Vec::new();
    let sites = analysis.sites();
    walk(snapshot, sites, stack, direction, fold, &mut path);
    let mut at = NodeId(0);
    for frame in path.get(..frames as usize)? {
        let child = |n: &Node| n.parent == Some(at) && n.frame == *frame;
        at = NodeId(tree.nodes.iter().position(child)? as u32);
    }
    Some(at)
}

impl Flame {
    /// A node.
    #[must_use]
    pub fn get(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0 as usize)
    }

    /// Where each node begins, bytes from the left end of the whole: children lie side by side
    /// from the start of their parent on, what a parent has of its own behind them.
    #[must_use]
    pub fn starts(&self) -> Vec<u64> {
        let mut next = vec![0u64; self.nodes.len()];
        let mut out = vec![0u64; self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            let start = match node.parent.and_then(|p| next.get_mut(p.0 as usize)) {
                Some(free) => {
                    let start = *free;
                    *free = free.saturating_add(node.bytes);
                    start
                }
                None => 0,
            };
            if let (Some(a), Some(b)) = (out.get_mut(i), next.get_mut(i)) {
                *a = start;
                *b = start;
            }
        }
        out
    }
}

#[derive(Default)]
struct Builder {
    nodes: Vec<Node>,
    children: HashMap<(u32, Option<FrameId>), u32, FxBuildHasher>,
}

impl Builder {
    fn add(&mut self, path: &[Option<FrameId>], bytes: u64, count: u64) {
        let mut at = 0u32;
        self.count(at, bytes, count);
        for (depth, &frame) in path.iter().enumerate() {
            let nodes = &mut self.nodes;
            let next = *self.children.entry((at, frame)).or_insert_with(|| {
                nodes.push(Node {
                    frame,
                    parent: Some(NodeId(at)),
                    depth: depth as u32 + 1,
                    bytes: 0,
                    own: 0,
                    count: 0,
                });
                (nodes.len() - 1) as u32
            });
            at = next;
            self.count(at, bytes, count);
        }
        if let Some(node) = self.nodes.get_mut(at as usize) {
            node.own = node.own.saturating_add(bytes);
        }
    }

    fn count(&mut self, at: u32, bytes: u64, count: u64) {
        if let Some(node) = self.nodes.get_mut(at as usize) {
            node.bytes = node.bytes.saturating_add(bytes);
            node.count += count;
        }
    }

    /// Breadth first, larger siblings first.
    fn sorted(self) -> Flame {
        let mut order: Vec<u32> = (0..self.nodes.len() as u32).collect();
        let node = |i: u32| self.nodes.get(i as usize);
        order.sort_by_key(|&i| node(i).map(|n| (n.depth, n.parent, std::cmp::Reverse(n.bytes))));
        let mut new = vec![0u32; self.nodes.len()];
        // Parents are numbered anew before their children: a level is sorted after the one above.
        let mut out: Vec<Node> = Vec::with_capacity(order.len());
        let mut at = 0;
        while at < order.len() {
            let depth = order.get(at).and_then(|&i| node(i)).map_or(0, |n| n.depth);
            let past = order
                .iter()
                .skip(at)
                .position(|&i| node(i).is_none_or(|n| n.depth != depth))
                .map_or(order.len(), |n| at + n);
            let mut level: Vec<u32> = order.get(at..past).unwrap_or_default().to_vec();
            level.sort_by_key(|&i| {
                let n = node(i);
                let parent = n.and_then(|n| n.parent);
                let parent = parent.and_then(|p| new.get(p.0 as usize).copied());
                (parent, std::cmp::Reverse(n.map(|n| n.bytes)))
            });
            for i in level {
                let Some(n) = node(i) else { continue };
                let parent = n.parent.and_then(|p| new.get(p.0 as usize).copied());
                if let Some(slot) = new.get_mut(i as usize) {
                    *slot = out.len() as u32;
                }
                out.push(Node {
                    parent: parent.map(NodeId),
                    ..*n
                });
            }
            at = past;
        }
        Flame { nodes: out }
    }
}
