//! What a record of the driver costs, in processor time: the injected library against the simulated driver, whose calls
//! take next to nothing. Prints one line of JSON.
//!
//! ```text
//! cargo build --release -p collector -p simulated-driver
//! cargo run --release -p collector --example driver_cost -- target/release
//! ```

#![allow(unsafe_code)]

use std::error::Error;
use std::ffi::{CString, c_void};
use std::path::Path;
use std::process::Command;

use rustix::time::{ClockId, clock_gettime};

type Function = unsafe extern "C" fn(u64, u64) -> u32;

/// Pairs of an allocation and its free that are timed.
const PAIRS: u32 = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(word) if word == "--time" => {
            println!("{}", time()?);
            Ok(())
        }
        Some(folder) => compare(Path::new(&folder)),
        None => Err("give the folder with libmemscope.so and libsimulated_driver.so".into()),
    }
}

/// Runs the same program without and with the library, and says the difference.
fn compare(built: &Path) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let driver = folder.path().join("libcuda.so.1");
    std::fs::copy(built.join("libsimulated_driver.so"), &driver)?;
    std::os::unix::fs::symlink(&driver, folder.path().join("libcupti.so.13"))?;
    let library = built.join("libmemscope.so").canonicalize()?;
    let run = |variables: &[(&str, &Path)]| -> Result<f64, Box<dyn Error>> {
        let output = Command::new(std::env::current_exe()?)
            .arg("--time")
            .env("LD_LIBRARY_PATH", folder.path())
            .env("MEMSCOPE_DIR", folder.path())
            .env_remove("CUDA_INJECTION64_PATH")
            .envs(variables.iter().copied())
            .output()?;
        let text = String::from_utf8(output.stdout)?;
        text.trim()
            .parse()
            .map_err(|_| format!("{}", String::from_utf8_lossy(&output.stderr)).into())
    };
    let inject = ("CUDA_INJECTION64_PATH", library.as_path());
    let without = run(&[])?;
    let with = run(&[inject])?;
    let backtrace = run(&[inject, ("MEMSCOPE_BACKTRACE", Path::new("1"))])?;
    println!(
        "{{\"pairs\":{PAIRS},\"ns_per_call\":{without:.0},\"ns_per_record\":{:.0},\
         \"ns_per_record_with_backtrace\":{:.0}}}",
        with - without,
        backtrace - without
    );
    Ok(())
}

/// ns of processor time a call.
fn time() -> Result<f64, Box<dyn Error>> {
    // SAFETY: the name ends with NUL; the simulated driver loads what the environment names.
    let cuda = unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW) };
    if cuda.is_null() {
        return Err("libcuda.so.1 is not there".into());
    }
    let function = |name: &str| -> Result<Function, Box<dyn Error>> {
        let c = CString::new(name)?;
        // SAFETY: the library is open and the name ends with NUL.
        let found = unsafe { libc::dlsym(cuda, c.as_ptr()) };
        if found.is_null() {
            return Err(format!("no {name}").into());
        }
        // SAFETY: these functions take at most two numbers.
        Ok(unsafe { std::mem::transmute::<*mut c_void, Function>(found) })
    };
    let (alloc, free) = (function("cuMemAlloc_v2")?, function("cuMemFree_v2")?);
    let mut out = 0_u64;
    let at = (&raw mut out) as u64;
    // SAFETY: each is called with what it takes.
    unsafe {
        function("cuInit")?(0, 0);
        function("cuDevicePrimaryCtxRetain")?(at, 0);
        function("cuCtxSetCurrent")?(out, 0);
        let start = processor_ns();
        for _ in 0..PAIRS {
            alloc(at, 4096);
            free(out, 0);
        }
        Ok((processor_ns() - start) / f64::from(2 * PAIRS))
    }
}

/// Time of this process on processors: other programs do not count.
fn processor_ns() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
