//! Messages as lines of JSON.

use std::io::Write;

use broccoli_core::problem::{Action, Verdict};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::message::{Format, PROTOCOL, Refusal, Replies, Request, malformed};
use crate::description::{ComesBack, Description};

/// The greeting, which offers formats.
pub(super) fn write_hello(formats: &[Format], out: &mut Vec<u8>) {
    let formats = formats.iter().map(|format| format.name()).collect();
    write_line(&RequestJson::Hello { protocol: PROTOCOL, formats }, out);
}

/// What comes first in a hello; the rest is not kept. Another thing than a number is wrong in any version.
#[derive(Deserialize)]
struct VersionJson {
    protocol: Option<Number>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HelloJson {
    #[serde(rename = "type")]
    kind: String,
    protocol: u32,
    name: String,
    observations: Vec<String>,
    actions: Vec<Action>,
    come_back: String,
    state: Option<usize>,
    initial: Option<usize>,
    verdicts: bool,
    #[serde(default)]
    rewards: bool,
    format: Option<String>,
    #[serde(rename = "info")]
    _info: Option<IgnoredAny>,
}

/// Reads the program's answer to the greeting.
pub(super) fn read_hello(message: &[u8], offered: &[Format]) -> Result<(Description, Format), Refusal> {
    // The version decides what the other keys mean, so that it comes first.
    let version = parse::<VersionJson>(message).ok().and_then(|version| version.protocol);
    if let Some(protocol) = version.filter(|p| p.as_u64() != Some(u64::from(PROTOCOL))) {
        return malformed(format!("it speaks version {protocol} of the protocol, not {PROTOCOL}"));
    }
    let hello: HelloJson = parse(message)?;
    if hello.kind != "hello" {
        return malformed(format!("its type is {:?}, not \"hello\"", hello.kind));
    }
    debug_assert_eq!(hello.protocol, PROTOCOL);
    let comes_back = match (hello.come_back.as_str(), hello.state) {
        ("stateless", Some(state)) => ComesBack::Stateless(state),
        ("stateless", None) => return malformed("\"stateless\" needs \"state\", the number of its values"),
        ("snapshot" | "reset", Some(_)) => return malformed("\"state\" is only for \"stateless\""),
        ("snapshot", None) => ComesBack::Snapshot,
        ("reset", None) => ComesBack::Reset,
        (other, _) => {
            let allowed = "\"stateless\", \"snapshot\" or \"reset\"";
            return malformed(format!("\"come_back\" is {other:?}: it must be {allowed}"));
        }
    };
    let chosen = hello.format.as_deref().unwrap_or("json");
    let Some(&format) = offered.iter().find(|format| format.name() == chosen) else {
        let offered: Vec<&str> = offered.iter().map(|format| format.name()).collect();
        return malformed(format!(
            "it chose the format {chosen:?}, but {} was offered",
            offered.join(" or ")
        ));
    };
    let description = Description {
        name: hello.name,
        observations: hello.observations,
        actions: hello.actions,
        comes_back,
        initial: hello.initial,
        verdicts: hello.verdicts,
        rewards: hello.rewards,
    };
    description.check().map_err(Refusal::Malformed)?;
    Ok((description, format))
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum RequestJson<'a> {
    Hello { protocol: u32, formats: Vec<&'static str> },
    Reset { initial: &'a [f64] },
    Step(StepJson<'a>),
    Steps { steps: Vec<StepJson<'a>> },
    Save,
    Restore { snapshot: &'a str },
}

#[derive(Serialize)]
struct StepJson<'a> {
    action: usize,
    #[serde(skip_serializing_if = "<[f64]>::is_empty")]
    state: &'a [f64],
}

pub(super) fn write(request: Request<'_>, out: &mut Vec<u8>) {
    let line = match request {
        Request::Reset(initial) => RequestJson::Reset { initial },
        Request::Steps { states, actions: &[action] } => {
            RequestJson::Step(StepJson { action, state: states })
        }
        Request::Steps { states, actions } => {
            let size = states.len() / actions.len().max(1);
            let step = |(i, &action)| StepJson { action, state: &states[i * size..][..size] };
            RequestJson::Steps { steps: actions.iter().enumerate().map(step).collect() }
        }
        Request::Save => RequestJson::Save,
        // What was saved as text comes back as text; other bytes are refused by the program.
        Request::Restore(snapshot) => {
            RequestJson::Restore { snapshot: std::str::from_utf8(snapshot).unwrap_or_default() }
        }
    };
    write_line(&line, out);
}

fn write_line(value: &impl Serialize, out: &mut Vec<u8>) {
    // Numbers, names and lists of them: writing these into memory cannot fail.
    let written = serde_json::to_writer(&mut *out, value);
    debug_assert!(written.is_ok());
    let _ = out.write_all(b"\n");
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplyJson {
    observation: Vec<f64>,
    verdict: Option<VerdictJson>,
    reward: Option<f64>,
    state: Option<Vec<f64>>,
    #[serde(rename = "info")]
    _info: Option<IgnoredAny>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum VerdictJson {
    Running,
    Satisfied,
    Violated,
}

impl From<VerdictJson> for Verdict {
    fn from(verdict: VerdictJson) -> Verdict {
        match verdict {
            VerdictJson::Running => Verdict::Running,
            VerdictJson::Satisfied => Verdict::Satisfied,
            VerdictJson::Violated => Verdict::Violated,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RepliesJson {
    replies: Vec<ReplyJson>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SnapshotJson {
    snapshot: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RestoredJson {
    restored: bool,
}

#[derive(Deserialize)]
struct ErrorJson {
    error: String,
}

pub(super) fn read_replies(message: &[u8], replies: &mut Replies) -> Result<(), Refusal> {
    if replies.len() == 1 {
        return store(replies, 0, parse(message)?);
    }
    let all: RepliesJson = parse(message)?;
    if all.replies.len() != replies.len() {
        return malformed(format!("it has {} replies, not {}", all.replies.len(), replies.len()));
    }
    all.replies.into_iter().enumerate().try_for_each(|(index, reply)| store(replies, index, reply))
}

fn store(replies: &mut Replies, index: usize, reply: ReplyJson) -> Result<(), Refusal> {
    let verdict = match (reply.verdict, replies.judges()) {
        (Some(verdict), true) => verdict.into(),
        (None, false) => Verdict::Running,
        (None, true) => return malformed("\"verdict\" is missing, though its hello promised verdicts"),
        (Some(_), false) => return malformed("it has a verdict, though its hello said it has none"),
    };
    match reply.reward {
        Some(_) if !replies.rewards() => {
            return malformed("it has a reward, though its hello did not promise any");
        }
        None if replies.wants_reward() => {
            return malformed("\"reward\" is missing, though its hello promised rewards");
        }
        _ => {}
    }
    let given = reply.state.unwrap_or_default();
    for (what, given, expected) in [
        ("observation", reply.observation.len(), replies.dimensions()),
        ("state", given.len(), replies.state()),
    ] {
        if given != expected {
            return malformed(format!("its {what} has {given} values, not {expected}"));
        }
    }
    let (observation, state) = replies.store(index, verdict, reply.reward);
    observation.copy_from_slice(&reply.observation);
    state.copy_from_slice(&given);
    Ok(())
}

pub(super) fn read_snapshot(message: &[u8], snapshot: &mut Vec<u8>) -> Result<(), Refusal> {
    let saved: SnapshotJson = parse(message)?;
    snapshot.extend_from_slice(saved.snapshot.as_bytes());
    Ok(())
}

pub(super) fn read_restored(message: &[u8]) -> Result<(), Refusal> {
    let done: RestoredJson = parse(message)?;
    if done.restored { Ok(()) } else { malformed("\"restored\" is false") }
}

/// Reads one line, or the error that the program reports instead.
fn parse<'a, T: Deserialize<'a>>(message: &'a [u8]) -> Result<T, Refusal> {
    serde_json::from_slice(message).map_err(|error| {
        if let Ok(reported) = serde_json::from_slice::<ErrorJson>(message) {
            return Refusal::Reported(reported.error);
        }
        let hint = if ["NaN", "Infinity", "nan", "inf"].iter().any(|word| contains(message, word)) {
            "; JSON has no NaN and no infinity"
        } else {
            ""
        };
        if Format::Json.is_text(message) {
            return Refusal::Printed;
        }
        // The place is in the excerpt that goes with the message; a line number would always be 1.
        let text = error.to_string();
        let what = text.split(" at line ").next().unwrap_or_default();
        Refusal::Malformed(format!("{what} at column {}{hint}", error.column()))
    })
}

fn contains(message: &[u8], word: &str) -> bool {
    message.windows(word.len()).any(|window| window == word.as_bytes())
}
