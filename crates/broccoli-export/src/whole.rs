//! Files that are replaced as a whole or not at all: written beside, flushed to the disk, renamed.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// The folder of a file.
pub fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// A new file beside another, which is gone if nothing comes of it.
///
/// # Errors
/// When there is no folder, or none that can be written to.
pub fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Others may read it as far as the user lets them read new files.
        builder.permissions(Permissions::from_mode(0o666));
    }
    // A folder that is not there is told without the name of a file that nobody has asked for.
    fs::metadata(folder(path))?;
    builder.prefix(".broccoli-").suffix(".partial").tempfile_in(folder(path))
}

/// Sees to it that a file which was renamed is found after a power failure.
///
/// # Errors
/// When the folder cannot be flushed.
pub fn flush_folder(path: &Path) -> io::Result<()> {
    // On other systems folders cannot be flushed.
    if cfg!(unix) { File::open(folder(path))?.sync_all() } else { Ok(()) }
}

/// A file that is written little by little, and takes the place of what is there when it is complete.
pub struct Replacement {
    path: PathBuf,
    place: Place,
}

enum Place {
    /// Beside the file, which has these permissions if it is there.
    Beside(NamedTempFile, Option<Permissions>),
    /// What there is cannot be lost, or not be replaced.
    There(File),
}

impl Replacement {
    /// Begins one.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(path: &Path) -> io::Result<Self> {
        let directly = || File::create(path).map(Place::There);
        let there = match fs::metadata(path) {
            Ok(there) if there.is_file() => Some(there.permissions()),
            // A device or a pipe; or a link to what does not exist yet. There is nothing to be lost.
            Ok(_) => return Ok(Replacement { path: path.to_owned(), place: directly()? }),
            Err(_) if path.is_symlink() => {
                return Ok(Replacement { path: path.to_owned(), place: directly()? });
            }
            Err(_) => None,
        };
        // A link stays a link, and its owner and mode are kept where the folder is not ours.
        let path = if there.is_some() { path.canonicalize()? } else { path.to_owned() };
        let place = match beside(&path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && there.is_some() => directly()?,
            partial => Place::Beside(partial?, there),
        };
        Ok(Replacement { path, place })
    }

    /// It is complete.
    ///
    /// # Errors
    /// When it cannot be written; then what was there stays.
    pub fn finish(self) -> io::Result<()> {
        let Place::Beside(partial, there) = self.place else { return Ok(()) };
        if let Some(permissions) = there {
            partial.as_file().set_permissions(permissions)?;
        }
        partial.as_file().sync_all()?;
        partial.persist(&self.path).map(drop).map_err(|error| error.error)
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.place {
            Place::Beside(partial, _) => partial.write(bytes),
            Place::There(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.place {
            Place::Beside(partial, _) => partial.flush(),
            Place::There(file) => file.flush(),
        }
    }
}

/// Makes this the contents of a file. If that is not possible, what was in it stays.
///
/// # Errors
/// When it cannot be written.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut replacement = Replacement::begin(path)?;
    replacement.write_all(bytes)?;
    replacement.finish()
}

/// Makes new files, all of them or none.
///
/// # Errors
/// The file that cannot be written, or is there already, and why.
pub fn create_all<'f>(files: &[(&'f Path, &[u8])]) -> Result<(), (&'f Path, io::Error)> {
    let mut partials = Vec::new();
    for &(path, bytes) in files {
        let written = beside(path).and_then(|mut partial| {
            partial.write_all(bytes)?;
            partial.as_file().sync_all()?;
            Ok(partial)
        });
        partials.push((path, written.map_err(|error| (path, error))?));
    }
    for (path, partial) in partials {
        partial.persist_noclobber(path).map_err(|error| (path, error.error))?;
    }
    Ok(())
}
