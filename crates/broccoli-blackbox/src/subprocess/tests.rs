//! The readers of messages, fed with what no program should send.

use broccoli_core::problem::Verdict;

use super::message::{Format, Refusal, Replies, Request};
use super::{binary, json};

/// A generator of mutations (xorshift), so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    /// Changes, drops, doubles or inserts some bytes.
    fn mutate(&mut self, message: &[u8]) -> Vec<u8> {
        let mut bytes = message.to_vec();
        for _ in 0..1 + self.below(4) {
            let at = self.below(bytes.len());
            match self.below(6) {
                0 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
                1 if !bytes.is_empty() => drop(bytes.drain(at..(at + 1 + self.below(9)).min(bytes.len()))),
                2 => bytes.insert(at, b"0-.eE[]{}\",:\n\xffN"[self.below(15)]),
                3 => bytes.truncate(at),
                4 => bytes.extend_from_within(at..),
                _ => bytes.resize(bytes.len() + self.below(9), 0),
            }
        }
        bytes
    }
}

fn replies(count: usize) -> Replies {
    let mut replies = Replies::new(2, 1, true, false);
    replies.expect(count);
    replies
}

const ONE: &[u8] = br#"{"observation":[1.5,-0],"verdict":"satisfied","state":[1e-300]}"#;
const TWO: &[u8] = br#"{"replies":[{"observation":[1,2],"verdict":"running","state":[3]},{"observation":[4,5],"verdict":"violated","state":[6]}]}"#;
const HELLO: &[u8] = br#"{"type":"hello","protocol":1,"name":"n","observations":["a","b"],"actions":[{"name":"x","value":0},{"name":"y","value":1}],"come_back":"stateless","state":1,"verdicts":true,"format":"binary"}"#;

fn frame(kind: u8, words: &[u64]) -> Vec<u8> {
    let mut bytes = ((8 * words.len()) as u32).to_le_bytes().to_vec();
    bytes.extend([kind, 0, 0, 0]);
    words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    bytes
}

#[test]
fn good_messages_are_read() {
    let mut one = replies(1);
    json::read_replies(ONE, &mut one).unwrap();
    assert_eq!((&one.verdicts[..], &one.states[..]), (&[Verdict::Satisfied][..], &[1e-300][..]));
    let mut two = replies(2);
    json::read_replies(TWO, &mut two).unwrap();
    assert_eq!(two.observations, [1.0, 2.0, 4.0, 5.0]);
    let words = [1.0f64, 2.0, 3.0].map(f64::to_bits);
    let mut read = replies(1);
    binary::read_replies(&frame(129, &[2, words[0], words[1], words[2]]), &mut read).unwrap();
    assert_eq!(
        (read.verdicts[0], &read.observations[..], read.states[0]),
        (Verdict::Violated, &[1.0, 2.0][..], 3.0)
    );
    let (description, format) = json::read_hello(HELLO, &[Format::Json, Format::Binary]).unwrap();
    assert_eq!((description.actions.len(), format), (2, Format::Binary));
    assert!(json::read_hello(HELLO, &[Format::Json]).is_err());
}

