//! Is there a CUDA driver that can be called? cudarc loads each function when it is first called, and
//! panics when the library or the function is missing; a program that only wants to be recorded must
//! not die of that.

#![allow(unsafe_code)]

use libloading::Library;

use crate::error::Error;

/// The names under which the driver's library is installed.
const NAMES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

/// The functions that are called for figures.
const FUNCTIONS: [&str; 11] = [
    "cuInit",
    "cuDeviceGet",
    "cuDeviceGetName",
    "cuDeviceGetUuid",
    "cuDeviceGetAttribute",
    "cuDeviceTotalMem_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDeviceGetDefaultMemPool",
    "cuMemPoolGetAttribute",
    "cuMemGetInfo_v2",
    "cuCtxSetCurrent",
];

/// Whether the driver's library is there and has all that is called.
///
/// # Errors
/// [`Error::Driver`] says what is missing and what to do.
pub(crate) fn check() -> Result<(), Error> {
    check_named(&NAMES)
}

fn check_named(names: &[&str]) -> Result<(), Error> {
    let mut why = String::new();
    for name in names {
        // SAFETY: loading the driver runs its initialisers, as any CUDA program does; nothing else is
        // called, and the driver stays loaded for the program.
        match unsafe { Library::new(*name) } {
            Ok(library) => return check_functions(name, library),
            Err(error) if why.is_empty() => {
                // The loader's own words stand in the source of the error.
                let said = std::error::Error::source(&error).map(ToString::to_string);
                why = said.unwrap_or_else(|| format!("{name}: {error}"));
            }
            Err(_) => {}
        }
    }
    Err(Error::Driver(format!(
        "no CUDA driver: {why}. On a machine without an NVIDIA GPU record without figures \
         (Recorder::builder() without a probe); in a container start it with --gpus all"
    )))
}

fn check_functions(name: &str, library: Library) -> Result<(), Error> {
    for function in FUNCTIONS {
        // SAFETY: the symbol is only looked up, never called through this type.
        let found = unsafe { library.get::<unsafe extern "C" fn()>(function.as_bytes()) };
        if found.is_err() {
            return Err(Error::Driver(format!(
                "{name} has no {function}: it is a stub library or older than CUDA 11.4. Put the \
                 driver's own libcuda.so.1 before it on LD_LIBRARY_PATH"
            )));
        }
    }
    // Unloading a driver that others may use is never right.
    std::mem::forget(library);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_driver_is_an_error_that_says_what_to_do() {
        let error = check_named(&["libcuda-that-is-not-there.so"])
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("no CUDA driver: "), "{error}");
        assert!(error.contains("libcuda-that-is-not-there.so"), "{error}");
        assert!(error.contains("--gpus all"), "{error}");
    }

    #[test]
    fn a_library_without_the_driver_s_functions_is_named() {
        let error = check_named(&["libc.so.6"]).unwrap_err().to_string();
        assert!(
            error.starts_with("libc.so.6 has no cuInit: it is a stub library"),
            "{error}"
        );
    }
}
