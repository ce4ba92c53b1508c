//! Files that exist already: nothing is cut or overwritten that is not a certificate.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::ZlibDecoder;
use serde::Serialize;

use crate::{Form, HeaderJson, MAGIC, Mark, PROBLEM, VERSION};

/// The longest header that is looked at in a file that exists already.
const LONGEST_HEADER: u64 = 1 << 30;

/// Opens a file to write a certificate to: a new one, an empty one, or one that holds a certificate, which is
/// overwritten. A device or a pipe is opened, too.
///
/// # Errors
/// When it cannot be written, or holds something else ([`io::ErrorKind::AlreadyExists`]).
pub fn create(path: &Path) -> io::Result<File> {
    let mut file = match OpenOptions::new().write(true).create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match path.metadata() {
            Ok(there) if there.is_file() => OpenOptions::new().read(true).write(true).open(path)?,
            _ => return File::create(path),
        },
        file => return file,
    };
    let length = file.metadata()?.len();
    if length > 0 && Blocks::new(&file).and_then(|mut blocks| blocks.header(length)).is_err() {
        let what =
            "it exists and is not a certificate, so it is not overwritten: choose another name, or delete it";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
    }
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

/// Opens the file of a certificate that was begun, for this problem and system and in this form, and cuts off what comes after
/// the mark. Nothing is cut unless all before the mark is what was written.
///
/// # Errors
/// When it cannot be read or written, or is not that certificate.
pub fn resume(
    path: &Path,
    form: Form,
    problem: &impl Serialize,
    identity: &impl Serialize,
    mark: Mark,
) -> io::Result<File> {
    let header = serde_json::to_vec(&HeaderJson { form, problem, identity })?;
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let there = file.metadata()?;
    if !there.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    if there.len() < mark.length {
        return Err(io::Error::other("it is shorter than it was"));
    }
    check(&file, &header, mark).map_err(|error| match error.kind() {
        io::ErrorKind::Other | io::ErrorKind::UnexpectedEof => {
            io::Error::other("it is not the one that the search has begun")
        }
        _ => error,
    })?;
    file.set_len(mark.length)?;
    file.seek(SeekFrom::End(0))?;
    Ok(file)
}

/// Whether all before the mark is a certificate that begins with this.
fn check(file: &File, expected: &[u8], mark: Mark) -> io::Result<()> {
    let wrong = || io::Error::other("it is another one");
    let mut blocks = Blocks::new(file)?;
    let header = blocks.header(mark.length)?;
    let mut content = Vec::new();
    // One byte more than there may be, to see whether there is.
    ZlibDecoder::new(&*header).take(expected.len() as u64 + 1).read_to_end(&mut content)?;
    if content != expected {
        return Err(wrong());
    }
    while blocks.at < mark.length {
        blocks.next(mark.length, &mut io::sink())?;
    }
    if (blocks.at, blocks.checksum) == (mark.length, mark.checksum) { Ok(()) } else { Err(wrong()) }
}

/// The blocks of a file, one after the other; each is held against its checksum, and none is taken into memory.
struct Blocks<'f> {
    reader: io::BufReader<&'f File>,
    at: u64,
    checksum: u32,
}

impl<'f> Blocks<'f> {
    /// Begins at the beginning, if that is the beginning of a certificate.
    fn new(file: &'f File) -> io::Result<Self> {
        let mut reader = io::BufReader::new(file);
        let mut start = [0; MAGIC.len() + 4];
        reader.read_exact(&mut start)?;
        // Also one of an earlier version, which has the same blocks.
        let version =
            start.strip_prefix(MAGIC).and_then(|version| version.try_into().ok()).map(u32::from_le_bytes);
        let is_one = version.is_some_and(|version| (1..=VERSION).contains(&version));
        match is_one {
            true => Ok(Blocks { reader, at: start.len() as u64, checksum: 0 }),
            false => Err(io::Error::other("it is not a certificate")),
        }
    }

    /// The first block as it is stored, if it is a header.
    fn header(&mut self, end: u64) -> io::Result<Vec<u8>> {
        let mut stored = Vec::new();
        match self.next(end.min(LONGEST_HEADER), &mut stored)? {
            PROBLEM => Ok(stored),
            _ => Err(io::Error::other("it does not begin with a problem")),
        }
    }

    /// The kind of the next block, which is before `end`; what it holds is copied to `stored`.
    fn next(&mut self, end: u64, stored: &mut dyn io::Write) -> io::Result<u8> {
        let mut head = [0; 17];
        self.reader.read_exact(&mut head)?;
        let size = u64::from(u32::from_le_bytes([head[13], head[14], head[15], head[16]]));
        let next = self.at + head.len() as u64 + size + 4;
        if next > end {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut hasher = crc32fast::Hasher::new_with_initial(self.checksum);
        hasher.update(&head);
        let mut left = size;
        let mut buffer = [0; 1 << 13];
        while left > 0 {
            let part = left.min(buffer.len() as u64) as usize;
            self.reader.read_exact(&mut buffer[..part])?;
            hasher.update(&buffer[..part]);
            stored.write_all(&buffer[..part])?;
            left -= part as u64;
        }
        let mut expected = [0; 4];
        self.reader.read_exact(&mut expected)?;
        self.checksum = hasher.finalize();
        if u32::from_le_bytes(expected) != self.checksum {
            return Err(io::Error::other("a checksum is wrong"));
        }
        self.at = next;
        Ok(head[0])
    }
}
