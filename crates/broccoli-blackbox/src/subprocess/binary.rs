//! Messages as binary frames: a header of eight bytes (length, kind, three zeros), then eight-byte
//! words, all little-endian. A step and its reply have fixed sizes, so that many fit in one message.

use broccoli_core::problem::Verdict;

use super::message::{Refusal, Replies, Request, malformed};

const HEADER: usize = 8;
const WORD: usize = 8;

/// The kinds of messages: requests, and the answers to them.
mod kind {
    pub(super) const RESET: u8 = 1;
    pub(super) const STEPS: u8 = 2;
    pub(super) const SAVE: u8 = 3;
    pub(super) const RESTORE: u8 = 4;
    pub(super) const REPLIES: u8 = 129;
    pub(super) const SNAPSHOT: u8 = 130;
    pub(super) const RESTORED: u8 = 131;
    pub(super) const ERROR: u8 = 255;
}

/// Where the frame at the start of `bytes` says that it ends.
pub(super) fn announced(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?);
    Some(HEADER + length as usize)
}

/// Whether bytes begin like a frame that answers something, as far as they go.
pub(super) fn is_frame(bytes: &[u8]) -> bool {
    const ANSWERS: [u8; 4] = [kind::REPLIES, kind::SNAPSHOT, kind::RESTORED, kind::ERROR];
    let Some(header) = bytes.first_chunk::<HEADER>() else { return true };
    ANSWERS.contains(&header[4]) && header[5..] == [0; 3]
}

pub(super) fn write(request: Request<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER]);
    let kind = match request {
        Request::Reset(initial) => {
            initial.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
            kind::RESET
        }
        Request::Steps { states, actions } => {
            let size = states.len() / actions.len().max(1);
            for (index, &action) in actions.iter().enumerate() {
                out.extend_from_slice(&(action as u64).to_le_bytes());
                let state = &states[index * size..][..size];
                state.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
            }
            kind::STEPS
        }
        Request::Save => kind::SAVE,
        Request::Restore(snapshot) => {
            out.extend_from_slice(snapshot);
            kind::RESTORE
        }
    };
    // Requests are far smaller than 4 GiB: counts of values are limited in the handshake.
    let length = (out.len() - start - HEADER) as u32;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    out[start + 4] = kind;
}

pub(super) fn read_replies(message: &[u8], replies: &mut Replies) -> Result<(), Refusal> {
    let body = body(message, kind::REPLIES)?;
    let (dimensions, count) = (replies.dimensions(), replies.len());
    let first = 1 + usize::from(replies.rewards());
    let words = first + dimensions + replies.state();
    if body.len() != count * words * WORD {
        let (given, expected) = (body.len(), count * words * WORD);
        return malformed(format!("its length is {given} bytes, not {expected} ({count} × {words} words)"));
    }
    for (index, reply) in body.chunks_exact(words * WORD).enumerate() {
        let (words, _) = reply.as_chunks::<WORD>();
        let verdict = match u64::from_le_bytes(words[0]) {
            0 => Verdict::Running,
            1 if replies.judges() => Verdict::Satisfied,
            2 if replies.judges() => Verdict::Violated,
            1 | 2 => return malformed("it has a verdict, though its hello said it has none"),
            other => return malformed(format!("its verdict is {other}: it must be 0, 1 or 2")),
        };
        let reward = replies.rewards().then(|| f64::from_le_bytes(words[1]));
        let (observation, state) = replies.store(index, verdict, reward);
        let numbers = words[first..].iter().map(|word| f64::from_le_bytes(*word));
        for (value, number) in observation.iter_mut().chain(state).zip(numbers) {
            *value = number;
        }
    }
    Ok(())
}

pub(super) fn read_snapshot(message: &[u8], snapshot: &mut Vec<u8>) -> Result<(), Refusal> {
    snapshot.extend_from_slice(body(message, kind::SNAPSHOT)?);
    Ok(())
}

pub(super) fn read_restored(message: &[u8]) -> Result<(), Refusal> {
    body(message, kind::RESTORED).map(|_| ())
}

/// What follows the header of a message of this kind.
fn body(message: &[u8], expected: u8) -> Result<&[u8], Refusal> {
    let Some((header, body)) = message.split_first_chunk::<HEADER>() else {
        return malformed("its header is not complete");
    };
    match header[4] {
        kind::ERROR => Err(Refusal::Reported(String::from_utf8_lossy(body).into_owned())),
        kind if kind != expected => malformed(format!("its kind is {kind}, not {expected}")),
        _ if header[5..] != [0; 3] => malformed("the last three bytes of its header are not zero"),
        _ => Ok(body),
    }
}
