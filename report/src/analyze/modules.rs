//! The module tree, with figures rolled up along the dotted path.

use std::collections::HashMap;

use super::pairing::{Pairing, Partner};
use super::path::{Part, split};
use super::{narrow, step_kind};
use crate::model::{Rank, StringId};

/// Index of a module in [`Modules`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleId(pub u32);

/// Figures of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// Events that name the module, an output of it or a parameter of it.
    pub count: u64,
    /// Highest allocated after one of them, bytes.
    pub max_allocated: Option<u64>,
    /// Largest `delta_allocated`, bytes.
    pub max_delta: Option<i64>,
    /// Sum of `delta_allocated`, bytes. A call's difference includes what its submodules did.
    pub total_delta: Option<i64>,
    /// Sum of the bytes of its outputs, over all events.
    pub output_bytes: u64,
    /// Sum of the bytes of its gradients (outputs and parameters), over all events.
    pub grad_bytes: u64,
    /// Events whose partner (`forward_pre` with `forward`) is missing.
    pub unpaired: u64,
}

/// A module, or a part of the path that has no events itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Last segment of the path.
    pub name: String,
    /// The module above.
    pub parent: Option<ModuleId>,
    /// The modules below, in order of first occurrence.
    pub children: Vec<ModuleId>,
    /// Depth; 0 at the top.
    pub depth: u32,
    /// Events that name the module itself as called (not only a part of it).
    pub calls: u64,
    /// Figures of the module's own events.
    pub own: Figures,
    /// Figures with everything below: counts and bytes of outputs and gradients are summed and
    /// maxima taken; `total_delta` is the module's own where it was called (its calls include
    /// those below), else the sum of its children's.
    pub rolled: Figures,
    /// The event with the highest allocated, in it or below.
    pub event: Option<usize>,
}

/// All modules of a rank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Modules {
    /// Parents come before children.
    pub rows: Vec<Module>,
    /// The modules without a parent.
    pub roots: Vec<ModuleId>,
    /// Sum of the roots' `total_delta`: what shares are of, bytes.
    pub total_delta: i64,
    /// Module of each string of the rank, for strings that name one.
    of_string: Vec<u32>,
}

/// Paths deeper than this keep their rest as one segment.
const MAX_DEPTH: usize = 64;
const NONE: u32 = u32::MAX;

impl Modules {
    /// One module.
    #[must_use]
    pub fn get(&self, id: ModuleId) -> Option<&Module> {
        self.rows.get(id.0 as usize)
    }

    /// The full dotted path.
    #[must_use]
    pub fn path(&self, id: ModuleId) -> String {
        let mut names = Vec::new();
        let mut at = Some(id);
        while let Some(module) = at.and_then(|id| self.get(id)) {
            names.push(module.name.as_str());
            at = module.parent;
        }
        names.reverse();
        names.join(".")
    }

    /// The module that an event's `module` string names.
    #[must_use]
    pub fn of(&self, module: StringId) -> Option<ModuleId> {
        let id = self.of_string.get(module.0 as usize).copied()?;
        (id != NONE).then_some(ModuleId(id))
    }

    /// A module's share of all that modules added, by its rolled `total_delta`.
    #[must_use]
    pub fn share(&self, id: ModuleId) -> Option<f64> {
        let delta = self.get(id)?.rolled.total_delta?;
        (self.total_delta > 0).then(|| delta as f64 / self.total_delta as f64)
    }
}

