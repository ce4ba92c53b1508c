//! One running system, watched: every answer is checked and every query counted.
//!
//! All engines go through an [`Instance`], so that a NaN or an error is reported the same way
//! everywhere, with the place where it happened, and a count of queries means the same.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

use super::seen::SeenRewards;
use super::{
    ComeBack, Gate, Needs, Objective, Problem, Reply, Return, Row, StopReason, System, SystemError,
    SystemFactory, Table, Verdict,
};

/// A black box that failed, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The factory could not make a system.
    #[error("the system could not be started: {0}")]
    Start(#[source] SystemError),
    /// `reset` failed.
    #[error("the system failed at reset from initial state {initial}: {source}")]
    Reset {
        /// Which initial state, counted from 0.
        initial: usize,
        /// The system's own words.
        source: SystemError,
    },
    /// `step` failed.
    #[error("the system failed at step {step} (action {action:?}) from initial state {initial}: {source}")]
    Step {
        /// Which initial state, counted from 0.
        initial: usize,
        /// Which step of the run, counted from 1.
        step: u64,
        /// The name of the action applied.
        action: String,
        /// The system's own words.
        source: SystemError,
    },
    /// `save` or `restore` failed.
    #[error("the system failed at {doing} its state at step {step} from initial state {initial}: {source}")]
    ComeBack {
        /// `"saving"` or `"restoring"`.
        doing: &'static str,
        /// Which initial state, counted from 0.
        initial: usize,
        /// Which step of the run; 0 is the reset.
        step: u64,
        /// The system's own words.
        source: SystemError,
    },
    /// Several steps at a time failed, and it is not known which of them is to blame.
    #[error("the system failed at a batch of {rows} steps: {source}")]
    Batch {
        /// How many steps were to be made.
        rows: usize,
        /// The system's own words.
        source: SystemError,
    },
    /// A system that remembers could not be brought to where it is to be asked, or is not the one that is remembered.
    #[error("before step {} from initial state {initial}: {source}", .step + 1)]
    OnTheWay {
        /// Which initial state, counted from 0.
        initial: usize,
        /// How many steps of the run there are so far.
        step: u64,
        /// What went wrong.
        source: SystemError,
    },
    /// The system panicked.
    #[error("the system panicked at step {step} ({}) from initial state {initial}: {message}",
        .action.as_ref().map_or("as it was reset or restored".to_owned(), |action| format!("action {action:?}")))]
    Panic {
        /// Which initial state, counted from 0.
        initial: usize,
        /// Which step of the run; 0 is the reset.
        step: u64,
        /// The name of the action applied; none if it was being reset or restored.
        action: Option<String>,
        /// What it said.
        message: String,
    },
    /// An observation holds NaN.
    #[error("the observation is NaN in dimension {dimension:?} at step {step} from initial state {initial}")]
    NaN {
        /// Which initial state, counted from 0.
        initial: usize,
        /// Which step of the run; 0 is the reset.
        step: u64,
        /// The name of the dimension.
        dimension: String,
    },
    /// A reward is missing, not finite or beyond its bounds.
    #[error("the system gave {given} at step {step} from initial state {initial}: {expected}")]
    Reward {
        /// Which initial state, counted from 0.
        initial: usize,
        /// Which step of the run, counted from 1.
        step: u64,
        /// What it gave.
        given: String,
        /// What it should have given.
        expected: String,
    },
    /// The engine does not search for this.
    #[error("the engine `{engine}` searches {only} only: use `behaviour`")]
    Unsupported {
        /// The engine.
        engine: &'static str,
        /// What it searches for, or through.
        only: &'static str,
    },
    /// The system did not do again what it did before.
    #[error(
        "the system is not deterministic: from initial state {initial}, {did}, but when it ran again {does}"
    )]
    NotDeterministic {
        /// Which initial state, counted from 0.
        initial: usize,
        /// What it did during the search.
        did: String,
        /// What it did when it ran again.
        does: String,
    },
    /// A search was resumed, and the system does not answer what it answered before.
    #[error(
        "the system has changed since the checkpoint was made: at step {step} from initial state {initial}, {what}"
    )]
    Changed {
        /// Which initial state, counted from 0.
        initial: usize,
        /// Which step of the run; 0 is the reset.
        step: u64,
        /// What differs.
        what: String,
    },
    /// No failure: the query was not made, because the search is to stop.
    #[error("stopped: {}", .0.name())]
    Stopped(StopReason),
}

