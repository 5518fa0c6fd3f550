//! What the driver has given to this process and not got back, by who asked and kind.

use std::collections::{BTreeMap, HashMap};

/// What memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// `cuMemAlloc`
    Device,
    /// `cuMemAllocAsync`: out of a pool, which may hold more.
    Pool,
    /// Host memory that the device reaches.
    Pinned,
    /// Moves between host and device.
    Managed,
    /// Textures.
    Array,
    /// `cuMemCreate`
    Vmm,
    /// Another process's.
    Imported,
}

impl Kind {
    /// As records say it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Pool => "pool",
            Self::Pinned => "pinned",
            Self::Managed => "managed",
            Self::Array => "array",
            Self::Vmm => "vmm",
            Self::Imported => "imported",
        }
    }
}

/// What an address or handle is a number in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Space {
    /// Unified addresses of device and host.
    Address,
    /// Handles of arrays.
    Array,
}

/// Whose memory it is, and what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    /// The library that asked; empty when unknown.
    pub(super) lib: &'static str,
    /// What it is.
    pub(super) kind: Kind,
    /// Number of the device.
    pub(super) device: Option<u32>,
}

/// Memory at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Bytes, where known.
    pub(super) size: Option<u64>,
    /// Whose.
    pub(super) owner: Owner,
    /// The context that it dies with.
    pub(super) context: u64,
    /// The thread that is giving it back just now.
    pub(super) freed_by: Option<u64>,
}

/// A sum of [`Table::by`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Total {
    /// Whose.
    pub(super) owner: Owner,
    /// Bytes live.
    pub(super) bytes: u64,
    /// How many pieces.
    pub(super) count: u64,
}

#[derive(Debug)]
struct Physical {
    size: Option<u64>,
    owner: Owner,
    /// Handles that are held, and maps that stand: it lives as long as there is any of them.
    handles: u64,
    maps: u64,
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Table {
    blocks: HashMap<(Space, u64), Block>,
    physical: HashMap<u64, Physical>,
    /// A handle may be given anew while what it was still is mapped: hence numbers of our own.
    handles: HashMap<u64, u64>,
    maps: BTreeMap<u64, (u64, u64)>,
    next: u64,
    totals: Vec<Total>,
    bytes: u64,
}

impl Table {
    /// Sums, one an owner.
    pub(super) fn by(&self) -> impl Iterator<Item = &Total> {
        self.totals.iter().filter(|t| t.count > 0)
    }

    /// Bytes live, of all owners.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn add(&mut self, owner: Owner, size: Option<u64>) {
        let size = size.unwrap_or(0);
        self.bytes += size;
        match self.totals.iter_mut().find(|t| t.owner == owner) {
            Some(total) => {
                total.bytes += size;
                total.count += 1;
            }
            None => self.totals.push(Total {
                owner,
                bytes: size,
                count: 1,
            }),
        }
    }

    fn subtract(&mut self, owner: Owner, size: Option<u64>) {
        let size = size.unwrap_or(0);
        self.bytes = self.bytes.saturating_sub(size);
        if let Some(total) = self.totals.iter_mut().find(|t| t.owner == owner) {
            total.bytes = total.bytes.saturating_sub(size);
            total.count = total.count.saturating_sub(1);
        }
    }

    /// New memory. Gives what stood at the address: its free was not seen, or is still on its way.
    pub(super) fn alloc(&mut self, space: Space, ptr: u64, block: Block) -> Option<Block> {
        self.add(block.owner, block.size);
        let old = self.blocks.insert((space, ptr), block);
        if let Some(old) = old {
            self.subtract(old.owner, old.size);
        }
        old
    }

    /// A thread begins to give memory back. From now on the driver may give the address to another.
    /// Gives whether the memory is known.
    pub(super) fn begin_free(&mut self, space: Space, ptr: u64, thread: u64) -> bool {
        let block = self.blocks.get_mut(&(space, ptr));
        block.is_some_and(|block| {
            block.freed_by = Some(thread);
            true
        })
    }

