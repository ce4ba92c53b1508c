//! Every test in one program, but for those that measure their own memory: to compile the random problems and to
//! link 17 times over takes minutes.

mod batches;
mod certificates;
mod changed_systems;
mod choices;
mod extreme_observations;
mod failing_systems;
mod forecast;
mod known_answers;
mod limits;
mod queries;
mod regressions;
mod resume;
mod split;
mod threads;
mod wall;
mod wrong_certificates;
