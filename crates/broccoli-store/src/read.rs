//! Reads a file: what is whole is taken up, what is damaged is not, and what depends on that is not either.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};

use broccoli_core::problem::InitialState;

use crate::record::{Record, Records};
use crate::trie::{Answer, Node, Trie};

pub(crate) const MAGIC: &[u8; 16] = b"broccoli store\n\0";
/// To be counted up whenever what is written changes.
pub(crate) const VERSION: u32 = 1;
/// The magic, the version, the length of the rest of the head.
const FIXED: usize = MAGIC.len() + 4 + 4;
const LONGEST_HEAD: usize = 1 << 24;

/// What says which system a store is of: texts by name.
pub type Identity = BTreeMap<String, String>;

/// The most values that a system observes.
const MOST_OBSERVED: usize = 1 << 16;

/// What a file begins with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Head {
    pub(crate) identity: Identity,
    pub(crate) observed: usize,
    /// The process that writes, or wrote last; and where it is written in the file.
    pub(crate) owner: u32,
    pub(crate) owner_at: u64,
    /// Where the first block begins.
    pub(crate) end: u64,
}

/// Why a file has no head.
#[derive(Debug)]
pub(crate) enum NoHead {
    /// It may have been one, and was cut.
    Cut,
    /// It is something else.
    NotOne,
    OtherVersion(u32),
    Damaged,
    Unreadable(io::Error),
}

impl Head {
    /// The bytes of a head.
    pub(crate) fn encode(identity: &Identity, observed: usize, owner: u32) -> io::Result<Vec<u8>> {
        let about = postcard::to_stdvec(&(identity, observed as u64)).map_err(io::Error::other)?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(about.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&about);
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        bytes.extend_from_slice(&owner.to_le_bytes());
        Ok(bytes)
    }

    pub(crate) fn read(file: &mut impl Read) -> Result<Head, NoHead> {
        let mut bytes = Vec::new();
        let mut more = |bytes: &mut Vec<u8>, count: usize| match file.take(count as u64).read_to_end(bytes) {
            Ok(read) => Ok(read == count),
            Err(error) => Err(NoHead::Unreadable(error)),
        };
        let is_whole = more(&mut bytes, FIXED)?;
        if !MAGIC.starts_with(&bytes[..bytes.len().min(MAGIC.len())]) {
            return Err(NoHead::NotOne);
        }
        if !is_whole {
            return Err(NoHead::Cut);
        }
        let number = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let (version, length) = (number(&bytes[MAGIC.len()..]), number(&bytes[MAGIC.len() + 4..]));
        if version != VERSION {
            return Err(NoHead::OtherVersion(version));
        }
        let length = length as usize;
        if length > LONGEST_HEAD {
            return Err(NoHead::Damaged);
        }
        if !more(&mut bytes, length + 8)? {
            return Err(NoHead::Cut);
        }
        let checked = FIXED + length;
        if crc32fast::hash(&bytes[..checked]) != number(&bytes[checked..]) {
            return Err(NoHead::Damaged);
        }
        let about: Result<(Identity, u64), _> = postcard::from_bytes(&bytes[FIXED..checked]);
        let (identity, observed) = about.map_err(|_| NoHead::Damaged)?;
        let observed = usize::try_from(observed).ok().filter(|&observed| observed <= MOST_OBSERVED);
        Ok(Head {
            identity,
            observed: observed.ok_or(NoHead::Damaged)?,
            owner: number(&bytes[checked + 4..]),
            owner_at: checked as u64 + 4,
            end: checked as u64 + 8,
        })
    }
}

/// The head of a block: what it begins with, the length of the records, the number of the first node, how many nodes
/// there are, the checksum of the records, and that of all this.
pub(crate) const BLOCK: &[u8; 4] = b"\xb7blk";
pub(crate) const BLOCK_HEAD: usize = 4 + 5 * 4;
/// The most bytes of records in a block; one that is written is smaller unless it holds a large state.
pub(crate) const LONGEST_BLOCK: usize = 24 << 20;

