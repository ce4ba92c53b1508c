//! Does a system keep the promises that the search relies on?
//!
//! Action sequences, the shortest first, are run several times: again in the same system, in another
//! one, and from a state that was saved on the way. All must give the same bits. Nothing here knows what
//! the right answers are, so that a system that passes may still be wrong; and only what was tried is
//! known, so that one that passes may still break a promise elsewhere.

use std::time::{Duration, Instant};

use broccoli_core::problem::{ComeBack, Problem, Reply, System, SystemFactory, Verdict};

/// How much to try.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The most action sequences.
    pub sequences: usize,
    /// The most actions in one.
    pub length: usize,
    /// No sequence is begun after this time.
    pub time: Duration,
}

impl Effort {
    /// A thorough check: some 60,000 steps, or half a minute.
    pub const FULL: Effort = Effort { sequences: 200, length: 120, time: Duration::from_secs(30) };
    /// A short check before a search: some 300 steps, or a second.
    pub const SHORT: Effort = Effort { sequences: 8, length: 16, time: Duration::from_secs(1) };
}

/// What the search relies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Every reset and step is answered.
    Answers,
    /// Observations and rewards hold no NaN.
    Numbers,
    /// The same actions give the same bits again in the same system.
    Repeats,
    /// The same actions give the same bits in another system, that is, another process.
    Agrees,
    /// A restored state goes on as a run that was never interrupted.
    ComesBack,
}

impl Promise {
    /// Every promise, in the order in which they are looked at.
    pub const ALL: [Promise; 5] =
        [Promise::Answers, Promise::Numbers, Promise::Repeats, Promise::Agrees, Promise::ComesBack];

    /// The promise in words.
    pub fn words(self) -> &'static str {
        match self {
            Promise::Answers => "every reset and step is answered",
            Promise::Numbers => "observations and rewards hold no NaN",
            Promise::Repeats => "the same actions give the same bits again",
            Promise::Agrees => "the same actions give the same bits in a fresh system",
            Promise::ComesBack => "a saved state, restored, goes on as if never left",
        }
    }
}

/// A promise that is not kept, with the shortest action sequence found that shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// Which promise.
    pub promise: Promise,
    /// From which initial state.
    pub initial: usize,
    /// The actions, by index; none if the reset alone shows it.
    pub actions: Vec<usize>,
    /// What was seen.
    pub what: String,
    /// What failed after these actions, if that was not the last of them: `"saving"` or `"restoring"` the state.
    pub doing: Option<&'static str>,
}

/// What was found out about a system that broke no promise.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How many action sequences were tried, out of how many planned.
    pub sequences: (usize, usize),
    /// Steps made in all.
    pub steps: u64,
    /// Steps a second, by the clock.
    pub steps_per_second: f64,
    /// The least and the largest reward of a step, if the system gives any.
    pub rewards: Option<(f64, f64)>,
    /// How the system comes back to a state.
    pub come_back: ComeBack,
    /// The initial states whose run is over before the first step, and how, of those that there was time to look at.
    pub over: Vec<(usize, Verdict)>,
    /// What is allowed but perhaps not meant.
    pub notes: Vec<String>,
}