/// A system made for a problem, with its present observation.
pub struct Instance<'p> {
    problem: &'p Problem,
    system: Box<dyn System>,
    observation: Vec<f64>,
    initial: usize,
    steps: u64,
    /// The action applied since it was reset or restored, if any.
    action: Option<usize>,
    queries: u64,
    /// The bounds of rewards, if there are to be any; and the last one.
    rewards: Option<(f64, f64)>,
    reward: f64,
    /// Where the best ones are taken down, if they are.
    seen: Option<Arc<SeenRewards>>,
    gate: Option<Arc<Gate<'p>>>,
    /// Whether the system [remembers](System::memory); and the gate for the queries on its way to where it is asked,
    /// if whoever steps asks the gate for those alone.
    remembers: bool,
    gate_on_the_way: Option<Arc<Gate<'p>>>,
    hits: u64,
    replayed: u64,
}

impl<'p> Instance<'p> {
    /// Makes a system for `problem`.
    ///
    /// # Errors
    /// When the factory fails.
    pub fn new(problem: &'p Problem, factory: &dyn SystemFactory) -> Result<Self, RunError> {
        Ok(Instance::of(problem, started(|| factory.make())?))
    }

    /// One row of a table as the system.
    pub(crate) fn row(problem: &'p Problem, table: &Rc<RefCell<Table>>) -> Self {
        Instance::of(problem, Box::new(Row::of(table)))
    }

    fn of(problem: &'p Problem, mut system: Box<dyn System>) -> Self {
        Instance {
            problem,
            remembers: system.memory().is_some(),
            system,
            observation: vec![0.0; problem.dimensions().len()],
            initial: 0,
            steps: 0,
            action: None,
            queries: 0,
            rewards: bounds_of_rewards(problem.objective()),
            reward: 0.0,
            seen: None,
            gate: None,
            gate_on_the_way: None,
            hits: 0,
            replayed: 0,
        }
    }

    /// Makes a system for a lane, which asks the gate itself before its steps. If the system remembers, what it asks
    /// again to come to where it is has to pass the gate, too.
    pub(crate) fn for_lane(
        problem: &'p Problem,
        factory: &dyn SystemFactory,
        gate: Arc<Gate<'p>>,
    ) -> Result<Self, RunError> {
        Ok(Instance { gate_on_the_way: Some(gate), ..Instance::new(problem, factory)? })
    }

    /// Makes a system whose queries have to pass a gate.
    pub(crate) fn gated(
        problem: &'p Problem,
        factory: &dyn SystemFactory,
        gate: Arc<Gate<'p>>,
    ) -> Result<Self, RunError> {
        Ok(Instance { gate: Some(gate), ..Instance::new(problem, factory)? })
    }

    /// Rewards are taken down from now on.
    pub(crate) fn note_rewards(&mut self, seen: Option<Arc<SeenRewards>>) {
        self.seen = seen;
    }

    /// Starts a run from an initial state of the problem, given by its index.
    ///
    /// # Errors
    /// When the system fails or its observation holds NaN.
    pub fn reset(&mut self, initial: usize) -> Result<Verdict, RunError> {
        (self.initial, self.steps, self.action) = (initial, 0, None);
        let state = &self.problem.initial_states()[initial];
        match self.system.reset(state, &mut self.observation) {
            Ok(reply) => self.checked(reply.verdict),
            Err(source) => Err(RunError::Reset { initial, source }),
        }
    }

    /// From now on nothing is answered from memory.
    pub(crate) fn ask_always(&mut self) {
        if let Some(memory) = self.system.memory() {
            memory.ask_always();
        }
    }

    /// Applies an action: one query, unless the system remembers the answer.
    ///
    /// # Errors
    /// When the system fails or its observation holds NaN.
    #[inline(always)]
    pub fn step(&mut self, action: usize) -> Result<Verdict, RunError> {
        if self.remembers {
            return self.step_remembering(action);
        }
        self.pass()?;
        self.queries += 1;
        self.step_system(action)
    }

    /// The same on the way to a state where it was before: a query that this takes is one made again.
    ///
    /// # Errors
    /// When the system fails or its observation holds NaN.
    pub(crate) fn step_again(&mut self, action: usize) -> Result<Verdict, RunError> {
        let (first, hits) = (self.queries - self.replayed, self.hits);
        let stepped = self.step(action);
        (self.replayed, self.hits) = (self.queries - first, hits);
        stepped
    }