/// Builds the tree. Events of the training loop (`step`) are not modules.
#[must_use]
pub fn modules(rank: &Rank, pairing: &Pairing) -> Modules {
    let events = &rank.events;
    let loop_kind = step_kind(rank);
    let mut tree = Builder {
        out: Modules {
            of_string: vec![NONE; rank.strings.len()],
            ..Modules::default()
        },
        index: HashMap::new(),
        sums: Vec::new(),
    };
    for i in 0..events.len() {
        if Some(events.kind[i]) == loop_kind {
            continue;
        }
        let Some(id) = tree.module(rank, events.module[i]) else {
            continue;
        };
        let called = matches!(split(rank.strings.get(events.module[i])).1, Part::Module);
        let module = &mut tree.out.rows[id as usize];
        module.calls += u64::from(called);
        let own = &mut module.own;
        own.count += 1;
        let allocated = events.allocated_after.get(i);
        if allocated > own.max_allocated {
            own.max_allocated = allocated;
            module.event = Some(i);
        }
        let own = &mut module.own;
        if let Some(delta) = events.delta_allocated.get(i) {
            own.max_delta = own.max_delta.max(Some(delta));
            tree.sums[id as usize] += i128::from(delta);
            own.total_delta = Some(narrow(tree.sums[id as usize]));
        }
        own.output_bytes = own
            .output_bytes
            .saturating_add(rank.tensors.list_bytes(events.outputs[i]));
        own.grad_bytes = own
            .grad_bytes
            .saturating_add(rank.tensors.list_bytes(events.grads[i]));
        own.unpaired += u64::from(pairing.partner(i) == Partner::Missing);
    }
    tree.out.roll_up();
    tree.out
}

struct Builder {
    out: Modules,
    index: HashMap<(u32, String), u32>,
    sums: Vec<i128>,
}

impl Builder {
    fn module(&mut self, rank: &Rank, string: StringId) -> Option<u32> {
        let known = *self.out.of_string.get(string.0 as usize)?;
        if known != NONE {
            return Some(known);
        }
        let (path, _) = split(rank.strings.get(string));
        let mut at = NONE;
        for (depth, segment) in path.splitn(MAX_DEPTH, '.').enumerate() {
            at = self.child(at, segment, depth as u32);
        }
        self.out.of_string[string.0 as usize] = at;
        Some(at)
    }

    fn child(&mut self, parent: u32, name: &str, depth: u32) -> u32 {
        let id = self.out.rows.len() as u32;
        let found = *self.index.entry((parent, name.to_owned())).or_insert(id);
        if found == id {
            self.sums.push(0);
            self.out.rows.push(Module {
                name: name.to_owned(),
                parent: (parent != NONE).then_some(ModuleId(parent)),
                children: Vec::new(),
                depth,
                calls: 0,
                own: Figures::default(),
                rolled: Figures::default(),
                event: None,
            });
            match self.out.rows.get_mut(parent as usize) {
                Some(above) if parent != NONE => above.children.push(ModuleId(id)),
                _ => self.out.roots.push(ModuleId(id)),
            }
        }
        found
    }
}

impl Modules {
    /// Children come after their parents, so one pass backwards sees every child first.
    fn roll_up(&mut self) {
        for i in (0..self.rows.len()).rev() {
            let mut rolled = self.rows[i].own;
            let mut event = self.rows[i].event;
            let mut below: Option<i128> = None;
            for child in self.rows[i].children.clone() {
                let module = &self.rows[child.0 as usize];
                let c = module.rolled;
                rolled.count += c.count;
                if c.max_allocated > rolled.max_allocated {
                    event = module.event;
                }
                rolled.max_allocated = rolled.max_allocated.max(c.max_allocated);
                rolled.max_delta = rolled.max_delta.max(c.max_delta);
                rolled.output_bytes = rolled.output_bytes.saturating_add(c.output_bytes);
                rolled.grad_bytes = rolled.grad_bytes.saturating_add(c.grad_bytes);
                rolled.unpaired += c.unpaired;
                if let Some(delta) = c.total_delta {
                    below = Some(below.unwrap_or(0) + i128::from(delta));
                }
            }
            if self.rows[i].calls == 0 {
                rolled.total_delta = below.map(narrow).or(rolled.total_delta);
            }
            self.rows[i].rolled = rolled;
            self.rows[i].event = event;
        }
        let total: i128 = self
            .roots
            .iter()
            .filter_map(|id| self.get(*id)?.rolled.total_delta)
            .map(i128::from)
            .sum();
        self.total_delta = narrow(total);
    }
}
