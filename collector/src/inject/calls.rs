//! The driver's functions that are watched, by the number that CUPTI gives them
//! (`CUPTI_DRIVER_TRACE_CBID_*` of `cupti_driver_cbid.h`; numbers are never given anew).

/// How the parameters of a call lie, and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// `cuMemAlloc_v2`
    Alloc,
    /// `cuMemAllocPitch_v2`
    AllocPitch,
    /// `cuMemAllocManaged`
    AllocManaged,
    /// `cuMemAllocHost_v2`, `cuMemHostAlloc`: a host address and a size.
    AllocHost,
    /// `cuMemHostRegister`
    Register,
    /// `cuMemAllocAsync`
    AllocAsync,
    /// `cuMemAllocFromPoolAsync`
    AllocFromPool,
    /// `cuArrayCreate_v2`
    Array,
    /// `cuArray3DCreate_v2`
    Array3D,
    /// `cuMipmappedArrayCreate`
    Mipmapped,
    /// `cuIpcOpenMemHandle`
    IpcOpen,
    /// A free whose only parameter is an address.
    Free,
    /// `cuArrayDestroy`, `cuMipmappedArrayDestroy`
    FreeArray,
    /// `cuMemFreeAsync`
    FreeAsync,
    /// `cuMemCreate`
    Create,
    /// `cuMemImportFromShareableHandle`
    Import,
    /// `cuMemRetainAllocationHandle`
    Retain,
    /// `cuMemRelease`
    Release,
    /// `cuMemMap`
    Map,
    /// `cuMemUnmap`
    Unmap,
    /// `cuMemPoolCreate`
    PoolCreate,
    /// `cuMemPoolDestroy`
    PoolDestroy,
    /// `cuMemPoolTrimTo`
    PoolTrim,
    /// `cuDevicePrimaryCtxRetain`
    PrimaryContext,
    /// `cuCtxCreate_v2`
    Context2,
    /// `cuCtxCreate_v3`
    Context3,
    /// `cuCtxCreate_v4`
    Context4,
}

/// A watched function.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    /// CUPTI's number.
    pub(super) cbid: u32,
    /// Its name, as records say it.
    pub(super) name: &'static str,
    /// How its parameters lie.
    pub(super) shape: Shape,
}

const fn call(cbid: u32, name: &'static str, shape: Shape) -> Call {
    Call { cbid, name, shape }
}

/// All of them, by rising number. The variants with 32-bit addresses (`cuMemAlloc`, 29, …) are not
/// reached by 64-bit programs.
pub(super) const CALLS: [Call; 38] = [
    call(38, "cuMemFreeHost", Shape::Free),
    call(39, "cuMemHostAlloc", Shape::AllocHost),
    call(89, "cuArrayDestroy", Shape::FreeArray),
    call(235, "cuCtxCreate_v2", Shape::Context2),
    call(243, "cuMemAlloc_v2", Shape::Alloc),
    call(244, "cuMemAllocPitch_v2", Shape::AllocPitch),
    call(245, "cuMemFree_v2", Shape::Free),
    call(271, "cuMemHostAlloc_v2", Shape::AllocHost),
    call(272, "cuArrayCreate_v2", Shape::Array),
    call(274, "cuArray3DCreate_v2", Shape::Array3D),
    call(294, "cuMemAllocHost_v2", Shape::AllocHost),
    call(301, "cuMemHostRegister", Shape::Register),
    call(302, "cuMemHostUnregister", Shape::Free),
    call(329, "cuIpcOpenMemHandle", Shape::IpcOpen),
    call(330, "cuIpcCloseMemHandle", Shape::Free),
    call(347, "cuMipmappedArrayCreate", Shape::Mipmapped),
    call(349, "cuMipmappedArrayDestroy", Shape::FreeArray),
    call(371, "cuMemAllocManaged", Shape::AllocManaged),
    call(379, "cuMemHostRegister_v2", Shape::Register),
    call(386, "cuDevicePrimaryCtxRetain", Shape::PrimaryContext),
    call(549, "cuMemCreate", Shape::Create),
    call(550, "cuMemRelease", Shape::Release),
    call(551, "cuMemMap", Shape::Map),
    call(552, "cuMemUnmap", Shape::Unmap),
    call(555, "cuMemImportFromShareableHandle", Shape::Import),
    call(565, "cuMemRetainAllocationHandle", Shape::Retain),
    call(567, "cuIpcOpenMemHandle_v2", Shape::IpcOpen),
    call(598, "cuMemAllocAsync", Shape::AllocAsync),
    call(599, "cuMemAllocAsync_ptsz", Shape::AllocAsync),
    call(600, "cuMemFreeAsync", Shape::FreeAsync),
    call(601, "cuMemFreeAsync_ptsz", Shape::FreeAsync),
    call(602, "cuMemPoolTrimTo", Shape::PoolTrim),
    call(607, "cuMemPoolCreate", Shape::PoolCreate),
    call(608, "cuMemPoolDestroy", Shape::PoolDestroy),
    call(611, "cuMemAllocFromPoolAsync", Shape::AllocFromPool),
    call(612, "cuMemAllocFromPoolAsync_ptsz", Shape::AllocFromPool),
    call(645, "cuCtxCreate_v3", Shape::Context3),
    call(757, "cuCtxCreate_v4", Shape::Context4),
];

/// The watched function of a number.
pub(super) fn find(cbid: u32) -> Option<&'static Call> {
    let at = CALLS.binary_search_by_key(&cbid, |c| c.cbid).ok()?;
    CALLS.get(at)
}

/// Whether a call takes memory away: it is looked at before the driver runs it, too.
pub(super) fn takes(shape: Shape) -> bool {
    matches!(shape, Shape::Free | Shape::FreeArray | Shape::FreeAsync)
}

/// Whether a call makes a context.
pub(super) fn makes_context(shape: Shape) -> bool {
    matches!(
        shape,
        Shape::PrimaryContext | Shape::Context2 | Shape::Context3 | Shape::Context4
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_rise() {
        assert!(CALLS.windows(2).all(|p| p[0].cbid < p[1].cbid));
        assert_eq!(find(243).map(|c| c.name), Some("cuMemAlloc_v2"));
        assert!(find(242).is_none(), "cuMemGetInfo_v2 is ours to call");
    }
}
