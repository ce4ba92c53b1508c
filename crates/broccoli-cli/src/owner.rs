//! Who owns a checkpoint: a small hidden file beside it is locked as long as a search keeps itself there, and has the
//! number of the process. The lock goes with the process, however that ends; the file itself may be left behind, and then
//! belongs to the next one.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use broccoli_export::whole::folder;

/// Says that this process owns something, until it is dropped.
#[derive(Debug)]
pub struct Owner {
    path: PathBuf,
    _locked: File,
}

impl Drop for Owner {
    fn drop(&mut self) {
        // Still locked: whoever opens it now finds out that it is there no more.
        let _ = fs::remove_file(&self.path);
    }
}

/// Owns a file from now on, as far as the disk can do that.
///
/// # Errors
/// Another process owns it: its number if it is known, in words to be put behind others.
pub fn own(path: &Path) -> Result<Option<Rc<Owner>>, String> {
    let Some(name) = path.file_name() else { return Ok(None) };
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(".lock");
    let path = folder(path).join(hidden);
    // On other systems there are no such locks.
    while cfg!(unix) {
        let Some(mut file) = open(&path) else { break };
        let mut text = String::new();
        // What is no number was not written here, and is left alone.
        let is_ours =
            file.read_to_string(&mut text).is_ok() && (text.is_empty() || text.trim().parse::<u32>().is_ok());
        if !is_ours {
            break;
        }
        if !lock(&file) {
            let id = text.trim();
            return Err(if id.is_empty() { String::new() } else { format!(": process {id}") });
        }
        // The one before may have removed it meanwhile: then the lock is on a file that is there no more.
        if is_still(&path, &file) {
            let _ =
                file.set_len(0).and_then(|()| file.write_all(format!("{}\n", std::process::id()).as_bytes()));
            return Ok(Some(Rc::new(Owner { path, _locked: file })));
        }
    }
    Ok(None)
}

/// Opens a file, which is made if it is not there. A link is not followed: it could lead to any file of the user's.
fn open(path: &Path) -> Option<File> {
    // To open a pipe might take for ever.
    if fs::symlink_metadata(path).is_ok_and(|there| !there.is_file()) {
        return None;
    }
    let mut options = OpenOptions::new();
    // What is written takes the place of what was there: it is cut first, and both are short.
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    }
    options.open(path).ok()
}

/// Locks a file; whether nobody else has.
fn lock(file: &File) -> bool {
    #[cfg(unix)]
    {
        use rustix::fs::{FlockOperation, flock};
        flock(file, FlockOperation::NonBlockingLockExclusive) != Err(rustix::io::Errno::WOULDBLOCK)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        true
    }
}

/// Whether a file is the one with this name.
fn is_still(path: &Path, file: &File) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let place = |there: fs::Metadata| (there.dev(), there.ino());
        match (fs::symlink_metadata(path), file.metadata()) {
            (Ok(named), Ok(own)) => place(named) == place(own),
            _ => false,
        }
    }
    #[cfg(not(unix))]
    {
        let _ = (path, file);
        true
    }
}