    /// How the free ended that [`begin_free`](Self::begin_free) began. Gives the memory that is gone.
    pub(super) fn end_free(&mut self, space: Space, ptr: u64, thread: u64, ok: bool) -> Freed {
        let Some(block) = self.blocks.get_mut(&(space, ptr)) else {
            return Freed::Unknown;
        };
        if block.freed_by != Some(thread) {
            return Freed::Told;
        }
        if !ok {
            block.freed_by = None;
            return Freed::Known(*block);
        }
        let block = *block;
        self.blocks.remove(&(space, ptr));
        self.subtract(block.owner, block.size);
        Freed::Known(block)
    }

    /// Takes out what dies with a context.
    pub(super) fn context_ends(&mut self, context: u64) -> Vec<(u64, Block)> {
        let dead = |b: &Block| b.context == context && b.owner.kind != Kind::Pool;
        let keys: Vec<_> = self
            .blocks
            .iter()
            .filter(|(_, b)| dead(b))
            .map(|(k, _)| *k)
            .collect();
        let mut out = Vec::with_capacity(keys.len());
        for key in keys {
            if let Some(block) = self.blocks.remove(&key) {
                self.subtract(block.owner, block.size);
                out.push((key.1, block));
            }
        }
        out.sort_unstable_by_key(|(ptr, _)| *ptr);
        out
    }

    /// New physical memory, or another process's.
    pub(super) fn create(&mut self, handle: u64, size: Option<u64>, owner: Owner) {
        // Importing the same memory twice may give the same handle.
        if let Some(old) = self
            .handles
            .get(&handle)
            .and_then(|id| self.physical.get_mut(id))
            && owner.kind == Kind::Imported
        {
            old.handles += 1;
            return;
        }
        let id = self.next;
        self.next += 1;
        self.add(owner, size);
        self.handles.insert(handle, id);
        self.physical.insert(
            id,
            Physical {
                size,
                owner,
                handles: 1,
                maps: 0,
            },
        );
    }

    /// One more owner of a handle.
    pub(super) fn retain(&mut self, handle: u64) {
        if let Some(physical) = self
            .handles
            .get(&handle)
            .and_then(|id| self.physical.get_mut(id))
        {
            physical.handles += 1;
        }
    }

    /// Which memory a handle is of. Asked before the driver runs a release: afterwards another thread
    /// may have been given the handle for other memory.
    pub(super) fn memory_of(&self, handle: u64) -> Option<u64> {
        self.handles.get(&handle).copied()
    }

    /// One owner less of the memory `id`. Gives its size, and what the device got back by this.
    pub(super) fn release(&mut self, handle: u64, id: u64) -> Option<Released> {
        let physical = self.physical.get_mut(&id)?;
        physical.handles = physical.handles.saturating_sub(1);
        let (size, kind) = (physical.size, physical.owner.kind);
        if physical.handles == 0 && self.handles.get(&handle) == Some(&id) {
            self.handles.remove(&handle);
        }
        Some(Released {
            size,
            kind,
            freed: self.collect(id),
        })
    }

    /// Physical memory gets an address.
    pub(super) fn map(&mut self, ptr: u64, size: u64, handle: u64) {
        let Some(id) = self.handles.get(&handle).copied() else {
            return;
        };
        if let Some(physical) = self.physical.get_mut(&id) {
            physical.maps += 1;
            self.maps.insert(ptr, (size, id));
        }
    }

    /// Addresses lose their memory; gives the bytes that the device got back by this.
    pub(super) fn unmap(&mut self, ptr: u64, size: u64) -> u64 {
        let range = ptr..ptr.saturating_add(size.max(1));
        let gone: Vec<_> = self
            .maps
            .range(range)
            .map(|(p, (_, id))| (*p, *id))
            .collect();
        let mut freed = 0;
        for (ptr, id) in gone {
            self.maps.remove(&ptr);
            if let Some(physical) = self.physical.get_mut(&id) {
                physical.maps = physical.maps.saturating_sub(1);
            }
            freed += self.collect(id);
        }
        freed
    }

