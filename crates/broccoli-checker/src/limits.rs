//! What reading and checking a certificate may take. Both are counted, never timed: the same file is refused
//! on every machine, or on none.

/// The memory and the work that a certificate may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory, the file itself not counted.
    pub memory: usize,
    /// Units of work: `docs/certificates.md` lists what costs how many. Reading may take a tenth of them.
    pub work: u64,
}

/// The part of the work that may go into reading.
const READING: u64 = 10;

/// Units of work for a transition that is looked at, beside one for every dimension.
pub(crate) const TRANSITION: u64 = 10;
/// Units of work for a step of the system, also for one that only leads back to a state.
pub(crate) const QUERY: u64 = 100;

/// Units of work for a label or an action beside the one that is looked for.
pub(crate) const SIBLING: u64 = 4;

impl Limits {
    /// What a file of this length may take unless somebody allows more.
    ///
    /// ```
    /// use broccoli_checker::Limits;
    /// let small = Limits::of_file(1_000);
    /// assert_eq!(small, Limits { memory: (128 << 20) + 128_000, work: 5_050_000_000 });
    /// ```
    pub fn of_file(length: usize) -> Self {
        Limits {
            memory: length.saturating_mul(128).saturating_add(128 << 20).min(8 << 30),
            work: (length as u64).saturating_mul(50_000).saturating_add(5_000_000_000),
        }
    }
}

/// A limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooMuch {
    /// Of memory, in bytes.
    #[error("it takes more than {} of memory", mebibytes(*.0))]
    Memory(usize),
    /// Of work, in units.
    #[error("it takes more than {0} units of work")]
    Work(u64),
}

fn mebibytes(bytes: usize) -> String {
    if bytes < 1 << 20 { format!("{bytes} bytes") } else { format!("{} MiB", bytes >> 20) }
}

/// Counts what was taken so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meter {
    limits: Limits,
    pub(crate) work: u64,
}

impl Meter {
    pub(crate) fn new(limits: Limits) -> Self {
        Meter { limits, work: 0 }
    }

    /// One for reading: the work that must be left for the check counts as done.
    pub(crate) fn of_reading(limits: Limits) -> Self {
        Meter { limits, work: limits.work - limits.work / READING }
    }

    /// Work that is about to be done.
    pub(crate) fn spend(&mut self, units: u64) -> Result<(), TooMuch> {
        self.work = self.work.saturating_add(units);
        self.has_work()
    }

    /// Whether all the work so far was allowed. Where it was not, what was computed last means nothing.
    pub(crate) fn has_work(&self) -> Result<(), TooMuch> {
        if self.work <= self.limits.work { Ok(()) } else { Err(TooMuch::Work(self.limits.work)) }
    }

    /// Memory that is held at present, all together.
    pub(crate) fn holds(&self, bytes: usize) -> Result<(), TooMuch> {
        if bytes <= self.limits.memory { Ok(()) } else { Err(TooMuch::Memory(self.limits.memory)) }
    }

    /// The bytes that are allowed.
    pub(crate) fn memory(&self) -> usize {
        self.limits.memory
    }
}
