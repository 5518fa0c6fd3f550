//! Files that are whole or not there.
//!
//! An [`Output`] is opened before the work starts, so a path that cannot be written fails at once.
//! What is written goes to a temporary file beside the target, which takes the target's place in
//! [`Output::commit`]; without that it vanishes and the target stays as it was.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::input::{Input, Place, shown};

/// Where to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// `-`.
    Stdout,
    /// A file, or a device or pipe.
    File(PathBuf),
}

impl Target {
    /// From an argument.
    #[must_use]
    pub fn of(argument: &Path) -> Self {
        if argument.as_os_str() == "-" {
            Self::Stdout
        } else {
            Self::File(argument.to_owned())
        }
    }

    /// The input that writing here would destroy, if any.
    #[must_use]
    pub fn clash<'a>(&self, inputs: &'a [Input]) -> Option<&'a Input> {
        let Self::File(path) = self else { return None };
        inputs.iter().find(|i| match &i.place {
            Place::Stdin => false,
            Place::File(input) => same(path, input),
            Place::Journal(all) => all.iter().flatten().any(|input| same(path, input)),
        })
    }
}

#[cfg(unix)]
fn same(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |p: &Path| fs::metadata(p).ok().map(|m| (m.dev(), m.ino()));
    id(a).is_some_and(|a| Some(a) == id(b))
}

#[cfg(not(unix))]
fn same(a: &Path, b: &Path) -> bool {
    fs::canonicalize(a).is_ok_and(|a| fs::canonicalize(b).is_ok_and(|b| a == b))
}

/// Why an output could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A directory stands there.
    #[error("cannot write {0}: it is a directory; name a file in it")]
    Directory(String),
    /// There is no directory for the file.
    #[error("cannot write {0}: there is no directory for it; create that first")]
    NoDirectory(String),
    /// The file is write-protected.
    #[error("cannot write {0}: it is read-only; name another file, or make it writable")]
    ReadOnly(String),
    /// The system refused.
    #[error("cannot write {shown}")]
    System {
        /// The output.
        shown: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// An output being written.
#[derive(Debug)]
pub struct Output(Kind);

#[derive(Debug)]
enum Kind {
    Stdout(BufWriter<Stdout>),
    /// A file that is put in its place at the end.
    File {
        temporary: BufWriter<NamedTempFile>,
        path: PathBuf,
        shown: String,
    },
    /// A device or pipe.
    Direct {
        file: BufWriter<File>,
        shown: String,
    },
}

const BUFFER: usize = 256 << 10;

impl Output {
    /// Opens an output; nothing at its path changes yet.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn open(target: &Target) -> Result<Self, Error> {
        let given = match target {
            Target::Stdout => {
                return Ok(Self(Kind::Stdout(BufWriter::with_capacity(
                    BUFFER,
                    io::stdout(),
                ))));
            }
            Target::File(path) => path,
        };
        let shown = shown(given);
        let system = |source| Error::System {
            shown: shown.clone(),
            source,
        };
        // A link stays a link: what it leads to is written.
        let path = fs::canonicalize(given).unwrap_or_else(|_| given.clone());
        let old = fs::metadata(&path).ok();
        if let Some(old) = &old {
            if old.is_dir() {
                return Err(Error::Directory(shown));
            }
            if !old.is_file() {
                let file = File::options().write(true).open(&path).map_err(system)?;
                return Ok(Self(Kind::Direct {
                    file: BufWriter::with_capacity(BUFFER, file),
                    shown,
                }));
            }
            if old.permissions().readonly() {
                return Err(Error::ReadOnly(shown));
            }
        }
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if path.file_name().is_none() {
            return Err(Error::Directory(shown));
        }
        if !directory.is_dir() {
            return Err(Error::NoDirectory(shown));
        }
        let temporary = create(directory, old.map(|o| o.permissions())).map_err(system)?;
        let temporary = BufWriter::with_capacity(BUFFER, temporary);
        Ok(Self(Kind::File {
            temporary,
            path,
            shown,
        }))
    }

    /// Puts what was written in its place.
    ///
    /// # Errors
    /// [`Error::System`]; the target is then as it was.
    pub fn commit(self) -> Result<(), Error> {
        self.finish(false)
    }

    /// As [`Self::commit`], and on the disk when this returns: the file, then the name that it took.
    ///
    /// # Errors
    /// [`Error::System`]; the target is then as it was.
    pub fn commit_synced(self) -> Result<(), Error> {
        self.finish(true)
    }

    fn finish(self, sync: bool) -> Result<(), Error> {
        let (shown, result) = match self.0 {
            Kind::Stdout(mut stdout) => ("stdout".to_owned(), stdout.flush()),
            Kind::Direct { mut file, shown } => (shown, file.flush()),
            Kind::File {
                temporary,
                path,
                shown,
            } => {
                let whole = temporary
                    .into_inner()
                    .map_err(io::IntoInnerError::into_error);
                let put = |file: NamedTempFile| -> io::Result<()> {
                    if sync {
                        file.as_file().sync_all()?;
                    }
                    file.persist(&path).map_err(|e| e.error)?;
                    match path.parent().filter(|_| sync) {
                        Some(parent) if !parent.as_os_str().is_empty() => {
                            File::open(parent)?.sync_all()
                        }
                        Some(_) => File::open(".")?.sync_all(),
                        None => Ok(()),
                    }
                };
                (shown, whole.and_then(put))
            }
        };
        result.map_err(|source| Error::System { shown, source })
    }

    fn writer(&mut self) -> &mut dyn Write {
        match &mut self.0 {
            Kind::Stdout(to) => to,
            Kind::File { temporary, .. } => temporary,
            Kind::Direct { file, .. } => file,
        }
    }
}

/// A temporary file with the permissions of the one it will replace, else with those that any new
/// file gets (0666 less the umask; temporary files have 0600 otherwise).
fn create(directory: &Path, permissions: Option<Permissions>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".memscope-").suffix(".tmp");
    let replaces = permissions.clone();
    let fresh = permissions.or_else(new_file);
    if let Some(permissions) = fresh {
        builder.permissions(permissions);
    }
    let file = builder.tempfile_in(directory).map_err(system_error)?;
    if let Some(permissions) = replaces {
        file.as_file().set_permissions(permissions)?;
    }
    Ok(file)
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere there is none")]
fn new_file() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt as _;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn new_file() -> Option<Permissions> {
    None
}

/// The system's own error, without the temporary file's name that tempfile adds to the text.
fn system_error(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((system, _)) => io::Error::new(error.kind(), system.to_owned()),
        None => error,
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer().flush()
    }
}