/// The bytes of a block.
pub(crate) fn encode_block(first: u32, nodes: u32, records: &[u8]) -> Vec<u8> {
    let mut bytes = BLOCK.to_vec();
    for number in [records.len() as u32, first, nodes, crc32fast::hash(records)] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    bytes.extend_from_slice(records);
    bytes
}

struct BlockHead {
    length: usize,
    first: u32,
    nodes: u32,
    checksum: u32,
}

impl BlockHead {
    fn decode(bytes: &[u8; BLOCK_HEAD]) -> Option<BlockHead> {
        let (words, _) = bytes[4..].as_chunks::<4>();
        let [length, first, nodes, checksum, own] = [0, 1, 2, 3, 4].map(|i| u32::from_le_bytes(words[i]));
        let is_one = bytes.starts_with(BLOCK) && crc32fast::hash(&bytes[..BLOCK_HEAD - 4]) == own;
        let length = length as usize;
        (is_one && length <= LONGEST_BLOCK).then_some(BlockHead { length, first, nodes, checksum })
    }
}

/// What was found in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Blocks that were read.
    pub blocks: u64,
    /// Places where something was refused because it is damaged, and how many bytes there are.
    pub refused: u64,
    /// How many bytes were refused.
    pub refused_bytes: u64,
    /// Where the first of them begins.
    pub refused_at: Option<u64>,
    /// Records that were refused because what they depend on was.
    pub orphans: u64,
    /// Bytes behind the last good block.
    pub torn: u64,
    /// Where the last good block ends.
    pub end: u64,
    /// Whether there is more than there may be in memory.
    pub is_full: bool,
}

/// Reads all blocks into a trie; the file is where they begin.
pub(crate) fn read_blocks(file: &mut (impl Read + Seek), trie: &mut Trie) -> io::Result<Found> {
    let mut at = file.stream_position()?;
    let mut found = Found { end: at, ..Found::default() };
    let mut records = Vec::new();
    loop {
        match read_block(file, &mut records)? {
            Block::Good(head) => {
                // Each node takes some bytes, so there cannot be more missing than have been refused.
                let before = trie.len() as u64;
                let missing = u64::from(head.first).checked_sub(before);
                let is_next = missing.is_some_and(|missing| missing <= at - found.end);
                if !is_next || !is_well_formed(&head, &records, trie.observed()) {
                    at += (BLOCK_HEAD + head.length) as u64;
                    continue;
                }
                note_refused(&mut found, at);
                let is_room = (0..missing.unwrap_or(0)).all(|_| trie.add_dead());
                if !is_room || !take_up(&records, trie, &mut found.orphans) {
                    found.is_full = true;
                    found.end = file.seek(SeekFrom::End(0))?;
                    return Ok(found);
                }
                at += (BLOCK_HEAD + head.length) as u64;
                (found.end, found.blocks) = (at, found.blocks + 1);
            }
            Block::End => break,
            Block::Bad => match next_block(file, at + 1)? {
                Some(next) => at = next,
                None => break,
            },
        }
        file.seek(SeekFrom::Start(at))?;
    }
    found.torn = file.seek(SeekFrom::End(0))?.saturating_sub(found.end);
    Ok(found)
}

/// All from the end of the last good block to here was refused.
fn note_refused(found: &mut Found, at: u64) {
    if at > found.end {
        found.refused += 1;
        found.refused_bytes += at - found.end;
        found.refused_at.get_or_insert(found.end);
    }
}

enum Block {
    Good(BlockHead),
    Bad,
    End,
}

