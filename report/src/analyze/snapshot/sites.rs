//! Whose code a frame is, and which frame of a stack is the user's.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::model::snapshot::{FrameId, Snapshot, StackId};
use crate::model::{StringId, StringTable};

/// Whose code a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The user's own.
    User,
    /// An installed package or Python's library.
    Library,
    /// PyTorch's Python code.
    Torch,
    /// C++ and generated code.
    Native,
}

/// What is known of every frame and stack of a snapshot.
#[derive(Debug, Clone, Default)]
pub struct Sites {
    owner: Vec<Owner>,
    /// By stack: the first frame of the user, else of a package, else of torch, else the first.
    place: Vec<Option<FrameId>>,
    /// By stack: the first frame that is neither torch's nor native.
    function: Vec<Option<FrameId>>,
    /// By frame: the first frame of the same file and line, and of the same file and function.
    same_line: Vec<FrameId>,
    same_function: Vec<FrameId>,
}

impl Sites {
    /// Looks at every frame once.
    #[must_use]
    pub fn of(strings: &StringTable, snapshot: &Snapshot) -> Self {
        let mut owners: HashMap<StringId, Owner, FxBuildHasher> = HashMap::default();
        let mut lines: HashMap<(StringId, u32, StringId), FrameId, FxBuildHasher> =
            HashMap::default();
        let mut functions: HashMap<(StringId, StringId), FrameId, FxBuildHasher> =
            HashMap::default();
        let mut this = Self::default();
        for (id, frame) in snapshot.frames.iter() {
            let owner = owners
                .entry(frame.file)
                .or_insert_with(|| owner(strings.get(frame.file)));
            this.owner.push(*owner);
            // Where the line is not known, the name tells places apart.
            let name = if frame.line == 0 {
                frame.name
            } else {
                StringId::EMPTY
            };
            let line = lines.entry((frame.file, frame.line, name)).or_insert(id);
            this.same_line.push(*line);
            let function = functions.entry((frame.file, frame.name)).or_insert(id);
            this.same_function.push(*function);
        }
        for stack in 0..snapshot.stacks.len() as u32 {
            let frames = snapshot.stacks.get(StackId(stack));
            let first = |owner: Owner| frames.iter().copied().find(|&f| this.owner(f) == owner);
            let place = first(Owner::User)
                .or_else(|| first(Owner::Library))
                .or_else(|| first(Owner::Torch))
                .or_else(|| told(strings, snapshot, frames))
                .or_else(|| frames.first().copied());
            let function = frames
                .iter()
                .copied()
                .find(|&f| this.owner(f) <= Owner::Library)
                .or(place);
            this.place.push(place);
            this.function.push(function);
        }
        this
    }

    /// Whose code a frame is.
    #[must_use]
    pub fn owner(&self, frame: FrameId) -> Owner {
        let owner = self.owner.get(frame.0 as usize);
        owner.copied().unwrap_or(Owner::Native)
    }

    /// The frame that a reader looks for in a stack: the innermost of the user's, else of a
    /// package, else of torch, else the innermost.
    #[must_use]
    pub fn place(&self, stack: StackId) -> Option<FrameId> {
        self.place.get(stack.0 as usize).copied().flatten()
    }

    /// As [`Self::place`], one frame for all that share file and line.
    #[must_use]
    pub fn line(&self, stack: StackId) -> Option<FrameId> {
        let frame = self.place(stack)?;
        self.same_line.get(frame.0 as usize).copied()
    }

    /// The innermost frame outside torch; where there is none, as [`Self::place`].
    #[must_use]
    pub fn innermost(&self, stack: StackId) -> Option<FrameId> {
        self.function.get(stack.0 as usize).copied().flatten()
    }

    /// The innermost function outside torch, one frame for all that share file and function: in
    /// models mostly the `forward` of the module at work.
    #[must_use]
    pub fn function(&self, stack: StackId) -> Option<FrameId> {
        let frame = self.innermost(stack)?;
        self.same_function.get(frame.0 as usize).copied()
    }
}

/// Of a stack without Python: the innermost frame that tells what was done. The recorder's own
/// frames, the allocator, and what makes a tensor or passes a call on do not.
fn told(strings: &StringTable, snapshot: &Snapshot, frames: &[FrameId]) -> Option<FrameId> {
    const MACHINERY: [&str; 12] = [
        "torch::unwind::",
        "torch::CapturedTraceback",
        "torch::cuda::",
        "c10::",
        "at::detail::",
        "at::native::empty",
        "at::_ops::empty",
        "at::empty",
        "at::(anonymous namespace)::(anonymous namespace)::wrapper",
        "at::(anonymous namespace)::wrapper",
        "at::TensorBase",
        "at::Tensor c10::",
    ];
    frames.iter().copied().find(|&f| {
        let name = strings.get(snapshot.frames.get(f).name);
        let passes = name.contains("::redispatch(") || name.contains("::call(");
        let empty = name.contains("create_out(") || name.contains("empty_");
        name.contains("::") && !passes && !empty && !MACHINERY.iter().any(|m| name.starts_with(m))
    })
}

fn owner(file: &str) -> Owner {
    let file = file.replace('\\', "/");
    let native = [".cpp", ".cc", ".cu", ".h", ".so", ".c", ".hpp", ".cuh"];
    if file.is_empty() || file == "??" || native.iter().any(|e| file.ends_with(e)) {
        return Owner::Native;
    }
    let package = ["site-packages/", "dist-packages/"]
        .iter()
        .find_map(|p| file.split_once(p));
    if let Some((_, rest)) = package {
        return if rest.starts_with("torch/") {
            Owner::Torch
        } else {
            Owner::Library
        };
    }
    // The profiler cuts what Python's search path has in common.
    if file.starts_with("torch/") {
        return Owner::Torch;
    }
    if file.contains("/torch/nn/") || file.contains("/torch/_") || file.contains("/torch/utils/") {
        return Owner::Torch;
    }
    if file.starts_with('<') || file.contains("/lib/python") || file.contains("/Lib/") {
        return Owner::Library;
    }
    Owner::User
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_by_path() {
        for (file, expected) in [
            ("/home/u/train.py", Owner::User),
            ("D:\\Dev\\train.py", Owner::User),
            (
                "/usr/lib/python3.12/site-packages/torch/nn/modules/module.py",
                Owner::Torch,
            ),
            (
                "C:\\env\\Lib\\site-packages\\torch\\optim\\adam.py",
                Owner::Torch,
            ),
            (
                "/usr/lib/python3.12/site-packages/transformers/a.py",
                Owner::Library,
            ),
            ("/usr/lib/python3.12/threading.py", Owner::Library),
            ("<frozen importlib._bootstrap>", Owner::Library),
            ("??", Owner::Native),
            ("/pytorch/c10/cuda/CUDACachingAllocator.cpp", Owner::Native),
        ] {
            assert_eq!(owner(file), expected, "{file}");
        }
    }
}
