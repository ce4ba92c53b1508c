//! Of which system what is remembered is.

use broccoli_core::problem::Action;
use broccoli_store::Identity;

use crate::target::Target;

/// What tells the system of a target from others: two that differ in any of it do not share what is remembered.
/// Thresholds, conditions, features, objectives and initial states are not part of it, and the actions of a built-in
/// environment are not either.
pub fn identity(target: &Target) -> Identity {
    let (kind, source) = &target.source;
    let mut texts = vec![("system", target.name.clone()), (*kind, source.clone())];
    match &target.description {
        None => {
            texts.push(("noise", target.noise().to_string()));
            texts.push(("version of broccoli", env!("CARGO_PKG_VERSION").to_owned()));
        }
        Some(description) => {
            let action = |action: &Action| format!("{} = {}", action.name, action.value);
            let actions: Vec<String> = description.actions.iter().map(action).collect();
            texts.push(("observations", description.observations.join(", ")));
            texts.push(("actions", actions.join(", ")));
            texts.push(("how it comes back", format!("{:?}", description.comes_back)));
            texts.push(("verdicts", description.verdicts.to_string()));
            texts.push(("rewards", description.rewards.to_string()));
            let values = description.initial.map_or("not said".to_owned(), |count| count.to_string());
            texts.push(("values of an initial state", values));
        }
    }
    texts.into_iter().map(|(name, text)| (name.to_owned(), text)).collect()
}