fn read_block(file: &mut impl Read, records: &mut Vec<u8>) -> io::Result<Block> {
    let mut head = Vec::with_capacity(BLOCK_HEAD);
    if file.take(BLOCK_HEAD as u64).read_to_end(&mut head)? == 0 {
        return Ok(Block::End);
    }
    let Some(head) = head.first_chunk().and_then(BlockHead::decode) else { return Ok(Block::Bad) };
    records.clear();
    file.take(head.length as u64).read_to_end(records)?;
    let is_good = records.len() == head.length && crc32fast::hash(records) == head.checksum;
    Ok(if is_good { Block::Good(head) } else { Block::Bad })
}

/// Where the next block may begin.
fn next_block(file: &mut (impl Read + Seek), from: u64) -> io::Result<Option<u64>> {
    const WINDOW: usize = 1 << 16;
    let mut at = from;
    let mut window = Vec::with_capacity(WINDOW);
    loop {
        file.seek(SeekFrom::Start(at))?;
        window.clear();
        file.take(WINDOW as u64).read_to_end(&mut window)?;
        let heads = window.windows(BLOCK_HEAD).enumerate();
        let mut heads = heads.filter(|(_, bytes)| bytes.starts_with(BLOCK));
        let is_head = |bytes: &[u8]| bytes.first_chunk().and_then(BlockHead::decode).is_some();
        if let Some((offset, _)) = heads.find(|(_, bytes)| is_head(bytes)) {
            return Ok(Some(at + offset as u64));
        }
        if window.len() < WINDOW {
            return Ok(None);
        }
        at += (WINDOW - BLOCK_HEAD + 1) as u64;
    }
}

/// Whether all can be read, and there are as many nodes as it says: else nothing of it is taken up.
fn is_well_formed(head: &BlockHead, bytes: &[u8], observed: usize) -> bool {
    let mut records = Records::new(bytes, observed);
    let is_node = |record: &Record<'_>| matches!(record, Record::Root { .. } | Record::Step { .. });
    let nodes = records.by_ref().filter(is_node).count();
    records.is_good && nodes as u64 == u64::from(head.nodes)
}

/// Takes up what a block says; false if there is no room.
fn take_up(bytes: &[u8], trie: &mut Trie, orphans: &mut u64) -> bool {
    for record in Records::new(bytes, trie.observed()) {
        let alive = |index: u32, trie: &Trie| Node::new(index as usize).filter(|&node| trie.is_alive(node));
        let has_room = match record {
            Record::Action { id, key } if trie.has_action(id) || trie.action(&key).is_some() => {
                *orphans += u64::from(trie.action(&key) != Some(id));
                true
            }
            Record::Action { id, key } => trie.set_action(id, key),
            Record::Root { initial, verdict, observation } => {
                let initial = InitialState::new(initial);
                let answer = Answer { verdict, reward: None, observation: &observation };
                match trie.root(&initial) {
                    None => trie.add_root(&initial, answer).is_some(),
                    Some(_) => add_orphan(trie, orphans),
                }
            }
            Record::Step { parent, action, verdict, reward, observation } => {
                let answer = Answer { verdict, reward, observation: &observation };
                let is_new = |parent: &Node| trie.has_action(action) && trie.child(*parent, action).is_none();
                let parent = alive(parent, trie).filter(is_new);
                match parent {
                    Some(parent) => trie.add_child(parent, action, answer).is_some(),
                    None => add_orphan(trie, orphans),
                }
            }
            Record::State { node, state } => {
                match alive(node, trie).filter(|&node| trie.state(node).is_none()) {
                    // States are worth having, but no more than that.
                    Some(node) => drop(trie.keep(node, state)),
                    None => *orphans += 1,
                }
                true
            }
            Record::Reward { node, reward } => {
                match alive(node, trie).filter(|&node| trie.parent(node).is_some()) {
                    Some(node) => trie.set_reward(node, reward),
                    None => *orphans += 1,
                }
                true
            }
        };
        if !has_room {
            return false;
        }
    }
    true
}

fn add_orphan(trie: &mut Trie, orphans: &mut u64) -> bool {
    *orphans += 1;
    trie.add_dead()
}