    #[cold]
    fn step_remembering(&mut self, action: usize) -> Result<Verdict, RunError> {
        if self.is_ready(action)? {
            self.pass()?;
            self.queries += 1;
        } else {
            self.hits += 1;
        }
        self.step_system(action)
    }

    /// Asks the gate for a query, if there is one.
    #[inline(always)]
    fn pass(&self) -> Result<(), RunError> {
        self.gate.as_ref().map_or(Ok(()), |gate| gate.pass())
    }

    #[inline(always)]
    fn step_system(&mut self, action: usize) -> Result<Verdict, RunError> {
        self.steps += 1;
        self.action = Some(action);
        match self.system.step(action, &mut self.observation) {
            Ok(reply) => {
                if let Some(bounds) = self.rewards {
                    self.take_reward(reply, bounds)?;
                }
                self.checked(reply.verdict)
            }
            Err(source) => Err(self.failed(self.steps, action, source)),
        }
    }

    /// Takes the answer to a step that was made elsewhere, together with others; or made again there.
    pub(crate) fn accept(
        &mut self,
        state: &[u8],
        observation: &[f64],
        reply: Reply,
        is_again: bool,
    ) -> Result<Verdict, RunError> {
        self.steps += 1;
        self.queries += 1;
        self.replayed += u64::from(is_again);
        self.restore_system(state)?;
        if let Some(bounds) = self.rewards {
            self.take_reward(reply, bounds)?;
        }
        self.observation.copy_from_slice(observation);
        self.checked(reply.verdict)
    }

    fn save_system(&mut self, state: &mut Vec<u8>) -> Result<(), RunError> {
        self.system.save(state).map_err(|source| self.lost("saving", source))
    }

    fn restore_system(&mut self, state: &[u8]) -> Result<(), RunError> {
        self.system.restore(state).map_err(|source| self.lost("restoring", source))
    }

    /// Whether it takes a query to know what an action does here. If so, the system is brought to where it is asked.
    pub(crate) fn is_ready(&mut self, action: usize) -> Result<bool, RunError> {
        loop {
            let Some(memory) = self.system.memory() else { return Ok(true) };
            match memory.needs(action).map_err(|source| self.strayed(source))? {
                Needs::Nothing => return Ok(false),
                Needs::Query => return Ok(true),
                Needs::Way => {
                    let gate = self.gate_on_the_way.as_ref().or(self.gate.as_ref());
                    gate.map_or(Ok(()), |gate| gate.pass())?;
                    self.queries += 1;
                    self.replayed += 1;
                    let approached = self.system.memory().map_or(Ok(()), |memory| memory.approach());
                    approached.map_err(|source| self.strayed(source))?;
                }
            }
        }
    }

    #[cold]
    fn strayed(&self, source: SystemError) -> RunError {
        RunError::OnTheWay { initial: self.initial, step: self.steps, source }
    }

    /// Whether the system remembers what was asked before.
    #[inline]
    pub fn remembers(&self) -> bool {
        self.remembers
    }

    /// Steps whose answers were remembered.
    #[inline]
    pub(crate) fn hits(&self) -> u64 {
        self.hits
    }

    /// Of the queries, those made again only to come back to a state.
    #[inline]
    pub(crate) fn replayed(&self) -> u64 {
        self.replayed
    }

