//! What the parameters of the watched functions say: their layouts as `cuda.h` documents them, and
//! the event that a call was.

#![allow(unsafe_code)]

use std::ffi::c_void;

use super::calls::Shape;
use super::table::{Kind, Space};

/// What a call did, or was asked to do. Sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// Memory at an address; the address is known of calls that succeeded.
    Alloc {
        kind: Kind,
        space: Space,
        ptr: Option<u64>,
        size: Option<u64>,
        stream: Option<u64>,
        pool: Option<u64>,
    },
    /// Memory at an address is given back.
    Free {
        space: Space,
        ptr: u64,
        stream: Option<u64>,
    },
    /// Physical memory; `size` is unknown where another process made it.
    Create {
        handle: Option<u64>,
        size: Option<u64>,
        kind: Kind,
        device: Option<u32>,
    },
    /// One more owner of physical memory.
    Retain { handle: Option<u64> },
    /// One owner less.
    Release { handle: u64 },
    /// Physical memory gets an address.
    Map {
        ptr: u64,
        size: u64,
        offset: u64,
        handle: u64,
    },
    /// Addresses lose their physical memory.
    Unmap { ptr: u64, size: u64 },
    /// A pool was made, destroyed, or gave back what it does not use.
    Pool {
        op: &'static str,
        pool: Option<u64>,
        device: Option<u32>,
    },
    /// A device has a context.
    Context { context: Option<u64>, device: u32 },
}

macro_rules! layouts {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* })*) => { $(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub(super) struct $name { $(pub(super) $field: $type),* }
    )* };
}

// Pointers are held as addresses: what they point to is read only where the call succeeded.
layouts! {
    Alloc { out: u64, size: u64 }
    AllocPitch { out: u64, pitch: u64, width: u64, height: u64, element: u32 }
    AllocAsync { out: u64, size: u64, stream: u64 }
    AllocFromPool { out: u64, size: u64, pool: u64, stream: u64 }
    One { value: u64 }
    Register { ptr: u64, size: u64, flags: u32 }
    FreeAsync { ptr: u64, stream: u64 }
    OutAndDescriptor { out: u64, descriptor: u64, levels: u32 }
    Create { out: u64, size: u64, prop: u64, flags: u64 }
    Map { ptr: u64, size: u64, offset: u64, handle: u64, flags: u64 }
    Two { first: u64, second: u64 }
    PrimaryContext { out: u64, device: i32 }
    Context2 { out: u64, flags: u32, device: i32 }
    Context3 { out: u64, affinity: u64, number: i32, flags: u32, device: i32 }
    Context4 { out: u64, params: u64, flags: u32, device: i32 }
    /// `CUDA_ARRAY_DESCRIPTOR`
    ArrayDescriptor { width: u64, height: u64, format: u32, channels: u32 }
    /// `CUDA_ARRAY3D_DESCRIPTOR`
    Array3DDescriptor { width: u64, height: u64, depth: u64, format: u32, channels: u32, flags: u32 }
    /// `CUmemAllocationProp` as far as it is read.
    AllocationProp { type_: u32, handle_types: u32, location_type: u32, location: i32 }
    /// `CUmemPoolProps` as far as it is read.
    PoolProps { type_: u32, handle_types: u32, location_type: u32, location: i32 }
}

/// `CU_MEM_LOCATION_TYPE_DEVICE`; those above it are hosts.
const ON_DEVICE: u32 = 1;

