//! The library that the CUDA driver loads, and how a command is made to load it.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha256};

use super::failure::Usage;

/// What the driver loads libraries by.
const VARIABLE: &str = "CUDA_INJECTION64_PATH";

/// `libmemscope.so`, as `build/library.rs` left it: gzip; empty in a build without it.
const EMBEDDED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libmemscope.so.gz"));

/// Has the CUDA driver load the recorder's library into a command and all that it starts.
///
/// # Errors
/// [`Usage`] where another tool's library is there already, or where there is no library.
pub(super) fn inject(command: &mut Command) -> Result<()> {
    if let Some(other) = env::var_os(VARIABLE).filter(|v| !v.is_empty()) {
        bail!(Usage(format!(
            "{VARIABLE} is {} already ({}): the driver loads one library only. Run without that tool, or \
             unset the variable",
            Path::new(&other).display(),
            whose(&other)
        )));
    }
    command.env(VARIABLE, find()?);
    Ok(())
}

/// Whose library a path names, as far as its words say.
fn whose(path: &OsStr) -> &'static str {
    let path = path.to_string_lossy().to_lowercase();
    let known = [
        ("memscope", "memscope record itself"),
        ("toolsinjection", "Nsight Systems"),
        ("nsight-systems", "Nsight Systems"),
        ("nsight-compute", "Nsight Compute"),
        ("sanitizer", "Compute Sanitizer"),
        ("perfetto", "Perfetto"),
        ("kineto", "PyTorch's profiler"),
        ("torch", "PyTorch's profiler"),
        ("parcagpu", "Parca"),
    ];
    let found = known.iter().find(|(word, _)| path.contains(word));
    found.map_or("another tool's", |(_, whose)| whose)
}

/// The library's file: `MEMSCOPE_LIBRARY`, or the embedded one in the cache.
fn find() -> Result<PathBuf> {
    if let Some(given) = env::var_os("MEMSCOPE_LIBRARY").filter(|v| !v.is_empty()) {
        let path = std::path::absolute(PathBuf::from(given))?;
        if !path.is_file() {
            bail!(Usage(format!(
                "MEMSCOPE_LIBRARY: {} is no file; give the path of libmemscope.so",
                path.display()
            )));
        }
        return Ok(path);
    }
    if EMBEDDED.is_empty() {
        bail!(Usage(
            "this memscope was built without the library that the CUDA driver loads (SITE_SKIP_VIEWER, or no \
             Linux); build the package `collector` and give its libmemscope.so in MEMSCOPE_LIBRARY"
                .to_owned()
        ));
    }
    let mut library = Vec::new();
    flate2::read::GzDecoder::new(EMBEDDED)
        .read_to_end(&mut library)
        .context("the embedded library cannot be unpacked: a defect of memscope")?;
    let set = |name| {
        env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    let caches = [
        set("XDG_CACHE_HOME"),
        set("HOME").map(|home| home.join(".cache")),
    ];
    let uid = rustix::process::getuid().as_raw();
    let temporary = env::temp_dir().join(format!("memscope-{uid}"));
    let folders = caches.into_iter().flatten().map(|c| c.join("memscope"));
    let mut last = None;
    for folder in folders.chain([temporary]) {
        match extract(&folder, &library) {
            Ok(path) => return Ok(path),
            Err(error) => last = Some((folder, error)),
        }
    }
    let (folder, error) = last.context("there is no folder for the library")?;
    Err(error).with_context(|| {
        format!(
            "{}: cannot write the library there; set XDG_CACHE_HOME or TMPDIR to a folder that is yours",
            folder.display()
        )
    })
}

/// The library in a folder of ours, under a name that is its content's: written whole or not at all.
fn extract(folder: &Path, library: &[u8]) -> io::Result<PathBuf> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let folder = folder.canonicalize()?;
    let about = fs::metadata(&folder)?;
    // Who may write there could have another library loaded.
    if about.uid() != rustix::process::getuid().as_raw() || about.mode() & 0o022 != 0 {
        return Err(io::Error::other("others may write there"));
    }
    let hash: String = Sha256::digest(library)
        .iter()
        .take(8)
        .map(|b| format!("{b:02x}"))
        .collect();
    let path = folder.join(format!("libmemscope-{hash}.so"));
    if fs::read(&path).is_ok_and(|there| there == library) {
        return Ok(path);
    }
    let mut file = tempfile::NamedTempFile::new_in(&folder)?;
    file.write_all(library)?;
    file.as_file()
        .set_permissions(Permissions::from_mode(0o700))?;
    file.persist(&path)?;
    Ok(path)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_written_once_and_mended() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("cache");
        let path = extract(&folder, b"library").unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        let written = fs::metadata(&path).unwrap().ino();
        assert_eq!(extract(&folder, b"library").unwrap(), path);
        assert_eq!(fs::metadata(&path).unwrap().ino(), written);
        // Half of one, as a full disk leaves it.
        fs::write(&path, b"lib").unwrap();
        assert_eq!(
            fs::read(extract(&folder, b"library").unwrap()).unwrap(),
            b"library"
        );
        assert_ne!(extract(&folder, b"another").unwrap(), path);
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        assert!(extract(&folder, b"library").is_err());
    }
}