/// Checks the systems that `factory` makes, from the initial states of `problem`.
///
/// ```
/// use broccoli_blackbox::check::{Effort, check};
/// let cartpole = broccoli_environments::find("cartpole")?;
/// let report = check(&cartpole.problem().build()?, cartpole, Effort::SHORT).expect("a built-in keeps its promises");
/// assert!(report.steps > 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The first promise that is broken.
pub fn check(problem: &Problem, factory: &dyn SystemFactory, effort: Effort) -> Result<Report, Broken> {
    let started = Instant::now();
    let mut checker = Checker { problem, factory, steps: 0, stepping: Duration::ZERO, wants_fresh: true };
    let mut system = checker.make()?;
    let mut fresh = checker.make()?;
    let mut random = Random(0x5eed);
    let mut tried = 0;
    let mut infinite = false;
    let mut rewards: Option<(f64, f64)> = None;
    let mut ended = None;
    let length = effort.length.min(usize::try_from(problem.objective().horizon()).unwrap_or(usize::MAX));
    for number in 0..effort.sequences {
        if started.elapsed() > effort.time {
            break;
        }
        let initial = number % problem.initial_states().len();
        let actions = sequence(number, effort.sequences, length, problem.actions().len(), &mut random);
        // Another process from time to time; starting one can take much longer than a sequence.
        if number % 16 == 15 {
            fresh = checker.make()?;
            checker.wants_fresh = true;
        }
        let split = random.below(actions.len() + 1);
        let attempt = Attempt { initial, actions: &actions, split };
        match checker.attempt(attempt, &mut *system, &mut *fresh) {
            Ok(run) => {
                infinite |= run.iter().any(|moment| moment.is_infinite());
                for reward in run.iter().filter_map(Moment::reward) {
                    let (least, largest) = rewards.unwrap_or((reward, reward));
                    rewards = Some((least.min(reward), largest.max(reward)));
                }
                if run.last().is_some_and(|moment| moment.verdict != Verdict::Running) {
                    ended.get_or_insert((initial, actions[..run.len() - 1].to_vec()));
                }
            }
            Err(broken) => {
                let broken = checker.nearest_cause(attempt, broken, &mut *system);
                return Err(checker.shrink(broken, split));
            }
        }
        tried += 1;
    }
    let over = checker.over_at_reset(&mut *system, effort.time)?;
    let mut notes = Vec::new();
    if infinite {
        notes.push("an observation is infinite: it ranks below or above all thresholds".to_owned());
    }
    if let Some((initial, actions)) = ended {
        notes.extend(checker.after_the_end(initial, &actions, &mut *fresh));
    }
    Ok(Report {
        sequences: (tried, effort.sequences),
        steps: checker.steps,
        steps_per_second: checker.steps as f64 / checker.stepping.as_secs_f64().max(1e-9),
        rewards,
        come_back: system.come_back(),
        over,
        notes,
    })
}

/// The actions of sequence `number`: first each action alone, then random ones that grow longer.
fn sequence(number: usize, count: usize, length: usize, actions: usize, random: &mut Random) -> Vec<usize> {
    if number < actions && number < count / 2 {
        return vec![number];
    }
    let length = (length * (number + 1)).div_ceil(count).max(2);
    // Systems react to actions that last, so half of the sequences repeat each some times.
    let repeats = if number.is_multiple_of(2) { 1 } else { 1 + random.below(10) };
    let mut sequence = Vec::with_capacity(length);
    while sequence.len() < length {
        let action = random.below(actions);
        sequence.extend(std::iter::repeat_n(action, repeats.min(length - sequence.len())));
    }
    sequence
}

/// One moment of a run: bits, so that NaN and -0 compare as they should.
#[derive(Clone, Debug, PartialEq)]
struct Moment {
    bits: Vec<u64>,
    reward: Option<u64>,
    verdict: Verdict,
}

impl Moment {
    fn is_infinite(&self) -> bool {
        self.bits.iter().any(|&bits| f64::from_bits(bits).is_infinite())
    }

    fn reward(&self) -> Option<f64> {
        self.reward.map(f64::from_bits)
    }

    fn shown(&self) -> String {
        let values: Vec<String> = self.bits.iter().map(|&bits| f64::from_bits(bits).to_string()).collect();
        let reward = self.reward().map_or(String::new(), |reward| format!(", reward {reward}"));
        format!("({}) {:?}{reward}", values.join(", "), self.verdict)
    }
}

/// What is tried at once.
#[derive(Clone, Copy)]
struct Attempt<'a> {
    initial: usize,
    actions: &'a [usize],
    /// After how many actions the state is saved.
    split: usize,
}

struct Checker<'a> {
    problem: &'a Problem,
    factory: &'a dyn SystemFactory,
    steps: u64,
    stepping: Duration,
    /// Whether a state is to be restored in a system that was never reset. That takes a new one.
    wants_fresh: bool,
}

