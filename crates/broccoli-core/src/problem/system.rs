//! The black box: what a system must offer, and what it may offer.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use super::{BatchSystem, InitialState};

/// What a system says about the run so far. The first verdict other than `Running` is final.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// Neither satisfied nor violated yet.
    Running,
    /// The goal is reached.
    Satisfied,
    /// The run has failed and cannot recover.
    Violated,
}

/// What a system answers to [`System::reset`] and [`System::step`], beside the observation.
///
/// Made from a [`Verdict`]; fields may be added later without breaking implementors.
///
/// ```
/// use broccoli_core::problem::{Reply, Verdict};
/// assert_eq!(Reply::from(Verdict::Running).verdict, Verdict::Running);
/// assert_eq!(Reply::from(Verdict::Running).with_reward(-1.0).reward, Some(-1.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reply {
    /// The verdict on the run so far.
    pub verdict: Verdict,
    /// The reward of the step, if the system gives one; none at reset.
    pub reward: Option<f64>,
}

impl Reply {
    /// The same with the reward of the step.
    pub fn with_reward(self, reward: f64) -> Self {
        Reply { reward: Some(reward), ..self }
    }
}

impl From<Verdict> for Reply {
    fn from(verdict: Verdict) -> Self {
        Reply { verdict, reward: None }
    }
}

/// How a system can come back to an earlier state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ComeBack {
    /// Only by [`System::reset`] and the same actions again.
    #[default]
    Replay,
    /// By [`System::save`] and [`System::restore`]. The saved bytes are opaque, a handle for instance.
    Snapshot,
    /// By [`System::save`] and [`System::restore`], and cheaply: the saved bytes are the complete
    /// state, so that two equal byte strings have the same future.
    Clone,
}

/// Why a system could not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SystemError {
    message: String,
}

impl SystemError {
    /// An error with a message for the person who runs the search, who sees it on one line.
    pub fn new(message: impl Into<String>) -> Self {
        SystemError { message: crate::shown::shown(&message.into()).into_owned() }
    }
}

/// A deterministic black box: it can be reset and stepped, nothing more is assumed.
///
/// Deterministic means: the same initial state followed by the same actions gives the same
/// observations and verdicts, bit for bit. The observation need not be the whole state.
///
/// An engine never steps a run whose verdict is final.
pub trait System {
    /// Starts a run from `initial` and writes the first observation.
    ///
    /// # Errors
    /// When the system does not accept the initial state, or cannot run.
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError>;

    /// Applies one action, given by its index, and writes the next observation. This is a *query*.
    ///
    /// # Errors
    /// When the system cannot go on.
    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError>;

    /// How this system comes back to an earlier state.
    fn come_back(&self) -> ComeBack {
        ComeBack::Replay
    }

    /// Appends what [`System::restore`] needs to come back to the present state.
    ///
    /// # Errors
    /// Always, unless [`System::come_back`] declares that it works.
    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        let _ = state;
        Err(SystemError::new("this system cannot save its state"))
    }

    /// Comes back to a state written by [`System::save`] of a system made by the same factory.
    ///
    /// # Errors
    /// Always, unless [`System::come_back`] declares that it works; and when `state` is not such a state.
    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        let _ = state;
        Err(SystemError::new("this system cannot restore a state"))
    }

    /// What it remembers, if it does. A system around another one passes it on.
    fn memory(&mut self) -> Option<&mut dyn Memory> {
        None
    }
}

/// What it takes to know what an action does where a system is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// It is remembered.
    Nothing,
    /// One query.
    Query,
    /// [`Memory::approach`] has to be called first, which takes one query; perhaps more than once.
    Way,
}

/// What a system that remembers its answers can tell and do besides, so that whoever counts and limits queries need not
/// guess how many a step takes. [`System::step`] works without it.
pub trait Memory {
    /// What it takes to know what an action does here.
    ///
    /// # Errors
    /// When the system cannot come back to where it has to be asked, or is not the one that is remembered.
    fn needs(&mut self, action: usize) -> Result<Needs, SystemError>;

    /// Makes one query on the way to where a step is to be made.
    ///
    /// # Errors
    /// When the system fails, or does not do what is remembered of it.
    fn approach(&mut self) -> Result<(), SystemError>;

    /// From now on nothing is answered from memory; what is asked is compared with it.
    fn ask_always(&mut self);

    /// Appends the complete state of the system here, if it tells it. That may take queries if there was too little
    /// memory.
    ///
    /// # Errors
    /// When the system cannot save its state.
    fn complete_state(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError>;
}

/// Makes systems, one per worker. Any closure that returns a boxed [`System`] is a factory.
///
/// ```
/// use broccoli_core::problem::{System, SystemError, SystemFactory};
/// fn solve(factory: &dyn SystemFactory) -> Result<Box<dyn System>, SystemError> {
///     factory.make()
/// }
/// let broken = || Err(SystemError::new("no licence found"));
/// assert_eq!(solve(&broken).err().map(|e| e.to_string()), Some("no licence found".into()));
/// ```
pub trait SystemFactory: Send + Sync {
    /// Makes one system.
    ///
    /// # Errors
    /// When the system cannot be started.
    fn make(&self) -> Result<Box<dyn System>, SystemError>;

    /// Whether a step takes so little time that a few hundred make no difference to anybody who waits. Then a
    /// search reports, and looks whether a checkpoint is due, less often, and shares its work out in larger tasks
    /// ([`Tuning::of`](crate::search::Tuning::of)).
    fn is_quick(&self) -> bool {
        false
    }

    /// How many steps at a time its systems make, if [`SystemFactory::make_batch`] makes any.
    fn rows(&self) -> Option<NonZeroUsize> {
        None
    }

    /// Makes one system that makes many steps at a time. [`Batches`](super::Batches) is a factory of such.
    ///
    /// # Errors
    /// Always, unless [`SystemFactory::rows`] says that there are such; and when it cannot be started.
    fn make_batch(&self) -> Result<Box<dyn BatchSystem>, SystemError> {
        Err(SystemError::new("this system makes one step at a time"))
    }
}

impl<F> SystemFactory for F
where
    F: Fn() -> Result<Box<dyn System>, SystemError> + Send + Sync,
{
    fn make(&self) -> Result<Box<dyn System>, SystemError> {
        self()
    }
}
