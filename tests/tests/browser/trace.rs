//! A snapshot's trace, replayed by this test's own few lines: allocations come and go by address.
//! The file is read by `report`; none of its analyses is used.

use std::collections::HashMap;

use report::model::Rank;
use report::model::snapshot::{Action, StackId};

/// One frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    pub name: String,
    pub file: String,
    pub line: u32,
}

/// An allocation of the trace.
#[derive(Debug, Clone)]
pub struct Block {
    pub address: u64,
    pub size: u64,
    /// Row of the trace.
    pub born: usize,
    /// Row of its `free_completed`.
    pub freed: Option<usize>,
    /// Innermost first; empty when not recorded.
    pub frames: Vec<Frame>,
}

impl Block {
    /// The first frame outside installed packages, Python's library and C++, as the page names it.
    pub fn user_line(&self) -> String {
        let own = |f: &&Frame| {
            f.file.ends_with(".py")
                && !f.file.contains("-packages/")
                && !f.file.contains("/lib/python")
        };
        match self.frames.iter().find(own) {
            Some(f) => format!("{}:{}", f.file.rsplit('/').next().unwrap(), f.line),
            None => "no Python frame was recorded".to_owned(),
        }
    }
}

/// The history of the device with the longest one.
pub struct Trace {
    actions: Vec<Action>,
    pub blocks: Vec<Block>,
}

impl Trace {
    /// Reads a file whose history is whole.
    pub fn read(path: &std::path::Path) -> Self {
        let bytes = std::fs::read(path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let mut report = report::read::read_stream(name, &bytes[..]).unwrap();
        Self::of(&report.ranks.remove(0))
    }

    fn of(rank: &Rank) -> Self {
        let s = rank.snapshot.as_ref().unwrap();
        let rows = s.devices.iter().map(|d| d.range());
        let rows = rows.max_by_key(ExactSizeIterator::len).unwrap();
        assert_eq!(rows.start, 0, "rows are events here");
        let frames = |stack: Option<StackId>| -> Vec<Frame> {
            let ids = stack.map_or(&[][..], |stack| s.stacks.get(stack));
            let frame = |&id| {
                let f = s.frames.get(id);
                Frame {
                    name: rank.strings.get(f.name).to_owned(),
                    file: rank.strings.get(f.file).to_owned(),
                    line: f.line,
                }
            };
            ids.iter().map(frame).collect()
        };
        let mut blocks: Vec<Block> = Vec::new();
        let mut open: HashMap<u64, usize> = HashMap::new();
        for row in rows.clone() {
            let e = s.events.row(row);
            match e.action {
                Action::Alloc => {
                    open.insert(e.address, blocks.len());
                    blocks.push(Block {
                        address: e.address,
                        size: e.size,
                        born: row,
                        freed: None,
                        frames: frames(e.stack),
                    });
                }
                Action::FreeCompleted => {
                    let at = open.remove(&e.address).expect("the history is whole");
                    blocks[at].freed = Some(row);
                }
                _ => {}
            }
        }
        Self {
            actions: s.events.action[rows].to_vec(),
            blocks,
        }
    }

    /// Number of events.
    pub fn events(&self) -> usize {
        self.actions.len()
    }

    /// What lives after an event.
    pub fn live_after(&self, event: usize) -> Vec<Block> {
        let lives = |b: &&Block| b.born <= event && b.freed.is_none_or(|f| f > event);
        self.blocks.iter().filter(lives).cloned().collect()
    }

    /// What lives after the last event.
    pub fn live_at_end(&self) -> Vec<Block> {
        self.live_after(self.events() - 1)
    }

    /// What lives at the first event of highest requested bytes.
    pub fn live_at_peak(&self) -> Vec<Block> {
        let mut change = vec![0i64; self.events()];
        for b in &self.blocks {
            change[b.born] += b.size as i64;
            if let Some(f) = b.freed {
                change[f] -= b.size as i64;
            }
        }
        let (mut sum, mut best) = (0, (0, 0));
        for (row, by) in change.into_iter().enumerate() {
            sum += by;
            if sum > best.0 {
                best = (sum, row);
            }
        }
        self.live_after(best.1)
    }

    /// What lives when memory first ran out.
    pub fn live_at_oom(&self) -> Vec<Block> {
        let row = self.actions.iter().position(|a| *a == Action::Oom).unwrap();
        self.live_after(row)
    }
}
