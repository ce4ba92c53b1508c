//! Systems that make many steps at a time: an array in, an array out.
//!
//! A simulator in NumPy or on a graphics card takes hardly longer for hundreds of steps than for one. The
//! engine `behaviour` feeds it with the steps of as many walks; everything else asks for one row at a time
//! ([`Row`]).

use std::cell::RefCell;
use std::cmp::Ordering;
use std::num::NonZeroUsize;
use std::rc::Rc;

use super::{ComeBack, InitialState, Reply, System, SystemError, SystemFactory, Verdict};

/// Why a batch of steps could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{source}")]
pub struct BatchError {
    /// Which row is to blame, if that is known.
    pub row: Option<usize>,
    /// The system's own words.
    pub source: SystemError,
}

impl From<SystemError> for BatchError {
    fn from(source: SystemError) -> Self {
        BatchError { row: None, source }
    }
}

/// A deterministic black box whose next state is a function of state and action, for many of them at once.
///
/// States are rows of numbers, all of the same length. What comes of a row must depend on nothing but this
/// row, bit for bit: not on the others, their number, or its place among them.
///
/// ```
/// use std::num::NonZeroUsize;
/// use broccoli_core::problem::*;
/// use broccoli_core::search::{Search, Status};
///
/// /// Carts on rails; the goal is to be at 5 and slow.
/// struct Carts;
///
/// fn verdict(position: f64, speed: f64) -> Verdict {
///     let is_there = (position - 5.0).abs() <= 0.5 && speed.abs() <= 0.1;
///     if is_there { Verdict::Satisfied } else { Verdict::Running }
/// }
///
/// impl BatchSystem for Carts {
///     fn reset(
///         &mut self,
///         initial: &InitialState,
///         state: &mut Vec<f64>,
///         observation: &mut [f64],
///     ) -> Result<Reply, SystemError> {
///         state.extend([initial.values()[0], 0.0]);
///         observation.copy_from_slice(state);
///         Ok(verdict(state[0], state[1]).into())
///     }
///     fn step_batch(
///         &mut self,
///         actions: &[usize],
///         states: &mut [f64],
///         observations: &mut [f64],
///         verdicts: &mut [Verdict],
///     ) -> Result<(), BatchError> {
///         for (row, (&action, state)) in actions.iter().zip(states.chunks_exact_mut(2)).enumerate() {
///             state[1] += if action == 0 { -0.1 } else { 0.1 };
///             state[0] += state[1];
///             verdicts[row] = verdict(state[0], state[1]);
///         }
///         observations.copy_from_slice(states);
///         Ok(())
///     }
/// }
///
/// let problem = Problem::builder()
///     .dimension("position", Thresholds::grid(0.0, 10.0, 0.5)?)
///     .dimension("speed", Thresholds::grid(-1.0, 1.0, 0.25)?)
///     .action("back", -0.1)
///     .action("forth", 0.1)
///     .initial([0.0])
///     .objective(Objective::reach(1000))
///     .depth(2)
///     .build()?;
/// let rows = NonZeroUsize::new(256).ok_or("not 0")?;
/// let factory = Batches::new(rows, || Ok(Box::new(Carts) as Box<dyn BatchSystem>));
/// let outcome = Search::new(&problem, &factory).run()?;
/// assert_eq!(outcome.status, Status::Optimal);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait BatchSystem {
    /// Starts a run from `initial`: appends its first state, and writes the observation.
    ///
    /// # Errors
    /// When the system does not accept the initial state, or cannot run.
    fn reset(
        &mut self,
        initial: &InitialState,
        state: &mut Vec<f64>,
        observation: &mut [f64],
    ) -> Result<Reply, SystemError>;

    /// Makes one step per action, given by its index: replaces the states, which lie one after the other,
    /// and writes observations and verdicts. These are as many *queries* as there are actions.
    ///
    /// # Errors
    /// When the system cannot go on.
    fn step_batch(
        &mut self,
        actions: &[usize],
        states: &mut [f64],
        observations: &mut [f64],
        verdicts: &mut [Verdict],
    ) -> Result<(), BatchError>;

    /// Writes the rewards of the steps just made; says whether there are any.
    fn rewards(&mut self, rewards: &mut [f64]) -> bool {
        let _ = rewards;
        false
    }
}

