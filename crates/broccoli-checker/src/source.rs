//! Where transitions come from: the system, or the record of what it answered, or both.

use std::ops::Range;
use std::rc::Rc;

use crate::known::Known;
use crate::limits::{Meter, QUERY, TRANSITION, TooMuch};
use crate::record::{Item, Record};
use crate::{Certificate, Failure, System, Verdict};

/// A state to come back to.
#[derive(Clone, Default)]
pub(crate) enum State {
    /// It is not known: the way there is to start again and apply the same actions.
    #[default]
    Unknown,
    Recorded(Range<usize>),
    Saved(Rc<[u8]>),
}

/// Why there is no transition.
pub(crate) enum Trouble {
    /// The record is wrong.
    Wrong(String),
    Failure(Failure),
}

impl From<String> for Trouble {
    fn from(error: String) -> Self {
        Trouble::Failure(Failure::System(error))
    }
}

impl From<TooMuch> for Trouble {
    fn from(limit: TooMuch) -> Self {
        Trouble::Failure(Failure::TooMuch(limit))
    }
}

/// The present place in a trace, and what is seen there.
pub(crate) struct Source<'a> {
    record: &'a Record,
    /// Whether transitions are taken from the record; else the system is asked.
    is_recorded: bool,
    system: Option<&'a mut dyn System>,
    /// The share of recorded transitions that the system is asked for, too.
    pub(crate) share: f64,
    random: u64,
    /// The next item of the record.
    item: u32,
    /// The state at the present place, and whether the system is in it.
    state: State,
    is_there: bool,
    /// The actions of all traces, and with which one each began.
    actions: Vec<u16>,
    began: Vec<usize>,
    initial: usize,
    /// The recorded answers so far by the actions before them, and the place there after every action.
    known: Known,
    places: Vec<u32>,
    pub(crate) meter: Meter,
    /// The bytes that others hold beside it.
    pub(crate) beside: usize,
    pub(crate) verdict: Verdict,
    pub(crate) observation: Vec<f64>,
    /// Room for what the system shows when it is compared.
    seen: Vec<f64>,
    /// How many transitions there were, and for how many the system was asked.
    pub(crate) transitions: u64,
    pub(crate) asked: u64,
    /// How many answers there were, to resets, too, and how many of them are the record's alone.
    pub(crate) answers: u64,
    pub(crate) recorded: u64,
}

impl<'a> Source<'a> {
    /// Nowhere yet: see [`Source::go_to`].
    pub(crate) fn new(
        certificate: &'a Certificate,
        system: Option<&'a mut dyn System>,
        meter: Meter,
    ) -> Self {
        let dimensions = certificate.problem.thresholds.len();
        Source {
            record: &certificate.record,
            is_recorded: certificate.is_full,
            system,
            share: 1.0,
            random: 1,
            item: u32::MAX,
            state: State::Unknown,
            is_there: false,
            actions: Vec::new(),
            began: Vec::new(),
            initial: 0,
            known: Known::new(certificate.problem.initial_states),
            places: Vec::new(),
            meter,
            beside: 0,
            verdict: Verdict::Running,
            observation: vec![0.0; dimensions],
            seen: vec![0.0; dimensions],
            transitions: 0,
            asked: 0,
            answers: 0,
            recorded: 0,
        }
    }

    /// Goes to the first item of a node, with no trace begun.
    pub(crate) fn go_to(&mut self, node: u32) {
        self.item = self.record.first(node);
        self.come_back(0, 0, 0, State::Unknown);
    }

    /// The steps of the present trace.
    pub(crate) fn steps(&self) -> u64 {
        (self.actions.len() - self.began.last().copied().unwrap_or(0)) as u64
    }

    /// The initial state of the next trace, as the record has it.
    pub(crate) fn next_start(&mut self) -> Option<u32> {
        let (&Item::Start(initial), next) = self.record.item(self.item)? else { return None };
        self.item = next;
        Some(initial)
    }

    /// The action that was applied next, as the record has it: in the traces of the tree.
    pub(crate) fn next_action(&mut self) -> Option<u16> {
        let (&Item::Step(action), next) = self.record.item(self.item)? else { return None };
        self.item = next;
        Some(action)
    }

    /// Whether nothing more is recorded in this node.
    pub(crate) fn is_at_end(&self) -> bool {
        self.record.item(self.item).is_none()
    }

    /// Starts a trace.
    pub(crate) fn reset(&mut self, initial: usize) -> Result<(), Trouble> {
        self.initial = initial;
        self.began.push(self.actions.len());
        self.go(None)
    }

    /// Goes on in this node, with a step.
    pub(crate) fn step_into(&mut self, node: u32, action: u16) -> Result<(), Trouble> {
        self.item = self.record.first(node);
        self.step(action)
    }

    /// Applies an action.
    pub(crate) fn step(&mut self, action: u16) -> Result<(), Trouble> {
        self.go(Some(action))
    }

    /// What it takes to come back here.
    pub(crate) fn save(&mut self) -> State {
        if self.is_recorded {
            return self.state.clone();
        }
        let saved = self.system.as_mut().and_then(|system| system.save());
        saved.map_or(State::Unknown, |bytes| State::Saved(bytes.into()))
    }

