//! What a block of a file holds: records, one after the other, each about one thing that became known.
//!
//! Numbers that are small are written in as few bytes as they need; all others, little endian. [docs/store.md] has the
//! format.
//!
//! [docs/store.md]: https://github.com/broccoli/broccoli/blob/main/docs/store.md

use broccoli_core::problem::Verdict;

use crate::trie::{ActionId, ActionKey, Answer, Node};

const ACTION: u8 = 0;
const ROOT: u8 = 1;
const STEP: u8 = 2;
const STATE: u8 = 3;
const REWARD: u8 = 4;

/// The longest name of an action, the most values of an initial state, the longest saved state.
const LONGEST_NAME: u64 = 1 << 16;
const MOST_VALUES: u64 = 1 << 16;
pub(crate) const LONGEST_STATE: usize = 16 << 20;

/// Something that became known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Record<'a> {
    /// From now on an action has this number.
    Action { id: ActionId, key: ActionKey },
    /// The next node is the answer to a reset.
    Root { initial: Vec<f64>, verdict: Verdict, observation: Vec<f64> },
    /// The next node is the answer to an action after another node.
    Step { parent: u32, action: ActionId, verdict: Verdict, reward: Option<f64>, observation: Vec<f64> },
    /// A node's saved state.
    State { node: u32, state: &'a [u8] },
    /// A node's reward, which was not known before.
    Reward { node: u32, reward: f64 },
}

fn write_number(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn write_values(values: &[f64], bytes: &mut Vec<u8>) {
    values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
}

pub(crate) fn write_action(id: ActionId, key: &ActionKey, bytes: &mut Vec<u8>) {
    bytes.push(ACTION);
    write_number(u64::from(id), bytes);
    write_number(key.0.len() as u64, bytes);
    bytes.extend_from_slice(key.0.as_bytes());
    bytes.extend_from_slice(&key.1.to_le_bytes());
}

pub(crate) fn write_root(initial: &[f64], answer: Answer<'_>, bytes: &mut Vec<u8>) {
    bytes.push(ROOT);
    write_number(initial.len() as u64, bytes);
    write_values(initial, bytes);
    bytes.push(answer.verdict as u8);
    write_values(answer.observation, bytes);
}

pub(crate) fn write_step(parent: Node, action: ActionId, answer: Answer<'_>, bytes: &mut Vec<u8>) {
    bytes.push(STEP);
    write_number(parent.index() as u64, bytes);
    write_number(u64::from(action), bytes);
    bytes.push(answer.verdict as u8 | u8::from(answer.reward.is_some()) << 2);
    write_values(answer.reward.as_slice(), bytes);
    write_values(answer.observation, bytes);
}

pub(crate) fn write_state(node: Node, state: &[u8], bytes: &mut Vec<u8>) {
    bytes.push(STATE);
    write_number(node.index() as u64, bytes);
    write_number(state.len() as u64, bytes);
    bytes.extend_from_slice(state);
}

pub(crate) fn write_reward(node: Node, reward: f64, bytes: &mut Vec<u8>) {
    bytes.push(REWARD);
    write_number(node.index() as u64, bytes);
    bytes.extend_from_slice(&reward.to_le_bytes());
}

/// Reads the records of a block, of a system that observes so many values. Ends with nothing where there is something
/// else.
pub(crate) struct Records<'a> {
    bytes: &'a [u8],
    observed: usize,
    /// Whether all was read so far.
    pub(crate) is_good: bool,
}

impl<'a> Records<'a> {
    pub(crate) fn new(bytes: &'a [u8], observed: usize) -> Self {
        Records { bytes, observed, is_good: true }
    }

    #[inline]
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    #[inline]
    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    #[inline]
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn node(&mut self) -> Option<u32> {
        self.number().and_then(|number| u32::try_from(number).ok())
    }

    fn action(&mut self) -> Option<ActionId> {
        self.number().and_then(|number| ActionId::try_from(number).ok())
    }

    fn length(&mut self, most: u64) -> Option<usize> {
        self.number().filter(|&length| length <= most).and_then(|length| usize::try_from(length).ok())
    }

