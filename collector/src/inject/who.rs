//! Which library asked: the first one on the native stack that is not the driver's, the runtime's, the
//! C library's or ours.
//!
//! Only addresses are taken; names come from `/proc/self/maps`, read when an address is new. `dladdr`
//! would wait for the loader's lock, which the thread that loads a library holds while it waits for
//! the driver.

#![allow(unsafe_code)]

use std::collections::HashSet;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

/// Frames that are looked at to find the library.
const NEAR: usize = 48;
/// Frames of a backtrace.
pub(super) const FAR: usize = 64;

/// An executable part of the process.
#[derive(Debug, Clone, Copy)]
struct Part {
    start: u64,
    end: u64,
    /// Where the file lies that it is a part of: what offsets count from.
    base: u64,
    name: &'static str,
    /// Stands between who asks and the driver.
    between: bool,
}

/// The executable parts, by address.
#[derive(Debug, Default)]
pub(super) struct Who {
    parts: Mutex<Parts>,
}

#[derive(Debug, Default)]
struct Parts {
    list: Vec<Part>,
    names: HashSet<&'static str>,
    /// Addresses that were not found even after the map was read anew.
    nowhere: HashSet<u64>,
}

/// A frame: its library and the offset in the library's file.
pub(super) type Frame = (&'static str, u64);

impl Who {
    /// Who asked, and the frames above where `far`.
    #[inline(never)]
    pub(super) fn asked(&self, far: bool) -> (&'static str, Vec<Frame>) {
        let mut walk = Walk {
            addresses: [0; FAR],
            length: 0,
            limit: if far { FAR } else { NEAR },
            who: self,
            found: None,
            far,
        };
        // SAFETY: the callback takes a Walk, which outlives the call.
        unsafe { _Unwind_Backtrace(step, (&raw mut walk).cast()) };
        let mut frames = Vec::new();
        if far {
            for address in walk.addresses.iter().take(walk.length) {
                // The driver's side of the stack tells nothing: frames begin with who asked.
                if let Some(part) = self.part(*address)
                    && !(frames.is_empty() && part.between)
                {
                    frames.push((part.name, address - part.base));
                }
            }
        }
        (walk.found.unwrap_or_default(), frames)
    }

    fn part(&self, address: u64) -> Option<Part> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(part) = parts.find(address) {
            return Some(part);
        }
        if parts.nowhere.contains(&address) {
            return None;
        }
        // A library was loaded since.
        parts.read();
        let found = parts.find(address);
        if found.is_none() && parts.nowhere.len() < 4096 {
            parts.nowhere.insert(address);
        }
        found
    }
}

impl Parts {
    fn find(&self, address: u64) -> Option<Part> {
        let at = self.list.partition_point(|p| p.end <= address);
        self.list.get(at).filter(|p| p.start <= address).copied()
    }

    fn read(&mut self) {
        let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else {
            return;
        };
        self.list.clear();
        self.nowhere.clear();
        let executable = std::fs::read_link("/proc/self/exe").unwrap_or_default();
        let (mut base, mut path_of_base) = (0, "");
        for line in maps.lines() {
            let Some(mapping) = Mapping::parse(line) else {
                continue;
            };
            if mapping.offset == 0 || mapping.path != path_of_base {
                (base, path_of_base) = (mapping.start, mapping.path);
            }
            if !mapping.executable {
                continue;
            }
            let name = file_name(mapping.path);
            let name = self.intern(name);
            let own = (mapping.start..mapping.end).contains(&own_code());
            self.list.push(Part {
                start: mapping.start,
                end: mapping.end,
                base,
                name,
                between: own || name.is_empty() || between(name),
            });
            if own && mapping.path == executable.to_string_lossy() {
                // Linked into the program itself: then it is the program that asks.
                if let Some(part) = self.list.last_mut() {
                    part.between = false;
                }
            }
        }
    }

    /// Names are kept for the life of the process: there are as many as libraries.
    fn intern(&mut self, name: &str) -> &'static str {
        if let Some(known) = self.names.get(name) {
            return known;
        }
        let leaked: &'static str = Box::leak(name.to_owned().into_boxed_str());
        self.names.insert(leaked);
        leaked
    }
}