impl Checker<'_> {
    fn make(&self) -> Result<Box<dyn System>, Broken> {
        self.factory.make().map_err(|error| Broken {
            promise: Promise::Answers,
            initial: 0,
            actions: Vec::new(),
            what: format!("a system could not be started: {error}"),
            doing: None,
        })
    }

    /// Runs a sequence in every way, and compares.
    fn attempt(
        &mut self,
        attempt: Attempt<'_>,
        system: &mut (dyn System + 'static),
        fresh: &mut (dyn System + 'static),
    ) -> Result<Vec<Moment>, Broken> {
        let Attempt { initial, actions, split } = attempt;
        let first = self.run(system, initial, actions)?;
        let again = self.run(system, initial, actions)?;
        compare(Promise::Repeats, attempt, &first, &again, 0, "first", "then")?;
        let other = self.run(fresh, initial, actions)?;
        compare(Promise::Agrees, attempt, &first, &other, 0, "one system", "another")?;
        // A state in which the run has ended is never saved by a search.
        let split = split.min(first.len().saturating_sub(2));
        if system.come_back() != ComeBack::Replay && first[split].verdict == Verdict::Running {
            self.run(system, initial, &actions[..split])?;
            let mut saved = Vec::new();
            let lost = |doing, what: String| {
                let actions = actions[..split].to_vec();
                Broken { promise: Promise::ComesBack, initial, actions, what, doing: Some(doing) }
            };
            let saving = system.save(&mut saved);
            saving.map_err(|error| lost("saving", format!("the state cannot be saved: {error}")))?;
            let unrestored = |error| lost("restoring", format!("the state cannot be restored: {error}"));
            // Away from the state, so that coming back means something.
            self.go_on(system, initial, actions, split)?;
            for (system, words) in [(system, "restored"), (fresh, "restored in another system")] {
                system.restore(&saved).map_err(unrestored)?;
                let rest = self.go_on(system, initial, actions, split)?;
                compare(Promise::ComesBack, attempt, &first, &rest, split + 1, "without a break", words)?;
            }
            // Whoever takes work over from another begins like this, and only then runs traces of its own.
            if std::mem::take(&mut self.wants_fresh) {
                let mut fresh = self.make()?;
                fresh.restore(&saved).map_err(|error| {
                    let what = "the state cannot be restored in a system that was never reset";
                    lost("restoring", format!("{what}: {error}"))
                })?;
                let rest = self.go_on(&mut *fresh, initial, actions, split)?;
                let words = "restored in a system that was never reset";
                compare(Promise::ComesBack, attempt, &first, &rest, split + 1, "without a break", words)?;
                let after = self.run(&mut *fresh, initial, actions)?;
                let words = "reset for the first time after a state was restored";
                compare(Promise::ComesBack, attempt, &first, &after, 0, "one system", words)?;
            }
        }
        Ok(first)
    }

    /// Resets and applies actions until they, or the run, end.
    fn run(
        &mut self,
        system: &mut dyn System,
        initial: usize,
        actions: &[usize],
    ) -> Result<Vec<Moment>, Broken> {
        let mut observation = vec![0.0; self.problem.dimensions().len()];
        let state = &self.problem.initial_states()[initial];
        let reply = system.reset(state, &mut observation);
        let reply = reply.map_err(|error| failed(initial, &[], &error.to_string()))?;
        // Only steps have rewards.
        let mut moments = vec![self.moment(&observation, reply.verdict.into(), initial, &[])?];
        if reply.verdict == Verdict::Running {
            moments.extend(self.go_on(system, initial, actions, 0)?);
        }
        Ok(moments)
    }

    /// Applies the actions from number `from` on, until they, or the run, end.
    fn go_on(
        &mut self,
        system: &mut dyn System,
        initial: usize,
        actions: &[usize],
        from: usize,
    ) -> Result<Vec<Moment>, Broken> {
        let mut observation = vec![0.0; self.problem.dimensions().len()];
        let mut moments = Vec::new();
        let started = Instant::now();
        for (index, &action) in actions.iter().enumerate().skip(from) {
            let reply = system.step(action, &mut observation);
            self.steps += 1;
            let applied = &actions[..=index];
            let reply = reply.map_err(|error| failed(initial, applied, &error.to_string()))?;
            moments.push(self.moment(&observation, reply, initial, applied)?);
            if reply.verdict != Verdict::Running {
                break;
            }
        }
        self.stepping += started.elapsed();
        Ok(moments)
    }

    fn moment(
        &self,
        observation: &[f64],
        reply: Reply,
        initial: usize,
        actions: &[usize],
    ) -> Result<Moment, Broken> {
        let no_number = |what: String| {
            Err(Broken { promise: Promise::Numbers, initial, actions: actions.to_vec(), what, doing: None })
        };
        if let Some(index) = observation.iter().position(|value| value.is_nan()) {
            let name = &self.problem.dimensions()[index].name;
            return no_number(format!("the observation is NaN in dimension {name:?}"));
        }
        if reply.reward.is_some_and(f64::is_nan) {
            return no_number("the reward is NaN".to_owned());
        }
        Ok(Moment {
            bits: observation.iter().map(|value| value.to_bits()).collect(),
            reward: reply.reward.map(f64::to_bits),
            verdict: reply.verdict,
        })
    }

    /// A system that answers at random breaks every promise sooner or later: if it does not even repeat
    /// itself, that is what to say.
    fn nearest_cause(&mut self, attempt: Attempt<'_>, broken: Broken, system: &mut dyn System) -> Broken {
        const TRIES: usize = 8;
        if !matches!(broken.promise, Promise::Agrees | Promise::ComesBack) {
            return broken;
        }
        let mut repeats = || -> Result<(), Broken> {
            let first = self.run(system, attempt.initial, attempt.actions)?;
            for _ in 0..TRIES {
                let again = self.run(system, attempt.initial, attempt.actions)?;
                compare(Promise::Repeats, attempt, &first, &again, 0, "first", "then")?;
            }
            Ok(())
        };
        repeats().err().unwrap_or(broken)
    }

    /// Leaves out actions one by one, as long as what is left shows the same broken promise.
    fn shrink(&mut self, mut broken: Broken, split: usize) -> Broken {
        const MOST_TRIES: usize = 60;
        let started = Instant::now();
        let mut tries = 0;
        let mut index = 0;
        while index < broken.actions.len() && tries < MOST_TRIES && started.elapsed() < Duration::from_secs(5)
        {
            let mut actions = broken.actions.clone();
            actions.remove(index);
            tries += 1;
            let attempt =
                Attempt { initial: broken.initial, actions: &actions, split: split.min(actions.len()) };
            let (Ok(mut system), Ok(mut fresh)) = (self.make(), self.make()) else { break };
            self.wants_fresh = true;
            match self.attempt(attempt, &mut *system, &mut *fresh) {
                Err(smaller) if smaller.promise == broken.promise => broken = smaller,
                _ => index += 1,
            }
        }
        broken
    }

    /// The initial states whose run is over before the first step. After this time no other is looked at.
    fn over_at_reset(
        &mut self,
        system: &mut dyn System,
        time: Duration,
    ) -> Result<Vec<(usize, Verdict)>, Broken> {
        let started = Instant::now();
        let mut over = Vec::new();
        for initial in 0..self.problem.initial_states().len() {
            if started.elapsed() > time {
                break;
            }
            let moments = self.run(system, initial, &[])?;
            let verdict = moments.last().map_or(Verdict::Running, |moment| moment.verdict);
            if verdict != Verdict::Running {
                over.push((initial, verdict));
            }
        }
        Ok(over)
    }

    /// What a system says when it is stepped after the end, which a search never does.
    fn after_the_end(
        &mut self,
        initial: usize,
        actions: &[usize],
        system: &mut dyn System,
    ) -> Option<String> {
        let verdict = self.run(system, initial, actions).ok()?.last()?.verdict;
        let mut observation = vec![0.0; self.problem.dimensions().len()];
        for action in 0..self.problem.actions().len().min(8) {
            let next = system.step(action, &mut observation).ok()?.verdict;
            if next != verdict {
                return Some(format!(
                    "after {verdict:?} the system can say {next:?} again: the first verdict is the one that counts"
                ));
            }
        }
        None
    }
}

fn failed(initial: usize, actions: &[usize], what: &str) -> Broken {
    let (actions, what) = (actions.to_vec(), what.to_owned());
    Broken { promise: Promise::Answers, initial, actions, what, doing: None }
}

/// Compares a run with another that begins at moment `from` of it.
fn compare(
    promise: Promise,
    attempt: Attempt<'_>,
    whole: &[Moment],
    other: &[Moment],
    from: usize,
    words: &str,
    other_words: &str,
) -> Result<(), Broken> {
    let expected = &whole[from.min(whole.len())..];
    let differ = (0..expected.len().max(other.len())).find(|&i| expected.get(i) != other.get(i));
    let Some(index) = differ else { return Ok(()) };
    let shown = |moment: Option<&Moment>| moment.map_or("the end".to_owned(), Moment::shown);
    let what = format!("{words}: {}; {other_words}: {}", shown(expected.get(index)), shown(other.get(index)));
    let actions = attempt.actions[..(from + index).min(attempt.actions.len())].to_vec();
    Err(Broken { promise, initial: attempt.initial, actions, what, doing: None })
}

/// A small generator (SplitMix64): the same sequences on every machine and run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound.max(1) as u64) as usize
    }
}

#[cfg(test)]
mod tests;