/// What a call was. Results are read only where it succeeded (`ok`).
///
/// # Safety
/// `params` are the parameters of a call of this shape, which has begun (and, with `ok`, succeeded).
pub(super) unsafe fn decode(shape: Shape, params: *const c_void, ok: bool) -> Option<Event> {
    if params.is_null() {
        return None;
    }
    // SAFETY: the caller says that the parameters lie as this shape's.
    unsafe {
        Some(match shape {
            Shape::Alloc => {
                let p = read::<Alloc>(params);
                block(Kind::Device, result(p.out, ok), Some(p.size))
            }
            Shape::AllocManaged => {
                let p = read::<Alloc>(params);
                block(Kind::Managed, result(p.out, ok), Some(p.size))
            }
            Shape::AllocHost => {
                let p = read::<Alloc>(params);
                block(Kind::Pinned, result(p.out, ok), Some(p.size))
            }
            Shape::AllocPitch => {
                let p = read::<AllocPitch>(params);
                // The pitch is the driver's answer: without it the width is all that was asked for.
                let pitch = result(p.pitch, ok).unwrap_or(p.width);
                let size = pitch.checked_mul(p.height);
                block(Kind::Device, result(p.out, ok), size)
            }
            Shape::Register => {
                let p = read::<Register>(params);
                block(Kind::Pinned, ok.then_some(p.ptr), Some(p.size))
            }
            Shape::AllocAsync => {
                let p = read::<AllocAsync>(params);
                pooled(result(p.out, ok), p.size, p.stream, None)
            }
            Shape::AllocFromPool => {
                let p = read::<AllocFromPool>(params);
                pooled(result(p.out, ok), p.size, p.stream, Some(p.pool))
            }
            Shape::Array => {
                let p = read::<OutAndDescriptor>(params);
                let size = behind::<ArrayDescriptor>(p.descriptor)
                    .and_then(|d| texels(d.width, d.height, 0, d.format, d.channels, 1));
                array(result(p.out, ok), size)
            }
            Shape::Array3D | Shape::Mipmapped => {
                let p = read::<OutAndDescriptor>(params);
                let levels = if shape == Shape::Mipmapped {
                    p.levels
                } else {
                    1
                };
                let size = behind::<Array3DDescriptor>(p.descriptor)
                    .and_then(|d| texels(d.width, d.height, d.depth, d.format, d.channels, levels));
                array(result(p.out, ok), size)
            }
            Shape::IpcOpen => block(Kind::Imported, result(read::<One>(params).value, ok), None),
            Shape::Free => Event::Free {
                space: Space::Address,
                ptr: read::<One>(params).value,
                stream: None,
            },
            Shape::FreeArray => Event::Free {
                space: Space::Array,
                ptr: read::<One>(params).value,
                stream: None,
            },
            Shape::FreeAsync => {
                let p = read::<FreeAsync>(params);
                Event::Free {
                    space: Space::Address,
                    ptr: p.ptr,
                    stream: Some(p.stream),
                }
            }
            Shape::Create => {
                let p = read::<Create>(params);
                let prop = behind::<AllocationProp>(p.prop);
                let host = prop.is_some_and(|p| p.location_type > ON_DEVICE);
                Event::Create {
                    handle: result(p.out, ok),
                    size: Some(p.size),
                    kind: if host { Kind::Pinned } else { Kind::Vmm },
                    device: prop.and_then(|p| on_device(p.location_type, p.location)),
                }
            }
            Shape::Import => Event::Create {
                handle: result(read::<One>(params).value, ok),
                size: None,
                kind: Kind::Imported,
                device: None,
            },
            Shape::Retain => Event::Retain {
                handle: result(read::<One>(params).value, ok),
            },
            Shape::Release => Event::Release {
                handle: read::<One>(params).value,
            },
            Shape::Map => {
                let p = read::<Map>(params);
                Event::Map {
                    ptr: p.ptr,
                    size: p.size,
                    offset: p.offset,
                    handle: p.handle,
                }
            }
            Shape::Unmap => {
                let p = read::<Two>(params);
                Event::Unmap {
                    ptr: p.first,
                    size: p.second,
                }
            }
            Shape::PoolCreate => {
                let p = read::<Two>(params);
                Event::Pool {
                    op: "create",
                    pool: result(p.first, ok),
                    device: behind::<PoolProps>(p.second)
                        .and_then(|p| on_device(p.location_type, p.location)),
                }
            }
            Shape::PoolDestroy | Shape::PoolTrim => Event::Pool {
                op: if shape == Shape::PoolTrim {
                    "trim"
                } else {
                    "destroy"
                },
                pool: Some(read::<One>(params).value),
                device: None,
            },
            Shape::PrimaryContext => {
                let p = read::<PrimaryContext>(params);
                context(result(p.out, ok), p.device)?
            }
            Shape::Context2 => {
                let p = read::<Context2>(params);
                context(result(p.out, ok), p.device)?
            }
            Shape::Context3 => {
                let p = read::<Context3>(params);
                context(result(p.out, ok), p.device)?
            }
            Shape::Context4 => {
                let p = read::<Context4>(params);
                context(result(p.out, ok), p.device)?
            }
        })
    }
}

/// # Safety
/// A `T` lies there.
unsafe fn read<T: Copy>(params: *const c_void) -> T {
    // SAFETY: the caller's; alignment is not relied on.
    unsafe { params.cast::<T>().read_unaligned() }
}

/// # Safety
/// `address` is null or a `T` lies there.
unsafe fn behind<T: Copy>(address: u64) -> Option<T> {
    // SAFETY: the caller's.
    (address != 0).then(|| unsafe { read::<T>(address as *const c_void) })
}

/// What a successful call wrote where it was told to.
///
/// # Safety
/// With `ok`, `out` is null or points to 8 bytes.
unsafe fn result(out: u64, ok: bool) -> Option<u64> {
    if !ok {
        return None;
    }
    // SAFETY: the caller's.
    unsafe { behind::<u64>(out) }
}