/// A line of `/proc/self/maps`.
struct Mapping<'a> {
    start: u64,
    end: u64,
    executable: bool,
    offset: u64,
    path: &'a str,
}

impl<'a> Mapping<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let mut rest = line;
        let mut word = || {
            let trimmed = rest.trim_start();
            let (word, after) = trimmed.split_at(trimmed.find(' ').unwrap_or(trimmed.len()));
            rest = after;
            word
        };
        let (range, rights, offset) = (word(), word(), word());
        let (_device, _inode) = (word(), word());
        let (start, end) = range.split_once('-')?;
        Some(Self {
            start: hex(start)?,
            end: hex(end)?,
            executable: rights.as_bytes().get(2) == Some(&b'x'),
            offset: hex(offset)?,
            path: rest.trim_start(),
        })
    }
}

/// The name of a mapped file; one that was replaced on disk since has ` (deleted)` behind its path.
fn file_name(path: &str) -> &str {
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    path.rsplit('/').next().unwrap_or(path)
}

/// The beginnings of names of libraries that ask on behalf of others.
const BETWEEN: [&str; 14] = [
    "libcuda.so",
    "libcudart.so",
    "libcudart-",
    "libcupti.so",
    "libnvidia-",
    "libc.so",
    "libc-2",
    "libpthread",
    "libdl.so",
    "ld-linux",
    "libgcc_s",
    "libstdc++",
    "libffi.so",
    "[vdso]",
];

fn between(name: &str) -> bool {
    BETWEEN.iter().any(|b| name.starts_with(b))
}

/// An address in this library.
fn own_code() -> u64 {
    step as *const () as u64
}

struct Walk<'a> {
    addresses: [u64; FAR],
    length: usize,
    limit: usize,
    who: &'a Who,
    found: Option<&'static str>,
    far: bool,
}

/// `_URC_NO_REASON`: go on.
const GO_ON: i32 = 0;
/// `_URC_END_OF_STACK`: stop.
const STOP: i32 = 5;

unsafe extern "C" {
    // Of libgcc_s, which the standard library is linked with for panics.
    fn _Unwind_Backtrace(
        step: extern "C" fn(*mut c_void, *mut c_void) -> i32,
        data: *mut c_void,
    ) -> i32;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

extern "C" fn step(context: *mut c_void, data: *mut c_void) -> i32 {
    // SAFETY: `asked` passes its Walk and waits.
    let walk = unsafe { &mut *data.cast::<Walk<'_>>() };
    // SAFETY: the unwinder passes its context.
    let ip = unsafe { _Unwind_GetIP(context) } as u64;
    let Some(slot) = walk.addresses.get_mut(walk.length) else {
        return STOP;
    };
    // The return address may be the first byte of the next function: the call lies before it.
    *slot = ip.saturating_sub(1);
    let address = *slot;
    walk.length += 1;
    if walk.found.is_none()
        && let Some(part) = walk.who.part(address)
        && !part.between
    {
        walk.found = Some(part.name);
        if !walk.far {
            return STOP;
        }
    }
    if walk.length >= walk.limit {
        STOP
    } else {
        GO_ON
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_read() {
        let line =
            "7f12a000-7f12b000 r-xp 00026000 fe:00 1234     /opt/a dir/libnccl.so.2 (deleted)";
        let mapping = Mapping::parse(line).unwrap();
        assert!(mapping.executable);
        assert_eq!((mapping.start, mapping.offset), (0x7f12_a000, 0x26000));
        assert_eq!(file_name(mapping.path), "libnccl.so.2");
        assert!(
            !between("libnccl.so.2") && !between("libcublas.so.13") && !between("libcudnn.so.9")
        );
        assert!(between("libcudart.so.13") && between("libcuda.so.580.65.06"));
    }

    #[test]
    fn a_program_asks_for_itself() {
        let who = Who::default();
        let (lib, frames) = who.asked(true);
        let own = std::env::current_exe().unwrap();
        assert_eq!(Some(lib), own.file_name().and_then(|n| n.to_str()));
        assert_eq!(frames.first().map(|f| f.0), Some(lib));
    }
}