    /// Comes back to where `traces` were begun, the last one from `initial`, and that had these steps.
    pub(crate) fn come_back(&mut self, traces: usize, initial: usize, steps: u64, state: State) {
        self.began.truncate(traces);
        self.actions.truncate(self.began.last().copied().unwrap_or(0) + steps as usize);
        self.places.truncate(self.actions.len());
        self.initial = initial;
        self.state = state;
        self.is_there = false;
    }

    /// Starts the trace, or applies an action.
    fn go(&mut self, action: Option<u16>) -> Result<(), Trouble> {
        self.meter.spend(TRANSITION + self.observation.len() as u64)?;
        self.meter.holds(self.beside + self.taken())?;
        let before = std::mem::take(&mut self.state);
        if self.is_recorded {
            self.look_up(action)?;
            let is_asked = self.system.is_some() && self.draw() < self.share;
            if is_asked {
                self.compare(action, &before)?;
            } else {
                // A system is never brought to a state that it has not shown itself.
                self.state = State::Unknown;
            }
            self.is_there = is_asked;
            self.recorded += u64::from(!is_asked);
        } else {
            let mut seen = std::mem::take(&mut self.observation);
            let answer = self.ask(action, &before, &mut seen);
            self.observation = seen;
            self.verdict = answer?;
            self.is_there = true;
        }
        self.answers += 1;
        self.transitions += u64::from(action.is_some());
        self.actions.extend(action);
        Ok(())
    }

    /// The bytes that it takes. A list may have room for twice as much as is in it.
    fn taken(&self) -> usize {
        let of_steps = self.actions.len() * size_of::<u16>() + self.places.len() * size_of::<u32>();
        2 * (of_steps + self.began.len() * size_of::<usize>()) + self.known.taken()
    }

    /// Takes the next answer from the record, and compares it with what the same actions had before.
    fn look_up(&mut self, action: Option<u16>) -> Result<(), Trouble> {
        let record = self.record;
        let item = self.item;
        let Some((Item::Reply { verdict, observation, state }, next)) = record.item(self.item) else {
            return Err(Trouble::Wrong("what the system answered is not recorded".to_owned()));
        };
        self.item = next;
        self.verdict = *verdict;
        self.observation.copy_from_slice(record.observation(*observation));
        self.state = if state.is_empty() { State::Unknown } else { State::Recorded(state.clone()) };
        let earlier = match action {
            None => self.known.start(self.initial, item),
            Some(action) => {
                let last = self.places.last().filter(|_| self.steps() > 0);
                let place = last.copied().unwrap_or(self.initial as u32);
                let (place, earlier) = self.known.step(place, action, item, &mut self.meter)?;
                self.places.push(place);
                earlier
            }
        };
        match earlier {
            Some(earlier) if !record.is_same_answer(earlier, item) => Err(Trouble::Wrong(
                "the same actions from this initial state have another answer elsewhere in the record"
                    .to_owned(),
            )),
            _ => Ok(()),
        }
    }

    /// Asks the system for what the record has, and compares bits.
    fn compare(&mut self, action: Option<u16>, before: &State) -> Result<(), Trouble> {
        let wrong = |what: &str| Err(Trouble::Wrong(format!("the system answers otherwise: {what}")));
        let mut seen = std::mem::take(&mut self.seen);
        let verdict = self.ask(action, before, &mut seen)?;
        self.seen = seen;
        if verdict != self.verdict {
            return wrong(&format!("{verdict:?}, and {:?} is recorded", self.verdict));
        }
        let mut pairs = self.seen.iter().zip(&self.observation);
        if let Some((seen, recorded)) = pairs.find(|(a, b)| a.to_bits() != b.to_bits()) {
            return wrong(&format!("it shows {seen:e}, and {recorded:e} is recorded"));
        }
        if let (State::Recorded(place), Some(system)) = (&self.state, &mut self.system)
            && system.save().as_deref() != Some(self.record.state(place.clone()))
        {
            return wrong("its state is not the recorded one");
        }
        Ok(())
    }

    /// Asks the system, which is brought to the present place if it is elsewhere.
    fn ask(&mut self, action: Option<u16>, before: &State, seen: &mut [f64]) -> Result<Verdict, Trouble> {
        let system = self.system.as_deref_mut().ok_or(Trouble::Failure(Failure::NeedsSystem))?;
        self.meter.spend(QUERY)?;
        let Some(action) = action else { return Ok(system.reset(self.initial, seen)?) };
        if !self.is_there {
            match before {
                State::Saved(state) => system.restore(state)?,
                State::Recorded(place) => {
                    system.restore(self.record.state(place.clone())).map_err(|error| {
                        Trouble::Wrong(format!("the system refuses the recorded state: {error}"))
                    })?
                }
                State::Unknown => {
                    system.reset(self.initial, seen)?;
                    for &action in &self.actions[self.began.last().copied().unwrap_or(0)..] {
                        self.meter.spend(QUERY)?;
                        system.step(action, seen)?;
                    }
                }
            }
        }
        self.asked += 1;
        Ok(system.step(action, seen)?)
    }

    /// A number from 0 to 1, the same ones each time.
    fn draw(&mut self) -> f64 {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 11) as f64 / (1u64 << 53) as f64
    }
}
