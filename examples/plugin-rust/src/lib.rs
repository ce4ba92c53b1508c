//! A cart on rails as a plug-in for Broccoli, with the C interface of `include/broccoli.h`.
//!
//! `cargo build --release -p broccoli-example-plugin`, then `broccoli solve examples/plugin-rust/cart.toml`.

use std::ffi::{c_char, c_void};
use std::slice;

/// `broccoli_system` of the header.
#[repr(C)]
pub struct BroccoliSystem {
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
    reset: unsafe extern "C" fn(*const f64, *mut c_void, *mut f64) -> i32,
    step: unsafe extern "C" fn(*mut c_void, u32, *mut f64) -> i32,
    error: Option<unsafe extern "C" fn(i32) -> *const c_char>,
}

/// Pointers to texts that never change.
struct Texts<const N: usize>([*const c_char; N]);

// SAFETY: they point to literals.
unsafe impl<const N: usize> Sync for Texts<N> {}
// SAFETY: it holds numbers, functions and pointers to what never changes.
unsafe impl Sync for BroccoliSystem {}

const RUNNING: i32 = 0;
const SATISFIED: i32 = 1;

static OBSERVATIONS: Texts<2> = Texts([c"position".as_ptr(), c"speed".as_ptr()]);
static ACTIONS: Texts<2> = Texts([c"back".as_ptr(), c"forth".as_ptr()]);
static VALUES: [f64; 2] = [-0.1, 0.1];

static CART: BroccoliSystem = BroccoliSystem {
    abi: 1,
    state_size: size_of::<Cart>() as u32,
    observation_count: 2,
    action_count: 2,
    initial_count: 1,
    flags: 0,
    name: c"cart".as_ptr(),
    observation_names: OBSERVATIONS.0.as_ptr(),
    action_names: ACTIONS.0.as_ptr(),
    action_values: VALUES.as_ptr(),
    reset,
    step,
    error: None,
};

#[derive(Clone, Copy)]
#[repr(C)]
struct Cart {
    position: f64,
    speed: f64,
}

impl Cart {
    fn moved(self, force: f64) -> Cart {
        let speed = self.speed + force;
        Cart { position: self.position + speed, speed }
    }

    fn observe(self, observation: &mut [f64]) -> i32 {
        observation.copy_from_slice(&[self.position, self.speed]);
        let there = (self.position - 5.0).abs() <= 0.5 && self.speed.abs() <= 0.1;
        if there { SATISFIED } else { RUNNING }
    }
}

unsafe extern "C" fn reset(initial: *const f64, state: *mut c_void, observation: *mut f64) -> i32 {
    // SAFETY: Broccoli gives `initial_count` values, a state of `state_size` bytes, aligned to 16, and
    // room for `observation_count` values.
    let (initial, cart, observation) = unsafe {
        (
            slice::from_raw_parts(initial, 1),
            &mut *state.cast::<Cart>(),
            slice::from_raw_parts_mut(observation, 2),
        )
    };
    *cart = Cart { position: initial[0], speed: 0.0 };
    cart.observe(observation)
}

unsafe extern "C" fn step(state: *mut c_void, action: u32, observation: *mut f64) -> i32 {
    // SAFETY: as in `reset`; the state was written by it, and any bytes are a Cart.
    let (cart, observation) =
        unsafe { (&mut *state.cast::<Cart>(), slice::from_raw_parts_mut(observation, 2)) };
    *cart = cart.moved(if action == 0 { VALUES[0] } else { VALUES[1] });
    cart.observe(observation)
}

/// The one function that a plug-in exports.
#[unsafe(no_mangle)]
pub extern "C" fn broccoli_plugin() -> *const BroccoliSystem {
    &CART
}