#[test]
fn rewards_are_read_if_they_were_promised() {
    let with = || {
        let mut replies = Replies::new(1, 0, true, true);
        replies.expect(1);
        replies
    };
    let mut read = with();
    json::read_replies(br#"{"observation":[1],"verdict":"running","reward":-0.5}"#, &mut read).unwrap();
    assert_eq!(read.rewards, [Some(-0.5)]);
    let mut read = with();
    let words = [-0.5f64, 1.0].map(f64::to_bits);
    binary::read_replies(&frame(129, &[0, words[0], words[1]]), &mut read).unwrap();
    assert_eq!((&read.rewards[..], &read.observations[..]), (&[Some(-0.5)][..], &[1.0][..]));
    let without = br#"{"observation":[1],"verdict":"running"}"#;
    let missing =
        Err(Refusal::Malformed("\"reward\" is missing, though its hello promised rewards".to_owned()));
    assert_eq!(json::read_replies(without, &mut with()), missing);
    // The reply to a reset needs none, and what a frame has in its place does not count.
    let mut read = with();
    read.expect_reset();
    json::read_replies(without, &mut read).unwrap();
    assert_eq!(read.rewards, [None]);
    binary::read_replies(&frame(129, &[0, words[0], words[1]]), &mut read).unwrap();
    assert_eq!(read.rewards, [None]);
    let unasked = br#"{"observation":[1,2],"verdict":"running","state":[3],"reward":1}"#;
    assert!(matches!(json::read_replies(unasked, &mut replies(1)), Err(Refusal::Malformed(_))));
}

#[test]
fn errors_of_the_program_are_told_apart_from_bad_messages() {
    let reported = Err(Refusal::Reported("empty".to_owned()));
    assert_eq!(json::read_replies(br#"{"error":"empty"}"#, &mut replies(1)), reported);
    assert_eq!(json::read_restored(br#"{"error":"empty"}"#), reported);
    let mut error = frame(255, &[]);
    error.extend(b"empty");
    assert_eq!(binary::read_replies(&error, &mut replies(1)), reported);
    assert!(matches!(binary::read_snapshot(&frame(131, &[]), &mut Vec::new()), Err(Refusal::Malformed(_))));
}

/// Whatever comes, there is an answer or a refusal, and never a panic or a wrong number of values.
#[test]
fn mutated_messages_are_read_or_refused() {
    let seed = std::env::var("BROCCOLI_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1u64);
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let binary_two = frame(129, &[0, 1, 2, 3, 1, 4, 5, 6]);
    let (mut good, mut bad) = (0, 0);
    for _ in 0..100_000 {
        for (message, count) in [(ONE, 1), (TWO, 2), (&binary_two[..], 2)] {
            let message = random.mutate(message);
            for format in [Format::Json, Format::Binary] {
                if let Ok(Some(end)) = format.end(&message, 0) {
                    assert!(end <= message.len());
                }
                let mut replies = replies(count);
                match format.read_replies(&message, &mut replies) {
                    Ok(()) => good += 1,
                    Err(_) => bad += 1,
                }
                assert_eq!((replies.len(), replies.observations.len()), (count, 2 * count));
                let _ = format.read_snapshot(&message, &mut Vec::new());
                let _ = format.read_restored(&message);
            }
        }
        if let Ok((description, _)) = json::read_hello(&random.mutate(HELLO), &[Format::Json, Format::Binary])
        {
            assert!(description.actions.len() >= 2 && !description.observations.is_empty());
        }
    }
    assert!(good > 1000 && bad > 1000, "{good} read, {bad} refused: the mutations do not try both");
}

#[test]
fn messages_are_those_of_the_documentation() {
    let shown = include_str!("../../../../docs/protocol.md");
    let line = |request| {
        let mut out = Vec::new();
        json::write(request, &mut out);
        String::from_utf8(out).unwrap().trim_end().to_owned()
    };
    let mut hello = Vec::new();
    json::write_hello(&[Format::Binary, Format::Json], &mut hello);
    for request in [
        String::from_utf8(hello).unwrap().trim_end().to_owned(),
        line(Request::Reset(&[-0.51, 0.0])),
        line(Request::Steps { states: &[], actions: &[1] }),
        line(Request::Steps { states: &[-0.51, 0.0], actions: &[1] }),
        line(Request::Steps { states: &[-0.51, 0.0, 0.2, 0.01], actions: &[1, 0] }),
        line(Request::Save),
        line(Request::Restore(b"any text")),
    ] {
        assert!(shown.contains(&request), "not in docs/protocol.md: {request}");
    }
    let answers = |start: &str| shown.lines().find(|line| line.starts_with(start)).unwrap().as_bytes();
    let (description, _) =
        json::read_hello(answers("{\"type\":\"hello\",\"protocol\":1,\"name\""), &[Format::Json]).unwrap();
    assert_eq!(description.observations, ["position", "velocity"]);
    let mut replies = Replies::new(2, 2, true, false);
    replies.expect(2);
    json::read_replies(answers("{\"replies\""), &mut replies).unwrap();
    assert_eq!(replies.states, [-0.5, 0.01, 0.21, 0.01]);

    let mut out = Vec::new();
    binary::write(Request::Steps { states: &[0.5], actions: &[1] }, &mut out);
    assert_eq!(out, frame(2, &[1, 0.5f64.to_bits()]));
    assert_eq!(line(Request::Restore(b"a\"b")), "{\"type\":\"restore\",\"snapshot\":\"a\\\"b\"}");
}