/// A factory of systems that make many steps at a time.
pub struct Batches<F> {
    make: F,
    rows: NonZeroUsize,
}

impl<F: Fn() -> Result<Box<dyn BatchSystem>, SystemError> + Send + Sync> Batches<F> {
    /// Has batches of up to `rows` steps made by the systems that `make` makes, one per worker.
    pub fn new(rows: NonZeroUsize, make: F) -> Self {
        Batches { make, rows }
    }
}

impl<F: Fn() -> Result<Box<dyn BatchSystem>, SystemError> + Send + Sync> SystemFactory for Batches<F> {
    fn make(&self) -> Result<Box<dyn System>, SystemError> {
        Ok(Box::new(Row::new((self.make)()?)))
    }

    fn rows(&self) -> Option<NonZeroUsize> {
        Some(self.rows)
    }

    fn make_batch(&self) -> Result<Box<dyn BatchSystem>, SystemError> {
        (self.make)()
    }
}

/// One row of a system that makes many steps at a time, as a system of its own.
pub struct Row {
    table: Rc<RefCell<Table>>,
    state: Vec<f64>,
}

impl Row {
    /// A row alone: each of its steps is a batch.
    pub fn new(system: Box<dyn BatchSystem>) -> Self {
        Row::of(&Table::new(system))
    }

    /// One more row of a table.
    pub(crate) fn of(table: &Rc<RefCell<Table>>) -> Self {
        Row { table: Rc::clone(table), state: Vec::new() }
    }
}

impl System for Row {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        let mut table = self.table.borrow_mut();
        let start = table.start(initial, observation.len())?;
        self.state.clone_from(&start.state);
        observation.copy_from_slice(&start.observation);
        Ok(start.reply)
    }

    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        let mut verdict = [Verdict::Running];
        let mut table = self.table.borrow_mut();
        let stepped = table.system.step_batch(&[action], &mut self.state, observation, &mut verdict);
        stepped.map_err(|error| error.source)?;
        let mut reward = [0.0];
        let has_reward = table.system.rewards(&mut reward);
        Ok(Reply { verdict: verdict[0], reward: has_reward.then_some(reward[0]) })
    }

    fn come_back(&self) -> ComeBack {
        ComeBack::Clone
    }

    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        append_words(state, &self.state);
        Ok(())
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        let (words, _) = state.as_chunks::<8>();
        self.state.clear();
        self.state.extend(words.iter().map(|&word| f64::from_le_bytes(word)));
        Ok(())
    }
}

/// Appends numbers as bytes.
#[inline]
pub(crate) fn append_words(bytes: &mut Vec<u8>, words: &[f64]) {
    bytes.reserve(8 * words.len());
    for word in words {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
}

/// What a run starts with.
struct Start {
    initial: InitialState,
    state: Vec<f64>,
    observation: Vec<f64>,
    reply: Reply,
}

/// A system that makes many steps at a time, and how its runs start.
pub(crate) struct Table {
    pub(crate) system: Box<dyn BatchSystem>,
    /// By their initial states: each is asked for once.
    starts: Vec<Start>,
}

impl Table {
    pub(crate) fn new(system: Box<dyn BatchSystem>) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Table { system, starts: Vec::new() }))
    }

    fn start(&mut self, initial: &InitialState, dimensions: usize) -> Result<&Start, SystemError> {
        let place = self.starts.binary_search_by(|start| compared(&start.initial, initial));
        let place = match place {
            Ok(place) => place,
            Err(place) => {
                let (mut state, mut observation) = (Vec::new(), vec![0.0; dimensions]);
                let reply = self.system.reset(initial, &mut state, &mut observation)?;
                if let Some(width) = self.starts.first().map(|start| start.state.len())
                    && state.len() != width
                {
                    return Err(SystemError::new(format!(
                        "its state has {} numbers, but another initial state's has {width}: \
                         all must be rows of one length",
                        state.len()
                    )));
                }
                self.starts.insert(place, Start { initial: initial.clone(), state, observation, reply });
                place
            }
        };
        Ok(&self.starts[place])
    }
}

/// Initial states in some order.
fn compared(a: &InitialState, b: &InitialState) -> Ordering {
    let (a, b) = (a.values(), b.values());
    let differing = a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne());
    differing.unwrap_or_else(|| a.len().cmp(&b.len()))
}