    /// Does something with the system; if it panics, that is an error like any other.
    pub(crate) fn guarded<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let acted = catch_unwind(AssertUnwindSafe(|| act(self)));
        acted.unwrap_or_else(|panic| Err(self.panicked(&*panic)))
    }

    /// The error of a system that has panicked.
    #[cold]
    pub(crate) fn panicked(&self, panic: &(dyn Any + Send)) -> RunError {
        RunError::Panic {
            initial: self.initial,
            step: self.steps,
            action: self.action.map(|action| self.problem.actions()[action].name.clone()),
            message: words(panic),
        }
    }

    /// The error of a step, given by its number, that failed.
    #[cold]
    pub(crate) fn failed(&self, step: u64, action: usize, source: SystemError) -> RunError {
        let action = self.problem.actions()[action].name.clone();
        RunError::Step { initial: self.initial, step, action, source }
    }

    /// How the system comes back to an earlier state.
    pub fn come_back(&self) -> ComeBack {
        self.system.come_back()
    }

    /// Appends what [`Instance::restore`] needs to come back here.
    ///
    /// # Errors
    /// When the system cannot save its state.
    pub fn save(&mut self, state: &mut Vec<u8>) -> Result<(), RunError> {
        self.save_system(state)
    }

    /// Appends the complete state of the system, if it tells it.
    ///
    /// # Errors
    /// When the system cannot save its state.
    pub fn complete_state(&mut self, state: &mut Vec<u8>) -> Result<(), RunError> {
        if let Some(memory) = self.system.memory() {
            return memory.complete_state(state).map_err(|source| self.lost("saving", source));
        }
        if self.system.come_back() == ComeBack::Clone { self.save_system(state) } else { Ok(()) }
    }

    /// Comes back to a saved state, which is `steps` steps from an initial state. The observation is
    /// that of the next step.
    ///
    /// # Errors
    /// When the system cannot restore the state.
    pub fn restore(&mut self, state: &[u8], initial: usize, steps: u64) -> Result<(), RunError> {
        (self.initial, self.steps, self.action) = (initial, steps, None);
        self.restore_system(state)
    }

    fn lost(&self, doing: &'static str, source: SystemError) -> RunError {
        RunError::ComeBack { doing, initial: self.initial, step: self.steps, source }
    }

    /// The present observation; it holds no NaN.
    #[inline]
    pub fn observation(&self) -> &[f64] {
        &self.observation
    }

    /// The reward of the last step, if the objective wants rewards.
    #[inline]
    pub fn reward(&self) -> f64 {
        self.reward
    }

    /// The initial state of the present run, by its index.
    pub(crate) fn initial(&self) -> usize {
        self.initial
    }

    /// Steps taken since the last reset.
    #[inline]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Queries made in all.
    #[inline]
    pub fn queries(&self) -> u64 {
        self.queries
    }

    #[inline]
    fn checked(&self, verdict: Verdict) -> Result<Verdict, RunError> {
        // Without a branch for each.
        let is_nan = self.observation.iter().fold(false, |is_nan, value| is_nan | value.is_nan());
        if is_nan { Err(self.nan()) } else { Ok(verdict) }
    }

    fn take_reward(&mut self, reply: Reply, bounds: (f64, f64)) -> Result<(), RunError> {
        self.reward = self.checked_reward(reply.reward, bounds)?;
        if let Some(seen) = &self.seen {
            seen.note(self.steps, self.reward, reply.verdict);
        }
        Ok(())
    }

    fn checked_reward(&self, reward: Option<f64>, (low, high): (f64, f64)) -> Result<f64, RunError> {
        match reward {
            Some(reward) if (low..=high).contains(&reward) && reward.abs() <= LARGEST_REWARD => Ok(reward),
            _ => Err(self.wrong_reward(reward, low, high)),
        }
    }

    #[cold]
    fn wrong_reward(&self, reward: Option<f64>, low: f64, high: f64) -> RunError {
        RunError::Reward {
            initial: self.initial,
            step: self.steps,
            given: reward.map_or("no reward".to_owned(), |reward| format!("the reward {reward}")),
            expected: match reward {
                Some(reward) if reward.abs() <= LARGEST_REWARD => {
                    format!("according to the problem's bounds it is from {low} to {high}")
                }
                _ => "the objective needs one at every step, a number up to 1e150".to_owned(),
            },
        }
    }

    #[cold]
    fn nan(&self) -> RunError {
        let position = self.observation.iter().position(|value| value.is_nan());
        let dimension = position.map(|position| self.problem.dimensions()[position].name.clone());
        let dimension = dimension.unwrap_or_default();
        RunError::NaN { initial: self.initial, step: self.steps, dimension }
    }
}

/// Larger ones might be too large to be summed.
const LARGEST_REWARD: f64 = 1e150;

/// Between which bounds rewards have to be, if there have to be any.
fn bounds_of_rewards(objective: Objective) -> Option<(f64, f64)> {
    let Objective::Return(Return { low, high, .. }) = objective else { return None };
    Some((low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY)))
}

/// Makes a system; if that panics, it is an error like any other.
pub(crate) fn started<T>(make: impl FnOnce() -> Result<T, SystemError>) -> Result<T, RunError> {
    let made = catch_unwind(AssertUnwindSafe(make));
    let made = made.unwrap_or_else(|panic| Err(SystemError::new(format!("it panicked: {}", words(&*panic)))));
    made.map_err(RunError::Start)
}

/// What somebody said who panicked.
pub(crate) fn words(panic: &(dyn Any + Send)) -> String {
    let message = panic.downcast_ref::<&str>().map(|message| (*message).to_owned());
    message.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
