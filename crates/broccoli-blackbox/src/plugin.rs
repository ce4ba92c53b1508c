//! Systems that are shared libraries with the C interface of `include/broccoli.h`.
//!
//! This is the only file with `unsafe`: the library's word is taken for what the header asks of it, and
//! everything that can be checked is checked once, when it is loaded.

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;

use broccoli_core::problem::{
    Action, ComeBack, InitialState, Reply, System, SystemError, SystemFactory, Verdict,
};
use libloading::Library;

use crate::description::{ComesBack, Description};

/// The version of the interface that is read here.
const ABI: u32 = 1;
/// The flag of plug-ins that give rewards.
const REWARDS: u32 = 1;
/// The largest state of a plug-in, in bytes.
const LARGEST_STATE: u32 = 1 << 18;
/// The most names of one kind, and the longest of them.
const MOST_NAMES: u32 = 65_535;

/// `broccoli_system` of the header.
#[repr(C)]
struct Table {
    abi: u32,
    state_size: u32,
    observation_count: u32,
    action_count: u32,
    initial_count: u32,
    flags: u32,
    name: *const c_char,
    observation_names: *const *const c_char,
    action_names: *const *const c_char,
    action_values: *const f64,
    reset: Option<ResetFunction>,
    step: Option<StepFunction>,
    error: Option<ErrorFunction>,
}

type ResetFunction = unsafe extern "C" fn(*const f64, *mut c_void, *mut f64) -> i32;
type StepFunction = unsafe extern "C" fn(*mut c_void, u32, *mut f64) -> i32;
type ErrorFunction = unsafe extern "C" fn(i32) -> *const c_char;

/// Why a shared library is no plug-in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the plug-in {path:?} {what}")]
pub struct PluginError {
    path: String,
    what: String,
}

/// What the calls need of the table, copied when it was checked.
#[derive(Clone, Copy)]
struct Functions {
    reset: ResetFunction,
    step: StepFunction,
    error: Option<ErrorFunction>,
}

/// A loaded plug-in: a factory of systems that share its code and nothing else.
///
/// A library is never unloaded: it may have started threads or registered functions of its own.
#[derive(Clone)]
pub struct Plugin {
    description: Description,
    functions: Functions,
    state_size: usize,
    initial_count: usize,
}

impl Plugin {
    /// Loads the library at `path` and checks what it says about itself.
    ///
    /// # Errors
    /// When there is no such library, or it does not follow the interface.
    pub fn load(path: &Path) -> Result<Self, PluginError> {
        let fail = |what: String| PluginError { path: path.display().to_string(), what };
        // A name without a slash would be looked for in the folders of the system.
        let absolute = std::path::absolute(path).map_err(|error| fail(format!("has no path: {error}")))?;
        if !absolute.is_file() {
            return Err(fail("is no file".to_owned()));
        }
        // SAFETY: the library's own start-up code runs here. The user has named it, to be run.
        let library = unsafe { Library::new(&absolute) };
        let library = library.map_err(|error| fail(format!("cannot be loaded: {error}")))?;
        // SAFETY: the header declares the function with this type.
        let symbol = unsafe { library.get::<unsafe extern "C" fn() -> *const Table>(b"broccoli_plugin\0") };
        let entry = match symbol {
            Ok(symbol) => *symbol,
            Err(_) => {
                return Err(fail("has no function `broccoli_plugin`; see include/broccoli.h".to_owned()));
            }
        };
        std::mem::forget(library);
        // SAFETY: the header promises a table that stays valid, or NULL; the library stays loaded.
        let table = unsafe { entry().as_ref() };
        match table {
            None => Err(fail("says that it cannot work".to_owned())),
            // SAFETY: as above; the first field is the version in every version of the interface.
            Some(table) => unsafe { Plugin::from_table(table) }.map_err(fail),
        }
    }