    /// Forgets physical memory that nobody holds.
    fn collect(&mut self, id: u64) -> u64 {
        let held = |p: &Physical| p.handles > 0 || p.maps > 0;
        if self.physical.get(&id).is_none_or(held) {
            return 0;
        }
        let Some(gone) = self.physical.remove(&id) else {
            return 0;
        };
        self.subtract(gone.owner, gone.size);
        gone.size.unwrap_or(0)
    }
}

/// How a free ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freed {
    /// The memory that it was about.
    Known(Block),
    /// It was allocated before recording began, or by a way that is not watched.
    Unknown,
    /// The driver gave the address to another before this thread came back: told there.
    Told,
}

/// What a release was about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Released {
    /// Bytes of the memory.
    pub(super) size: Option<u64>,
    /// What it is.
    pub(super) kind: Kind,
    /// Bytes that the device got back: 0 while it is mapped or held elsewhere.
    pub(super) freed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: Owner = Owner {
        lib: "libx.so",
        kind: Kind::Device,
        device: Some(0),
    };

    fn block(size: u64) -> Block {
        Block {
            size: Some(size),
            owner: OWNER,
            context: 1,
            freed_by: None,
        }
    }

    #[test]
    fn an_address_may_be_given_anew_before_the_free_returns() {
        let mut table = Table::default();
        assert_eq!(table.alloc(Space::Address, 16, block(100)), None);
        table.begin_free(Space::Address, 16, 7);
        // Another thread gets the address while thread 7 is still in the driver.
        let old = table.alloc(Space::Address, 16, block(30));
        assert_eq!(old.and_then(|b| b.freed_by), Some(7));
        assert_eq!(table.end_free(Space::Address, 16, 7, true), Freed::Told);
        assert_eq!(table.bytes(), 30);
        // A free that fails leaves it.
        table.begin_free(Space::Address, 16, 7);
        assert!(matches!(
            table.end_free(Space::Address, 16, 7, false),
            Freed::Known(_)
        ));
        assert_eq!(table.bytes(), 30);
        assert_eq!(table.context_ends(2), []);
        assert_eq!(table.context_ends(1).len(), 1);
        assert_eq!((table.bytes(), table.by().count()), (0, 0));
    }

    #[test]
    fn physical_memory_lives_while_it_is_held_or_mapped() {
        let owner = Owner {
            kind: Kind::Vmm,
            ..OWNER
        };
        let mut table = Table::default();
        table.create(5, Some(64), owner);
        table.map(4096, 32, 5);
        table.map(4128, 32, 5);
        let release = |table: &mut Table, handle| {
            let id = table.memory_of(handle)?;
            table.release(handle, id)
        };
        let released = release(&mut table, 5).map(|r| (r.size, r.freed));
        assert_eq!(released, Some((Some(64), 0)));
        // The handle is given anew while the first memory is still mapped.
        table.create(5, Some(8), owner);
        assert_eq!(table.bytes(), 72);
        assert_eq!(table.unmap(4096, 32), 0);
        assert_eq!(table.unmap(4096, 64), 64);
        table.retain(5);
        assert_eq!(release(&mut table, 5).map(|r| r.freed), Some(0));
        // Another thread is given the handle before the one that releases it is back.
        let id = table.memory_of(5).unwrap();
        table.create(5, Some(9), owner);
        assert_eq!(table.release(5, id).map(|r| r.freed), Some(8));
        assert_eq!(table.bytes(), 9);
        assert_eq!(release(&mut table, 5).map(|r| r.freed), Some(9));
        assert_eq!(release(&mut table, 5), None);
        assert_eq!(table.bytes(), 0);
    }
}
