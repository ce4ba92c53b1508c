//! Files of other people, read up to a length: a file may be a device that never ends.

use std::io::{self, Read};

/// The longest problem file.
pub const LONGEST_PROBLEM: u64 = 16 << 20;
/// The longest file with initial states.
pub(crate) const LONGEST_STATES: u64 = 256 << 20;
/// The longest file with a tree or a result.
pub const LONGEST_RESULT: u64 = 64 << 20;

/// Reads to the end, unless that is more than `longest` bytes away.
///
/// ```
/// use broccoli_problem::bytes::read_at_most;
/// assert_eq!(read_at_most(&b"abc"[..], 3)?, b"abc");
/// let error = read_at_most(std::io::repeat(0), 1 << 20).unwrap_err();
/// assert_eq!(error.to_string(), "it is longer than 1048576 bytes");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// When it is longer, or cannot be read.
pub fn read_at_most(from: impl Read, longest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(longest + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > longest {
        true => Err(io::Error::other(format!("it is longer than {longest} bytes"))),
        false => Ok(bytes),
    }
}