fn block(kind: Kind, ptr: Option<u64>, size: Option<u64>) -> Event {
    Event::Alloc {
        kind,
        space: Space::Address,
        ptr,
        size,
        stream: None,
        pool: None,
    }
}

fn pooled(ptr: Option<u64>, size: u64, stream: u64, pool: Option<u64>) -> Event {
    Event::Alloc {
        kind: Kind::Pool,
        space: Space::Address,
        ptr,
        size: Some(size),
        stream: Some(stream),
        pool,
    }
}

fn array(handle: Option<u64>, size: Option<u64>) -> Event {
    Event::Alloc {
        kind: Kind::Array,
        space: Space::Array,
        ptr: handle,
        size,
        stream: None,
        pool: None,
    }
}

fn context(context: Option<u64>, device: i32) -> Option<Event> {
    let device = u32::try_from(device).ok()?;
    Some(Event::Context { context, device })
}

fn on_device(location_type: u32, location: i32) -> Option<u32> {
    (location_type == ON_DEVICE)
        .then(|| u32::try_from(location).ok())
        .flatten()
}

/// Bytes of the texels of an array and its smaller copies. What the driver adds for its tiling is not
/// known; formats of compressed textures are not either.
fn texels(
    width: u64,
    height: u64,
    depth: u64,
    format: u32,
    channels: u32,
    levels: u32,
) -> Option<u64> {
    let texel = match format {
        0x01 | 0x08 => 1,
        0x02 | 0x09 | 0x10 => 2,
        0x03 | 0x0a | 0x20 => 4,
        _ => return None,
    } * u64::from(channels);
    let mut sides = [width, height.max(1), depth.max(1)];
    let mut sum = 0_u64;
    for _ in 0..levels.min(64) {
        let texels = sides.iter().try_fold(1_u64, |a, s| a.checked_mul(*s))?;
        sum = sum.checked_add(texels.checked_mul(texel)?)?;
        sides = sides.map(|s| (s / 2).max(1));
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// Sizes and offsets as a C compiler lays out `generated_cuda_meta.h` and `cuda.h` of CUDA 13.0.
    #[test]
    fn layouts_are_those_of_c() {
        let sizes = [
            (size_of::<Alloc>(), 16),
            (size_of::<AllocPitch>(), 40),
            (size_of::<AllocAsync>(), 24),
            (size_of::<AllocFromPool>(), 32),
            (size_of::<Register>(), 24),
            (size_of::<FreeAsync>(), 16),
            (size_of::<OutAndDescriptor>(), 24),
            (size_of::<Create>(), 32),
            (size_of::<Map>(), 40),
            (size_of::<PrimaryContext>(), 16),
            (size_of::<Context2>(), 16),
            (size_of::<Context3>(), 32),
            (size_of::<Context4>(), 24),
            (size_of::<ArrayDescriptor>(), 24),
            (size_of::<Array3DDescriptor>(), 40),
        ];
        for (i, (ours, c)) in sizes.iter().enumerate() {
            assert_eq!(ours, c, "number {i}");
        }
        assert_eq!(offset_of!(AllocPitch, height), 24);
        assert_eq!(offset_of!(AllocFromPool, pool), 16);
        assert_eq!(offset_of!(Context2, device), 12);
        assert_eq!(offset_of!(Context3, device), 24);
        assert_eq!(offset_of!(Context4, device), 20);
        assert_eq!(offset_of!(AllocationProp, location_type), 8);
        assert_eq!(offset_of!(AllocationProp, location), 12);
        assert_eq!(offset_of!(Array3DDescriptor, format), 24);
    }

    #[test]
    fn results_of_failed_calls_are_not_read() {
        // An address that nothing lies at.
        let params = Alloc {
            out: 8,
            size: 1 << 40,
        };
        // SAFETY: these are the parameters of such a call.
        let event = unsafe { decode(Shape::Alloc, (&raw const params).cast(), false) };
        let Some(Event::Alloc { ptr, size, .. }) = event else {
            unreachable!("an allocation");
        };
        assert_eq!((ptr, size), (None, Some(1 << 40)));
    }

    #[test]
    fn arrays_and_their_smaller_copies() {
        // 8 x 4 floats with 2 channels.
        assert_eq!(texels(8, 4, 0, 0x20, 2, 1), Some(8 * 4 * 8));
        // 8x8, 4x4, 2x2, 1x1 bytes.
        assert_eq!(texels(8, 8, 0, 0x01, 1, 4), Some(64 + 16 + 4 + 1));
        assert_eq!(texels(8, 8, 0, 0x91, 4, 1), None);
    }
}
