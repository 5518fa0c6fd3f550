//! What memory is for: parameters, gradients, optimizer state, activations and so on.
//!
//! A snapshot does not say, but for dumps with a `category`. The rest is told from where memory was
//! allocated and how long it lived, and every answer states how sure it is:
//!
//! * allocated in `torch/optim`: optimizer state when it outlives the optimizer step, else temporary;
//! * no Python stack though others have one, or the autograd engine's: the backward pass; a gradient
//!   when it lives until the optimizer works, else temporary;
//! * while modules are built, loaded or moved: parameters;
//! * under a `forward`: an activation when the backward pass begins before it is freed, else
//!   temporary; what an OOM cut short may have been an activation;
//! * libraries' workspaces, where native frames name them: temporary, or unknown when they stay;
//! * what a pass leaves behind for good is neither an activation nor a gradient: unknown;
//! * elsewhere in the user's code: inputs where data is moved to the device or where a forward pass
//!   follows; activations between a forward pass and its backward pass; else unknown.

use super::allocations::{Allocation, AllocationId};
use super::replay::Replay;
use super::sites::{Owner, Sites};
use crate::model::snapshot::{Snapshot, StackId, TraceId};
use crate::model::{StringTable, snapshot::FrameId};
use crate::pause::{PIECE, Pauses, now, piece};

/// Events after which memory of a forward pass is hardly a temporary: it may be kept by the program.
const LONG: u32 = 256;

/// What memory is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Weights and buffers of the model.
    Parameter,
    /// Gradients of parameters.
    Gradient,
    /// State of the optimizer.
    OptimizerState,
    /// What the forward pass keeps for the backward pass.
    Activation,
    /// What lives within one pass only.
    Temporary,
    /// Batches.
    Input,
    /// Nothing tells.
    Unknown,
}

impl Category {
    /// Every category.
    pub const ALL: [Self; 7] = [
        Self::Parameter,
        Self::Gradient,
        Self::OptimizerState,
        Self::Activation,
        Self::Temporary,
        Self::Input,
        Self::Unknown,
    ];

    /// The word that scripts see.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Parameter => "parameter",
            Self::Gradient => "gradient",
            Self::OptimizerState => "optimizer_state",
            Self::Activation => "activation",
            Self::Temporary => "temporary",
            Self::Input => "input",
            Self::Unknown => "unknown",
        }
    }

    fn of(word: &str) -> Option<Self> {
        match word {
            "autograd_detail" => Some(Self::Activation),
            other => Self::ALL.into_iter().find(|c| c.word() == other),
        }
    }
}

/// How sure a category is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// A recorder knew the tensor by name and by the address of its storage.
    Recorded,
    /// The source says so.
    Stated,
    /// Place and lifetime both say so.
    Likely,
    /// Only one of them does.
    Possible,
    /// A guess was not made.
    None,
}

/// The category of every allocation of a replay.
#[derive(Debug, Clone, Default)]
pub struct Categories {
    rows: Vec<(Category, Certainty)>,
}

impl Categories {
    /// The category of an allocation and how sure it is.
    #[must_use]
    pub fn get(&self, id: AllocationId) -> (Category, Certainty) {
        let row = self.rows.get(id.index());
        row.copied().unwrap_or((Category::Unknown, Certainty::None))
    }
}

impl Categories {
    pub(super) fn set(&mut self, id: AllocationId, to: (Category, Certainty)) {
        if let Some(row) = self.rows.get_mut(id.index()) {
            *row = to;
        }
    }
}

/// Where a stack is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Optimizer,
    Backward,
    Build,
    Forward,
    Move,
    Workspace,
    Other,
}

/// Tells what every allocation is for.
#[must_use]
pub fn categories(
    strings: &StringTable,
    snapshot: &Snapshot,
    replay: &Replay,
    sites: &Sites,
) -> Categories {
    now(in_pieces(strings, snapshot, replay, sites, Pauses::NONE))
}

