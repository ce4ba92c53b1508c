//! Systems that remember what they have answered, and of which system that is.

use std::sync::Arc;

use broccoli_core::problem::{System, SystemError, SystemFactory};
use broccoli_store::{Remembered, Store};

use crate::featured::Featured;
use crate::judged::Judged;
use crate::target::Target;

impl Target {
    /// Remembers what the system answers from now on in a store, and does not ask for what is in there.
    pub fn remember_in(&mut self, store: Arc<Store>) {
        self.store = Some(store);
        self.derive();
    }

    /// Whether it pays to remember what the system answers: whether it takes long for an answer.
    pub fn is_slow(&self) -> bool {
        !self.plain.is_quick() && self.plain.rows().is_none()
    }

    /// Whether what it answers is remembered.
    pub fn remembers(&self) -> bool {
        self.store.is_some()
    }

    /// How many values the system itself observes.
    pub fn observed_values(&self) -> usize {
        self.observed().count()
    }

    /// Makes the systems without memory.
    pub fn factory_without_memory(&self) -> Arc<dyn SystemFactory> {
        self.posed(Arc::clone(&self.plain))
    }

    /// Makes the systems remember, judges them, and lets them observe the features, too.
    pub(crate) fn derive(&mut self) {
        let plain = Arc::clone(&self.plain);
        let Some(store) = &self.store else {
            self.factory = self.posed(plain);
            return;
        };
        let wants_rewards = self.objective.wants_rewards();
        let remembered = Remembered::new(plain, Arc::clone(store), &self.actions, wants_rewards);
        self.factory = self.posed(Arc::new(remembered));
    }

    /// The systems with conditions and features over them.
    fn posed(&self, mut factory: Arc<dyn SystemFactory>) -> Arc<dyn SystemFactory> {
        if let Some(conditions) = self.conditions.clone() {
            let plain = factory;
            factory = Arc::new(move || -> Result<Box<dyn System>, SystemError> {
                Ok(Box::new(Judged::new(plain.make()?, conditions.clone())))
            });
        }
        let (observed, features) = (self.observed_values(), self.features.clone());
        if features.is_empty() {
            return factory;
        }
        Arc::new(move || -> Result<Box<dyn System>, SystemError> {
            Ok(Box::new(Featured::new(factory.make()?, observed, features.clone())))
        })
    }
}