    /// Checks a table and copies what it says.
    ///
    /// # Safety
    /// Its pointers must be NULL or point to what the header asks for.
    unsafe fn from_table(table: &Table) -> Result<Self, String> {
        if table.abi != ABI {
            let abi = table.abi;
            return Err(format!(
                "has version {abi} of the interface: version {ABI} is needed, so build it again"
            ));
        }
        let counts = [
            ("observation_count", table.observation_count, 1, MOST_NAMES),
            ("action_count", table.action_count, 2, MOST_NAMES),
            ("initial_count", table.initial_count, 0, MOST_NAMES),
            ("state_size", table.state_size, 0, LARGEST_STATE),
            ("flags", table.flags, 0, REWARDS),
        ];
        for (what, count, least, most) in counts {
            if !(least..=most).contains(&count) {
                return Err(format!("says that its {what} is {count}: it must be from {least} to {most}"));
            }
        }
        let (Some(reset), Some(step)) = (table.reset, table.step) else {
            return Err("has no reset or no step: both are needed".to_owned());
        };
        if table.action_values.is_null() {
            return Err("has no action_values".to_owned());
        }
        // SAFETY: not NULL, and by the header there are `action_count` of them.
        let values = unsafe { std::slice::from_raw_parts(table.action_values, table.action_count as usize) };
        // SAFETY: by the header, zero-terminated text and arrays of as many such texts as counted.
        let (name, observations, names) = unsafe {
            (
                text("name", table.name)?,
                texts("observation_names", table.observation_names, table.observation_count)?,
                texts("action_names", table.action_names, table.action_count)?,
            )
        };
        let actions = names.into_iter().zip(values).map(|(name, &value)| Action { name, value }).collect();
        let state_size = table.state_size as usize;
        let initial_count = table.initial_count as usize;
        let description = Description {
            name,
            observations,
            actions,
            // Bytes are counted in words, as for a program.
            comes_back: ComesBack::Stateless(state_size.div_ceil(8)),
            initial: Some(initial_count),
            verdicts: true,
            rewards: table.flags & REWARDS != 0,
        };
        description.check().map_err(|what| format!("cannot be used: {what}"))?;
        let functions = Functions { reset, step, error: table.error };
        Ok(Plugin { description, functions, state_size, initial_count })
    }

    /// What the plug-in says about itself.
    pub fn description(&self) -> &Description {
        &self.description
    }
}

impl SystemFactory for Plugin {
    fn make(&self) -> Result<Box<dyn System>, SystemError> {
        Ok(Box::new(Running {
            name: self.description.name.clone(),
            functions: self.functions,
            actions: self.description.actions.len(),
            dimensions: self.description.observations.len(),
            initial_count: self.initial_count,
            state: vec![Block::default(); self.state_size.div_ceil(size_of::<Block>())],
            state_size: self.state_size,
            with_reward: self.description.rewards.then(|| vec![0.0; self.description.observations.len() + 1]),
        }))
    }
}

/// A piece of a state, for its alignment.
#[derive(Clone, Copy, Default)]
#[repr(C, align(16))]
struct Block([u8; 16]);

/// A state, and the functions that work on it.
struct Running {
    name: String,
    functions: Functions,
    actions: usize,
    dimensions: usize,
    initial_count: usize,
    state: Vec<Block>,
    state_size: usize,
    /// Room for an observation and a reward, if the plug-in writes both.
    with_reward: Option<Vec<f64>>,
}

impl Running {
    #[inline]
    fn reply(&self, code: i32) -> Result<Reply, SystemError> {
        match code {
            0 => Ok(Verdict::Running.into()),
            1 => Ok(Verdict::Satisfied.into()),
            2 => Ok(Verdict::Violated.into()),
            _ => Err(self.failure(code)),
        }
    }

    #[cold]
    fn failure(&self, code: i32) -> SystemError {
        let name = &self.name;
        if code > 0 {
            return SystemError::new(format!("plug-in {name:?} returned {code}, which is no verdict"));
        }
        // SAFETY: the header promises NULL or text that ends with a zero byte.
        let words = self.functions.error.and_then(|error| unsafe { text("error", error(code)) }.ok());
        let words = words.map(|words| format!(": {words}")).unwrap_or_default();
        SystemError::new(format!("plug-in {name:?} reports error {code}{words}"))
    }

    fn check_length(&self, what: &str, given: usize, expected: usize) -> Result<(), SystemError> {
        if given == expected {
            return Ok(());
        }
        let name = &self.name;
        Err(SystemError::new(format!("plug-in {name:?}: {what} has {expected} values, not {given}")))
    }
}

