//! A system that stops to think now and then, so that threads overtake each other.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use broccoli_core::problem::{ComeBack, InitialState, Reply, System, SystemError, SystemFactory};

/// Makes such systems of those of a factory.
pub fn jittery<F: SystemFactory>(factory: F) -> impl SystemFactory + use<F> {
    let random = Arc::new(AtomicU64::new(7));
    move || {
        let random = Arc::clone(&random);
        Ok(Box::new(Jittery { system: factory.make()?, random }) as Box<dyn System>)
    }
}

struct Jittery {
    system: Box<dyn System>,
    random: Arc<AtomicU64>,
}

impl Jittery {
    fn dawdle(&self) {
        let random =
            self.random.fetch_add(0x9e37_79b9_7f4a_7c15, Relaxed).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        match random >> 58 {
            0..16 => std::thread::yield_now(),
            16 => std::thread::sleep(std::time::Duration::from_micros(random >> 40 & 63)),
            _ => {}
        }
    }
}

impl System for Jittery {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.dawdle();
        self.system.reset(initial, observation)
    }
    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.dawdle();
        self.system.step(action, observation)
    }
    fn come_back(&self) -> ComeBack {
        self.system.come_back()
    }
    fn save(&mut self, state: &mut Vec<u8>) -> Result<(), SystemError> {
        self.system.save(state)
    }
    fn restore(&mut self, state: &[u8]) -> Result<(), SystemError> {
        self.system.restore(state)
    }
}