    fn values(&mut self, count: usize) -> Option<Vec<f64>> {
        let (words, _) = self.take(8 * count)?.as_chunks::<8>();
        Some(words.iter().map(|word| f64::from_le_bytes(*word)).collect())
    }

    /// What no system can have said is not believed either.
    fn observation(&mut self) -> Option<Vec<f64>> {
        self.values(self.observed).filter(|values| !values.iter().any(|value| value.is_nan()))
    }

    fn reward(&mut self) -> Option<f64> {
        self.values(1).map(|values| values[0]).filter(|reward| reward.is_finite())
    }

    fn verdict(byte: u8) -> Option<Verdict> {
        match byte {
            0 => Some(Verdict::Running),
            1 => Some(Verdict::Satisfied),
            2 => Some(Verdict::Violated),
            _ => None,
        }
    }

    fn record(&mut self) -> Option<Record<'a>> {
        Some(match self.byte()? {
            ACTION => {
                let id = self.action()?;
                let length = self.length(LONGEST_NAME)?;
                let name = std::str::from_utf8(self.take(length)?).ok()?.to_owned();
                let bits = u64::from_le_bytes(*self.take(8)?.first_chunk()?);
                Record::Action { id, key: (name, bits) }
            }
            ROOT => {
                let count = self.length(MOST_VALUES)?;
                let initial = self.values(count)?;
                if !initial.iter().all(|value| value.is_finite()) {
                    return None;
                }
                let verdict = Records::verdict(self.byte()?)?;
                Record::Root { initial, verdict, observation: self.observation()? }
            }
            STEP => {
                let (parent, action) = (self.node()?, self.action()?);
                let flags = self.byte()?;
                let verdict = Records::verdict(flags & 3).filter(|_| flags < 8)?;
                let reward = if flags & 4 == 0 { None } else { Some(self.reward()?) };
                Record::Step { parent, action, verdict, reward, observation: self.observation()? }
            }
            STATE => {
                let node = self.node()?;
                let length = self.length(LONGEST_STATE as u64)?;
                Record::State { node, state: self.take(length)? }
            }
            REWARD => Record::Reward { node: self.node()?, reward: self.reward()? },
            _ => return None,
        })
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        if self.bytes.is_empty() || !self.is_good {
            return None;
        }
        let record = self.record();
        self.is_good = record.is_some();
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written() {
        let mut bytes = Vec::new();
        let node = |index| Node::new(index).expect("few");
        write_action(300, &("left".to_owned(), 1.5_f64.to_bits()), &mut bytes);
        let answer = Answer { verdict: Verdict::Satisfied, reward: Some(-2.5), observation: &[0.5, 1e300] };
        write_root(&[1.0, -3.0], Answer { reward: None, ..answer }, &mut bytes);
        write_step(node(70_000), 300, answer, &mut bytes);
        write_state(node(5), b"abc", &mut bytes);
        write_reward(node(0), 7.0, &mut bytes);
        let observation = vec![0.5, 1e300];
        let (verdict, reward) = (Verdict::Satisfied, Some(-2.5));
        let expected = [
            Record::Action { id: 300, key: ("left".to_owned(), 1.5_f64.to_bits()) },
            Record::Root { initial: vec![1.0, -3.0], verdict, observation: observation.clone() },
            Record::Step { parent: 70_000, action: 300, verdict, reward, observation },
            Record::State { node: 5, state: b"abc" },
            Record::Reward { node: 0, reward: 7.0 },
        ];
        let mut records = Records::new(&bytes, 2);
        assert_eq!(records.by_ref().collect::<Vec<_>>(), expected);
        assert!(records.is_good);
        // Cut short, all before the cut is there, and that it is cut is noticed unless it is between two records.
        for length in 0..bytes.len() {
            let mut records = Records::new(&bytes[..length], 2);
            let read: Vec<Record<'_>> = records.by_ref().collect();
            assert_eq!(read, expected[..read.len()]);
        }
    }
}