impl System for Running {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.check_length("an initial state", initial.values().len(), self.initial_count)?;
        self.check_length("an observation", observation.len(), self.dimensions)?;
        self.state.fill(Block::default());
        // SAFETY: the lengths are those of the table, and the state is ours, aligned and large enough.
        let code = unsafe {
            let state = self.state.as_mut_ptr().cast();
            let seen = self.with_reward.as_deref_mut().unwrap_or(observation).as_mut_ptr();
            (self.functions.reset)(initial.values().as_ptr(), state, seen)
        };
        let reply = self.reply(code)?;
        if let Some(seen) = &self.with_reward {
            observation.copy_from_slice(&seen[..self.dimensions]);
        }
        Ok(reply)
    }

    #[inline]
    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.check_length("an observation", observation.len(), self.dimensions)?;
        if action >= self.actions {
            let name = &self.name;
            return Err(SystemError::new(format!("plug-in {name:?} has no action number {action}")));
        }
        // SAFETY: as in `reset`; the action is one of the table's.
        let code = unsafe {
            let state = self.state.as_mut_ptr().cast();
            let seen = self.with_reward.as_deref_mut().unwrap_or(observation).as_mut_ptr();
            (self.functions.step)(state, action as u32, seen)
        };
        let reply = self.reply(code)?;
        match &self.with_reward {
            None => Ok(reply),
            Some(seen) => {
                observation.copy_from_slice(&seen[..self.dimensions]);
                Ok(reply.with_reward(seen[self.dimensions]))
            }
        }
    }

    fn come_back(&self) -> ComeBack {
        ComeBack::Clone
    }

    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        let mut left = self.state_size;
        for Block(bytes) in &self.state {
            let count = left.min(bytes.len());
            state.extend_from_slice(&bytes[..count]);
            left -= count;
        }
        Ok(())
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        self.check_length("a saved state", state.len(), self.state_size)?;
        for (Block(block), bytes) in self.state.iter_mut().zip(state.chunks(size_of::<Block>())) {
            block[..bytes.len()].copy_from_slice(bytes);
        }
        Ok(())
    }
}

/// Copies zero-terminated text.
///
/// # Safety
/// `pointer` must be NULL or point to such text.
unsafe fn text(what: &str, pointer: *const c_char) -> Result<String, String> {
    if pointer.is_null() {
        return Err(format!("has no {what}"));
    }
    // SAFETY: not NULL, and the caller promises the zero.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map(str::to_owned).map_err(|_| format!("has a {what} that is not UTF-8"))
}

/// Copies an array of texts.
///
/// # Safety
/// `pointer` must be NULL or point to `count` pointers as for [`text`].
unsafe fn texts(what: &str, pointer: *const *const c_char, count: u32) -> Result<Vec<String>, String> {
    if pointer.is_null() {
        return Err(format!("has no {what}"));
    }
    // SAFETY: not NULL, and the caller promises the count.
    let pointers = unsafe { std::slice::from_raw_parts(pointer, count as usize) };
    // SAFETY: the caller promises each of them.
    pointers.iter().map(|&pointer| unsafe { text(what, pointer) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn reset(initial: *const f64, state: *mut c_void, observation: *mut f64) -> i32 {
        // SAFETY: as the header promises; with its flag an observation has room for a reward.
        unsafe {
            state.cast::<f64>().write(initial.read());
            observation.write(initial.read());
        }
        0
    }

    unsafe extern "C" fn step(state: *mut c_void, action: u32, observation: *mut f64) -> i32 {
        // SAFETY: as above.
        unsafe {
            let next = state.cast::<f64>().read() + f64::from(action);
            state.cast::<f64>().write(next);
            observation.write(next);
            observation.add(1).write(-next);
        }
        0
    }

    #[test]
    fn a_plugin_with_rewards_writes_them_behind_the_observation() {
        let names = [c"still".as_ptr(), c"up".as_ptr()];
        let (observed, values) = ([c"x".as_ptr()], [0.0, 1.0]);
        let mut table = Table {
            abi: ABI,
            state_size: 8,
            observation_count: 1,
            action_count: 2,
            initial_count: 1,
            flags: REWARDS,
            name: c"counter".as_ptr(),
            observation_names: observed.as_ptr(),
            action_names: names.as_ptr(),
            action_values: values.as_ptr(),
            reset: Some(reset),
            step: Some(step),
            error: None,
        };
        // SAFETY: all pointers are to what the header asks for, and outlive the plug-in.
        let plugin = unsafe { Plugin::from_table(&table) }.unwrap();
        let mut system = plugin.make().unwrap();
        let mut observation = [f64::NAN];
        assert_eq!(system.reset(&InitialState::new([2.0]), &mut observation).unwrap().reward, None);
        let reply = system.step(1, &mut observation).unwrap();
        assert_eq!((observation, reply.reward), ([3.0], Some(-3.0)));
        table.flags = 2;
        // SAFETY: as above.
        let refused = unsafe { Plugin::from_table(&table) }.err();
        assert_eq!(refused.as_deref(), Some("says that its flags is 2: it must be from 0 to 1"));
    }
}
