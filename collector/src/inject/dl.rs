//! Shared libraries that are there or not: opened by name, asked for functions.
//!
//! Nothing is linked: a program without driver, or with another version of it, must run on.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr::NonNull;

/// A library of the process. It stays open: others use it, too.
#[derive(Debug, Clone, Copy)]
pub(super) struct Library(NonNull<c_void>);

// SAFETY: the handle is only given to dlsym, which any thread may call.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// The library if it is in the process already.
    pub(super) fn loaded(name: &CStr) -> Option<Self> {
        Self::dlopen(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD)
    }

    /// The library, loaded where it is not yet.
    pub(super) fn open(name: &CStr) -> Option<Self> {
        Self::dlopen(name, libc::RTLD_LAZY)
    }

    /// As [`open`](Self::open), of a file.
    pub(super) fn open_file(path: &Path) -> Option<Self> {
        Self::open(&CString::new(path.as_os_str().as_bytes()).ok()?)
    }

    fn dlopen(name: &CStr, flags: i32) -> Option<Self> {
        // SAFETY: the name ends with NUL; constructors of vendors' libraries run, as in any program
        // that uses them.
        NonNull::new(unsafe { libc::dlopen(name.as_ptr(), flags) }).map(Self)
    }

    /// A function of the library as the type `F`.
    ///
    /// # Safety
    /// `F` is the function's type: `unsafe extern "C" fn(…) -> …`.
    pub(super) unsafe fn function<F: Copy>(self, name: &CStr) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        // SAFETY: the handle is open and the name ends with NUL.
        let address = NonNull::new(unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr()) })?;
        // SAFETY: the caller says that F is this function's type; it is as large as an address.
        Some(unsafe { std::mem::transmute_copy(&address) })
    }
}