/// As [`categories`], with pauses.
pub async fn in_pieces(
    strings: &StringTable,
    snapshot: &Snapshot,
    replay: &Replay,
    sites: &Sites,
    pauses: Pauses<'_>,
) -> Categories {
    let places: Vec<Place> = (0..snapshot.stacks.len() as u32)
        .map(|s| place(strings, snapshot, sites, StackId(s)))
        .collect();
    let allocations = &replay.allocations;
    let place_of = |stack: Option<StackId>| match stack {
        Some(s) => places.get(s.0 as usize).copied().unwrap_or(Place::Other),
        None => Place::Backward,
    };
    // A history without any stack tells nothing by the lack of one.
    let recorded = allocations.ids().any(|id| allocations.stack(id).is_some());
    let trains = places.contains(&Place::Optimizer)
        || snapshot
            .annotations
            .rows
            .iter()
            .any(|a| strings.get(a.name).starts_with("Optimizer.step"));
    let mut optimizer = Vec::new();
    let mut backward = Vec::new();
    let mut forward = Vec::new();
    for (id, a) in allocations.iter() {
        if id.index() % PIECE == 0 {
            pauses.here().await;
        }
        let Some(born) = a.born else { continue };
        match place_of(a.stack) {
            Place::Optimizer => optimizer.push(born),
            Place::Backward if recorded => backward.push(born),
            Place::Forward => forward.push(born),
            _ => {}
        }
    }
    // Plain SGD allocates nothing: its annotation marks the step then.
    for range in super::steps::ranges(snapshot, replay.device) {
        if strings.get(range.name).starts_with("Optimizer.step") && range.end_ns.is_some() {
            optimizer.push(range.start);
        }
    }
    optimizer.sort_unstable();
    let within = |marks: &[TraceId], from: TraceId, to: Option<TraceId>| {
        let at = marks.partition_point(|&m| m <= from);
        // An annotation starts before the event that it names, which may be what frees.
        marks.get(at).is_some_and(|&m| to.is_none_or(|to| m <= to))
    };
    // The first mark after an event, and the last before it.
    let next = |marks: &[TraceId], from: TraceId| {
        marks.get(marks.partition_point(|&m| m <= from)).copied()
    };
    let before = |marks: &[TraceId], at: TraceId| {
        let i = marks.partition_point(|&m| m < at).checked_sub(1)?;
        marks.get(i).copied()
    };
    // Whether something outlives the optimizer step after its birth and the next backward pass.
    let outlives = |born: TraceId, end: Option<TraceId>| {
        let step = next(&optimizer, born);
        let again = step.and_then(|step| next(&backward, step));
        again.is_some_and(|again| end.is_none_or(|end| again < end))
    };
    // What a forward pass made for its backward pass is gone when the optimizer is done.
    let stays = |born: TraceId, end: Option<TraceId>| {
        outlives(born, end) || (end.is_none() && next(&optimizer, born).is_some())
    };
    // Gradients are kept or given back all together, so where most bytes of the backward passes are
    // given back before the next one, what stays is none.
    let (mut kept, mut given) = (0u128, 0u128);
    for (id, a) in allocations.iter() {
        if id.index() % PIECE == 0 {
            pauses.here().await;
        }
        if let Some(born) = a.born
            && place_of(a.stack) == Place::Backward
            && let Some(step) = next(&optimizer, born)
        {
            let end = a.free_requested.or(a.free_completed);
            if outlives(born, end) {
                kept += u128::from(a.size);
            } else if end.is_none_or(|end| step < end) {
                given += u128::from(a.size);
            }
        }
    }
    let stray = |born, end| given > kept && outlives(born, end);
    let sorted = |a: &Allocation| {
        let place = place_of(a.stack);
        let Some(born) = a.born else {
            // From before the history: only the place can tell.
            return match (a.stack, place) {
                (Some(_), Place::Build) => (Category::Parameter, Certainty::Likely),
                (Some(_), Place::Optimizer) => (Category::OptimizerState, Certainty::Possible),
                _ => (Category::Unknown, Certainty::None),
            };
        };
        let end = a.free_requested.or(a.free_completed);
        match place {
            Place::Optimizer => {
                // State is still there when the next backward pass runs, or at the end.
                if end.is_none() || within(&backward, born, end) {
                    (Category::OptimizerState, Certainty::Likely)
                } else {
                    (Category::Temporary, Certainty::Likely)
                }
            }
            Place::Backward if recorded && trains => {
                if stray(born, end) {
                    (Category::Unknown, Certainty::None)
                } else if within(&optimizer, born, end) {
                    (Category::Gradient, Certainty::Likely)
                } else if end.is_none() {
                    (Category::Gradient, Certainty::Possible)
                } else {
                    (Category::Temporary, Certainty::Possible)
                }
            }
            Place::Backward => (Category::Unknown, Certainty::None),
            Place::Build => {
                if end.is_none() || within(&optimizer, born, end) {
                    (Category::Parameter, Certainty::Likely)
                } else {
                    (Category::Temporary, Certainty::Possible)
                }
            }
            Place::Forward => {
                if stays(born, end) {
                    (Category::Unknown, Certainty::None)
                } else if within(&backward, born, end) {
                    (Category::Activation, Certainty::Likely)
                } else if end.is_none() || within(&replay.ooms, born, end) {
                    // What an OOM cut short would have waited for the backward pass.
                    (Category::Activation, Certainty::Possible)
                } else if end.is_some_and(|e| e.0 - born.0 > LONG) {
                    (Category::Temporary, Certainty::Possible)
                } else {
                    (Category::Temporary, Certainty::Likely)
                }
            }
            Place::Move => (Category::Input, Certainty::Possible),
            Place::Workspace => {
                if end.is_none() || outlives(born, end) {
                    (Category::Unknown, Certainty::None)
                } else {
                    (Category::Temporary, Certainty::Likely)
                }
            }
            Place::Other => {
                let pass = before(&forward, born);
                let last = before(&backward, born).max(before(&optimizer, born));
                if pass > last && within(&backward, born, end) {
                    (Category::Activation, Certainty::Possible)
                } else if (pass.is_none() || pass < last) && within(&forward, born, end) {
                    (Category::Input, Certainty::Possible)
                } else {
                    (Category::Unknown, Certainty::None)
                }
            }
        }
    };
    let mut rows: Vec<(Category, Certainty)> = Vec::with_capacity(allocations.len());
    let mut left = allocations.iter().map(|(_, a)| sorted(&a));
    while rows.len() < allocations.len() {
        pauses.here().await;
        let before = rows.len();
        piece(|| rows.extend(left.by_ref().take(PIECE)));
        if rows.len() == before {
            break;
        }
    }
    for &(event, word) in &snapshot.events.category {
        let born = allocations.born.partition_point(|&b| {
            // Those from before the history come first and have no birth.
            b == super::allocations::NEVER || b < event.0
        });
        if allocations.born.get(born) == Some(&event.0)
            && let (Some(row), Some(category)) =
                (rows.get_mut(born), Category::of(strings.get(word)))
        {
            *row = (category, Certainty::Stated);
        }
    }
    Categories { rows }
}

