//! The device: what is allocated on it.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// `CUDA_ERROR_INVALID_VALUE`
pub const INVALID: u32 = 1;
/// `CUDA_ERROR_OUT_OF_MEMORY`
pub const OUT_OF_MEMORY: u32 = 2;

/// What memory is: the numbers of [`simulated_live`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// `cuMemAlloc_v2`, pitched memory.
    Device,
    /// Stream-ordered.
    Pool,
    /// On the host.
    Pinned,
    /// Managed.
    Managed,
    /// Arrays.
    Array,
    /// `cuMemCreate`.
    Vmm,
    /// Another process's.
    Imported,
}

/// The device.
#[derive(Debug)]
pub struct Gpu {
    /// Bytes.
    pub total: u64,
    /// Bytes that a context takes.
    pub context: u64,
    /// Contexts: handle, holders.
    pub contexts: HashMap<u64, u32>,
    blocks: HashMap<u64, (u64, Kind, u64)>,
    /// Physical memory: size, handles, maps.
    physical: HashMap<u64, (u64, u32, u32)>,
    maps: HashMap<u64, u64>,
    free: HashMap<u64, Vec<u64>>,
    next: u64,
}

fn variable(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|v| v.parse().ok()).unwrap_or(default)
}

static GPU: LazyLock<Mutex<Gpu>> = LazyLock::new(|| {
    Mutex::new(Gpu {
        total: variable("SIMULATED_TOTAL", 1 << 30),
        context: variable("SIMULATED_CONTEXT", 0),
        contexts: HashMap::new(),
        blocks: HashMap::new(),
        physical: HashMap::new(),
        maps: HashMap::new(),
        free: HashMap::new(),
        next: 0x7f00_0000_0000,
    })
});

/// The device, locked.
pub fn gpu() -> MutexGuard<'static, Gpu> {
    GPU.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gpu {
    /// Bytes in use on the device.
    #[must_use]
    pub fn used(&self) -> u64 {
        let on_device = |k: Kind| !matches!(k, Kind::Pinned | Kind::Imported);
        let blocks = self.blocks.values().filter(|b| on_device(b.1));
        let contexts = self.contexts.len() as u64 * self.context;
        blocks.map(|b| b.0).sum::<u64>()
            + self.physical.values().map(|p| p.0).sum::<u64>()
            + contexts
    }

    /// Takes memory; the address of one that was freed is given first, as drivers do.
    pub fn take(&mut self, size: u64, kind: Kind, context: u64) -> Result<u64, u32> {
        let host = matches!(kind, Kind::Pinned | Kind::Imported);
        if size == 0 && kind != Kind::Imported {
            return Err(INVALID);
        }
        if !host && self.used() + size > self.total {
            return Err(OUT_OF_MEMORY);
        }
        let address = self.address(size);
        self.blocks.insert(address, (size, kind, context));
        Ok(address)
    }

    /// Memory that the program has already and registers.
    pub fn register(&mut self, address: u64, size: u64, context: u64) {
        self.blocks.insert(address, (size, Kind::Pinned, context));
    }

    fn address(&mut self, size: u64) -> u64 {
        self.free
            .get_mut(&size)
            .and_then(Vec::pop)
            .unwrap_or_else(|| {
                let address = self.next;
                self.next += size.next_multiple_of(512).max(512);
                address
            })
    }

    /// Gives memory back.
    pub fn give(&mut self, address: u64) -> u32 {
        if address == 0 {
            return 0;
        }
        match self.blocks.remove(&address) {
            Some((size, kind, _)) => {
                if kind != Kind::Pinned {
                    self.free.entry(size).or_default().push(address);
                }
                0
            }
            None => INVALID,
        }
    }

    /// A context is gone, with what it had.
    pub fn end(&mut self, context: u64) {
        self.contexts.remove(&context);
        self.blocks
            .retain(|_, b| b.2 != context || b.1 == Kind::Pool);
    }

    /// Physical memory.
    pub fn create(&mut self, size: u64) -> Result<u64, u32> {
        if self.used() + size > self.total {
            return Err(OUT_OF_MEMORY);
        }
        let handle = self.address(1);
        self.physical.insert(handle, (size, 1, 0));
        Ok(handle)
    }

    /// Changes how often physical memory is held and mapped.
    pub fn hold(&mut self, handle: u64, handles: i32, maps: i32) -> u32 {
        let Some(physical) = self.physical.get_mut(&handle) else {
            return INVALID;
        };
        physical.1 = physical.1.saturating_add_signed(handles);
        physical.2 = physical.2.saturating_add_signed(maps);
        if physical.1 == 0 && physical.2 == 0 {
            self.physical.remove(&handle);
        }
        0
    }

    /// Maps physical memory.
    pub fn map(&mut self, address: u64, handle: u64) -> u32 {
        let rc = self.hold(handle, 0, 1);
        if rc == 0 {
            self.maps.insert(address, handle);
        }
        rc
    }

    /// What is mapped at an address.
    #[must_use]
    pub fn mapped(&self, address: u64) -> Option<u64> {
        self.maps.get(&address).copied()
    }

    /// Takes a map away.
    pub fn unmap(&mut self, address: u64) -> u32 {
        match self.maps.remove(&address) {
            Some(handle) => self.hold(handle, 0, -1),
            None => INVALID,
        }
    }
}

/// Bytes live of a [`Kind`]: the count that tests hold records against.
#[unsafe(no_mangle)]
pub extern "C" fn simulated_live(kind: u32) -> u64 {
    let gpu = gpu();
    if kind == Kind::Vmm as u32 {
        return gpu.physical.values().map(|p| p.0).sum();
    }
    let of = |b: &&(u64, Kind, u64)| b.1 as u32 == kind;
    gpu.blocks.values().filter(of).map(|b| b.0).sum()
}

/// Bytes in use on the device.
#[unsafe(no_mangle)]
pub extern "C" fn simulated_used() -> u64 {
    gpu().used()
}
