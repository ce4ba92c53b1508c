//! Files that are replaced as a whole or not at all: written beside, flushed to the disk, renamed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// The folder of a file.
pub fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// A new file beside another, which is gone if nothing comes of it.
pub fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Others may read it as far as the user lets them read new files.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    // A folder that is not there is told without the name of a file that nobody has asked for.
    fs::metadata(folder(path))?;
    builder.prefix(".broccoli-").suffix(".partial").tempfile_in(folder(path))
}

/// Sees to it that a file which was renamed is found after a power failure.
pub fn flush_folder(path: &Path) -> io::Result<()> {
    // On other systems folders cannot be flushed.
    if cfg!(unix) { File::open(folder(path))?.sync_all() } else { Ok(()) }
}

/// Makes this the contents of a file. If that is not possible, what was in it stays.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let there = match fs::metadata(path) {
        Ok(there) if there.is_file() => Some(there.permissions()),
        // A device or a pipe; or a link to what does not exist yet. There is nothing to be lost.
        Ok(_) => return fs::write(path, bytes),
        Err(_) if path.is_symlink() => return fs::write(path, bytes),
        Err(_) => None,
    };
    // A link stays a link, and its owner and mode are kept where the folder is not ours.
    let path = if there.is_some() { path.canonicalize()? } else { path.to_owned() };
    let mut partial = match beside(&path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && there.is_some() => {
            return fs::write(path, bytes);
        }
        partial => partial?,
    };
    partial.write_all(bytes)?;
    if let Some(permissions) = there {
        partial.as_file().set_permissions(permissions)?;
    }
    partial.as_file().sync_all()?;
    partial.persist(&path).map(drop).map_err(|error| error.error)
}