fn place(strings: &StringTable, snapshot: &Snapshot, sites: &Sites, stack: StackId) -> Place {
    let frames = snapshot.stacks.get(stack);
    if frames.is_empty() {
        return Place::Backward;
    }
    let mut place = Place::Other;
    for &id in frames {
        let frame = snapshot.frames.get(id);
        let file = strings.get(frame.file);
        let name = strings.get(frame.name);
        let torch = sites.owner(id) == Owner::Torch;
        let is = |part: &str| file.contains(part) || file.replace('\\', "/").contains(part);
        if torch && is("torch/optim/") {
            return Place::Optimizer;
        }
        let workspace = [
            "setWorkspaceForHandle",
            "getNewWorkspace",
            "getCUDABlasLtWorkspace",
            "run_conv_plan",
        ];
        if sites.owner(id) == Owner::Native && workspace.iter().any(|w| name.contains(w)) {
            return Place::Workspace;
        }
        let engine = name.contains("torch::autograd::Engine")
            || name.starts_with("autograd::engine::evaluate_function");
        if sites.owner(id) == Owner::Native && engine {
            return Place::Backward;
        }
        if torch && (name == "_engine_run_backward" || is("torch/autograd/function.py")) {
            return Place::Backward;
        }
        let builds = matches!(
            name,
            "convert" | "_apply" | "_load_from_state_dict" | "load_state_dict" | "from_pretrained"
        ) || (name == "<lambda>" && is("torch/nn/modules/module.py"))
            || (name == "__init__" && (torch || any_module(strings, snapshot, frames)))
            || name == "reset_parameters";
        if builds {
            place = Place::Build;
        } else if place == Place::Other && (name == "forward" || (torch && name == "_call_impl")) {
            place = Place::Forward;
        }
    }
    if place == Place::Other && moves(strings, snapshot, frames) {
        return Place::Move;
    }
    place
}

fn any_module(strings: &StringTable, snapshot: &Snapshot, frames: &[FrameId]) -> bool {
    frames.iter().any(|&f| {
        let file = strings.get(snapshot.frames.get(f).file);
        file.contains("torch/nn/modules")
    })
}

/// Whether the innermost function moves data to the device.
fn moves(strings: &StringTable, snapshot: &Snapshot, frames: &[FrameId]) -> bool {
    frames.iter().take(2).any(|&f| {
        let name = strings.get(snapshot.frames.get(f).name);
        [
            "to_device",
            "send_to_device",
            "pin_memory",
            "collate",
            "batch",
            "next_batch",
        ]
        .iter()
        .any(|part| name.contains(part))
    })
}
